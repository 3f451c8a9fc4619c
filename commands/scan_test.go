package commands

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// fill sets n keys of 20 bytes, and returns them sorted.
func (r *keyRig) fill(n int) []string {
	var tx mvcc.Tx
	tx.Begin(r.space, 0, r.now)
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("key:%016d", i*7919%1_000_003)
		tx.SetString([]byte(all[i]), []byte("v"), 0)
		r.record(&Call{Args: [][]byte{[]byte("SET"), []byte(all[i]), []byte("v")}}, &tx)
		tx.Begin(r.space, 0, r.now)
	}
	slices.Sort(all)
	return all
}

// bulks are the strings of an array reply, sorted.
func bulks(t *testing.T, raw []byte) []string {
	head, body, ok := bytes.Cut(raw, []byte("\r\n"))
	require.True(t, ok)
	parts := strings.Split(string(body), "\r\n")
	var all []string
	for i := 1; i < len(parts); i += 2 {
		require.Equal(t, fmt.Sprintf("$%d", len(parts[i])), parts[i-1])
		all = append(all, parts[i])
	}
	require.Equal(t, fmt.Sprintf("*%d", len(all)), string(head))
	slices.Sort(all)
	return all
}

// TestLongKeys: a reply that is longer than what KEYS keeps is found a second
// time, and is complete; it flows out in pieces.
func TestLongKeys(t *testing.T) {
	for _, stores := range []int{1, 16} {
		r := newKeyRig(t, stores)
		want := r.fill(60_000)
		var raw []byte
		largest := 0
		s := r.session("main")
		s.out.Stream(func(parts [][]byte, own bool) (done []byte) {
			n := len(raw)
			for _, p := range parts {
				raw = append(raw, p...)
			}
			largest = max(largest, len(raw)-n)
			if own {
				done = parts[0]
			}
			return done
		})
		last, err := r.Do("main", [][]byte{[]byte("KEYS"), []byte("key:*")})
		require.NoError(t, err)
		require.Equal(t, want, bulks(t, append(raw, last...)))
		require.Less(t, largest, 2*listHead, "no piece is the whole reply")
		require.Greater(t, len(raw), 2*listHead)
	}
}

// TestLongKeysOfCollisions: keys at one position don't come twice or get lost
// where the first pass stops keeping.
func TestLongKeysOfCollisions(t *testing.T) {
	r := newKeyRig(t, 4)
	short := mvcc.Seed{1, 2}.Hasher()
	r.space = mvcc.NewSpace(4, harnessDBs, func(k []byte) uint64 { return short(k) >> 56 << 56 })
	want := r.fill(60_000)
	raw, err := r.Do("main", [][]byte{[]byte("KEYS"), []byte("*")})
	require.NoError(t, err)
	require.Equal(t, want, bulks(t, raw))
}

// TestLongScan is A11 on a keyspace that a COUNT can be too large for.
func TestLongScan(t *testing.T) {
	r := newKeyRig(t, 4)
	want := r.fill(60_000)
	for _, count := range []string{"1000000", "9223372036854775807", "59999", "60000"} {
		raw, err := r.Do("main", bytes.Fields([]byte("SCAN 0 COUNT "+count)))
		require.NoError(t, err)
		cursor := []byte("*2\r\n$1\r\n0\r\n")
		if count == "59999" {
			require.False(t, bytes.HasPrefix(raw, cursor))
			continue
		}
		rest, ok := bytes.CutPrefix(raw, cursor)
		require.True(t, ok, "%.50q", raw)
		require.Equal(t, want, bulks(t, rest))
	}
}

func TestScanCost(t *testing.T) {
	r := newKeyRig(t, 1)
	f := func(line string, want int) {
		t.Helper()
		args := bytes.Fields([]byte(line))
		row, err := r.table.Resolve(args)
		require.NoError(t, err)
		require.Equal(t, want, row.Cost(&Call{Args: args, Row: row}, nil))
	}
	f("SCAN 0", defaultCount)
	f("SCAN 0 MATCH x COUNT 500", 500)
	f("SCAN 0 COUNT 9223372036854775807", unknownCost)
	f("SCAN 0 COUNT x", 1)
	f("KEYS *", unknownCost)
	f("KEYS abc", 1)
	f("KEYS {a}*", unknownCost)
	f("DEL a b c", 3)
	f("EXISTS a b", 2)
}

// TestRandomKey: every key comes, about equally often, whatever its store.
func TestRandomKey(t *testing.T) {
	r := newKeyRig(t, 8)
	for i := range 20 {
		r.do(fmt.Sprintf("SET k%d v", i))
	}
	seen := map[string]int{}
	for range 20_000 {
		seen[r.do("RANDOMKEY")]++
	}
	require.Len(t, seen, 20)
	for k, n := range seen {
		require.InDelta(t, 1000, n, 250, k)
	}
}

// TestRandomKeyAmongExpired: however few have not expired, one of them is
// returned.
func TestRandomKeyAmongExpired(t *testing.T) {
	r := newKeyRig(t, 8)
	for i := range 2000 {
		r.do(fmt.Sprintf("SET k%d v PX 1", i))
	}
	require.NoError(t, r.Advance(time.Second))
	require.Equal(t, "$-1", r.do("RANDOMKEY"))
	require.Equal(t, ":2000", r.do("DBSIZE"))
	r.do("SET stays v")
	for range 20 {
		require.Equal(t, "$5 stays", r.do("RANDOMKEY"))
	}
}

// TestScanWritesNothing is A19: no event, no effect, no key less.
func TestScanWritesNothing(t *testing.T) {
	r := newKeyRig(t, 4)
	for i := range 100 {
		r.do(fmt.Sprintf("SET k%d v PX 1", i))
	}
	require.NoError(t, r.Advance(time.Second))
	for _, line := range []string{"SCAN 0 COUNT 1000", "SCAN 0 COUNT 1000 TYPE string MATCH k*", "KEYS *", "KEYS k1", "DBSIZE"} {
		effects, events := r.effect(line)
		require.Empty(t, effects)
		require.Empty(t, events)
	}
	require.Equal(t, ":100", r.do("DBSIZE"))
}

func BenchmarkScan(b *testing.B) {
	h := newHarness(8, 1)
	var tx mvcc.Tx
	tx.Begin(h.space, 0, 0)
	for i := range 1_000_000 {
		tx.SetString(fmt.Appendf(nil, "user%016d", uint64(i)*11400714819323198485%10_000_000_000_000_000), make([]byte, 100), 0)
	}
	s := h.session("main")
	for _, line := range []string{"SCAN %d MATCH *22* COUNT 10", "SCAN %d MATCH *22* COUNT 100", "SCAN %d MATCH *22* COUNT 1000", "KEYS *22*", "KEYS *"} {
		b.Run(line, func(b *testing.B) {
			cursor, cut := uint64(0), h.cut(0)
			defer cut.release()
			for range b.N {
				args := bytes.Fields([]byte(strings.ReplaceAll(line, "%d", fmt.Sprint(cursor))))
				row, _ := h.table.Resolve(args)
				s.call.Begin(row, args)
				_ = RunCut(&s.call, cut)
				if line[0] == 'S' {
					_, _ = fmt.Sscanf(string(s.out.Bytes()), "*2\r\n$%d\r\n%d", new(int), &cursor)
				}
				s.out.Reset()
			}
		})
	}
}
