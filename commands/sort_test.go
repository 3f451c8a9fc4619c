package commands

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSortKeyPlaces(t *testing.T) {
	f := func(line string, want ...int) {
		t.Helper()
		args := bytes.Fields([]byte(line))
		require.Equal(t, want, sortKeyPlaces(args), line)
		require.Equal(t, want[1:], sortDestPlace(args), line)
	}
	f("SORT k", 1)
	f("SORT k STORE d", 1, 3)
	f("SORT k STORE d STORE e", 1, 5)
	f("SORT k STORE get STORE e", 1, 5)
	f("SORT k BY store GET store", 1)
	f("SORT k LIMIT store store STORE d", 1) // an error
	f("SORT k LIMIT 1 2 STORE d DESC", 1, 6)
	f("SORT k STORE", 1)
	require.Nil(t, sortKeyPlaces([][]byte{[]byte("SORT")}))
	require.Nil(t, sortDestPlace([][]byte{[]byte("SORT")}))
}

func TestSortsByKeys(t *testing.T) {
	f := func(line string, want bool) {
		t.Helper()
		require.Equal(t, want, sortsByKeys(bytes.Fields([]byte(line))), line)
	}
	f("SORT k", false)
	f("SORT k BY nosort GET #", false)
	f("SORT k BY w_*", true)
	f("SORT k GET # GET *", true)
	f("SORT k get", false)
	f("SORT k BY x*->f", true)
}

func TestSortPattern(t *testing.T) {
	f := func(text string, want sortPattern) {
		t.Helper()
		require.Equal(t, want, parseSortPattern([]byte(text)), "%q", text)
	}
	b := func(s string) []byte { return []byte(s) }
	f("#", sortPattern{self: true, constant: true})
	f("#x", sortPattern{constant: true})
	f("", sortPattern{constant: true})
	f("a\x00*", sortPattern{constant: true})
	f("w_*", sortPattern{prefix: b("w_"), suffix: b("")})
	f("*x*", sortPattern{prefix: b(""), suffix: b("x*")})
	f("a*b->f->g", sortPattern{prefix: b("a"), suffix: b("b"), field: b("f->g")})
	f("a->b*", sortPattern{prefix: b("a->b"), suffix: b("")})
	f("a*->", sortPattern{prefix: b("a"), suffix: b("->")})
}

// TestSortKeys wants the keys that elements are compared by first to order as
// the elements do.
func TestSortKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	numbers := []float64{math.Inf(-1), -1e300, -1.5, -1, -1e-300, 0, 1e-300, 1, 1.5, 1e300, math.Inf(1)}
	for range 1000 {
		i, k := r.IntN(len(numbers)), r.IntN(len(numbers))
		require.Equal(t, i < k, floatKey(numbers[i]) < floatKey(numbers[k]))
		a, b := randomBytes(r, r.IntN(12)), randomBytes(r, r.IntN(12))
		if prefixKey(a) != prefixKey(b) {
			require.Equal(t, bytes.Compare(a, b) < 0, prefixKey(a) < prefixKey(b), "%q %q", a, b)
		}
	}
	require.Equal(t, floatKey(0), floatKey(math.Copysign(0, -1)))
}

// TestSortDuel sends random lines to redis-server and to the rows.
func TestSortDuel(t *testing.T) {
	redis := startRedis(t, findRedis(t))
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	h := newHarness(4, 1)
	h.rough = true
	for i := range 60 {
		duelLine(t, redis, h, []string{"SET", "w_" + strconv.Itoa(r.IntN(100)), strconv.Itoa(r.IntN(8))})
		duelLine(t, redis, h, []string{"HSET", "h_" + strconv.Itoa(i), "f", strconv.Itoa(r.IntN(30)), "g", fmt.Sprint(i)})
	}
	for round := range 40 {
		n := 1 + r.IntN(200)
		list, zset := []string{"RPUSH", fmt.Sprint("l", round)}, []string{"ZADD", fmt.Sprint("z", round)}
		for range n {
			list = append(list, strconv.Itoa(r.IntN(100)))
			zset = append(zset, strconv.Itoa(r.IntN(5)), strconv.Itoa(r.IntN(1000)))
		}
		duelLine(t, redis, h, list)
		duelLine(t, redis, h, zset)
		for range 40 {
			duelLine(t, redis, h, sortLine(r, list[1]))
			duelLine(t, redis, h, append([]string{"SORT", zset[1]}, sortPlain(r)...))
			duelLine(t, redis, h, []string{"LRANGE", "d", "0", "-1"})
		}
	}
	require.NoError(t, h.verify())
}

func sortLine(r *rand.Rand, key string) []string {
	line := append([]string{"SORT", key}, sortPlain(r)...)
	line = append(line, [][]string{{}, {"BY", "w_*"}, {"BY", "h_*->f"}, {"BY", "nosort"}}[r.IntN(4)]...)
	for range r.IntN(3) {
		line = append(line, "GET", []string{"#", "w_*", "h_*->g", "none"}[r.IntN(4)])
	}
	return line
}

func sortPlain(r *rand.Rand) (line []string) {
	line = append(line, [][]string{{}, {"ALPHA"}}[r.IntN(2)]...)
	line = append(line, [][]string{{}, {"DESC"}, {"ASC"}}[r.IntN(3)]...)
	if r.IntN(2) == 0 {
		line = append(line, "LIMIT", strconv.Itoa(r.IntN(220)-5), strconv.Itoa(r.IntN(220)-5))
	}
	if r.IntN(5) == 0 {
		line = append(line, "STORE", "d")
	}
	return line
}

func BenchmarkSort(b *testing.B) {
	h := bareHarness(1, 1)
	r := rand.New(rand.NewPCG(1, 1))
	const n = 500_000
	for range n / 1000 {
		line := commandLine("RPUSH", "l")
		for range 1000 {
			line = append(line, fmt.Appendf(nil, "%d", r.IntN(1e9)))
		}
		_, err := h.Do("main", line)
		require.NoError(b, err)
	}
	s := h.session("main")
	for _, words := range [][]string{{"ALPHA"}, {}, {"ALPHA", "LIMIT", "0", "10"}, {"LIMIT", "0", "10"}} {
		b.Run(fmt.Sprint(words), func(b *testing.B) {
			line := commandLine(slices.Concat([]string{"SORT_RO", "l"}, words)...)
			row := h.table.Lookup(line[0])
			b.ReportAllocs()
			for b.Loop() {
				s.call.Begin(row, line)
				s.view.LiveView(h.space, 0, h.now)
				require.NoError(b, RunView(&s.call, &s.view))
				s.out.Reset()
			}
		})
	}
}
