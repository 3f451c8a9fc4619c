package integration

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Rows of the public reports about big values and long commands, by their ids.

// must runs a command and wants no error.
func (w *wire) must(t *testing.T, args ...string) string {
	t.Helper()
	reply, err := w.do(args...)
	require.NoError(t, err)
	require.False(t, strings.HasPrefix(reply, "-"), "%.100q: %.200s", args, reply)
	return reply
}

func openTwo(t *testing.T, addr string) (a, b *wire) {
	a, err := openWire(addr, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.Close() })
	b, err = openWire(addr, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return a, b
}

// fill makes a big value in lines of some thousand elements.
func fill(t *testing.T, w *wire, typ, key string, n int) {
	const each = 5000
	for from := 0; from < n; from += each {
		line := []string{map[string]string{"hash": "HSET", "list": "RPUSH", "set": "SADD", "zset": "ZADD"}[typ], key}
		for i := from; i < min(from+each, n); i++ {
			member := fmt.Sprint("element:", i)
			switch typ {
			case "hash":
				line = append(line, member, "value")
			case "zset":
				line = append(line, strconv.Itoa(i), member)
			default:
				line = append(line, member)
			}
		}
		w.must(t, line...)
	}
}

// D1: to take a big value away, in whichever way, takes no time that depends on
// its size. A machine that is busy can make anything slow, so the fastest of
// some tries counts.
func TestBigValuesGoAtOnce(t *testing.T) {
	const (
		size  = 60_000 // elements, whose freeing one by one takes several ms
		tries = 3
		most  = 2 * time.Millisecond
	)
	addr := startFirn(t, buildFirn(t))
	w, _ := openTwo(t, addr)
	for _, typ := range []string{"hash", "list", "set", "zset"} {
		for _, line := range []string{
			"DEL big", "UNLINK big", "SET big x", "PEXPIRE big 0", "RENAME other big", "COPY other big REPLACE", "SUNIONSTORE big none",
		} {
			best := time.Hour
			for range tries {
				w.must(t, "SET", "other", "x")
				w.must(t, "DEL", "big")
				fill(t, w, typ, "big", size)
				start := time.Now()
				w.must(t, strings.Fields(line)...)
				best = min(best, time.Since(start))
			}
			require.Less(t, best, most, "%s of a %s", line, typ)
			t.Logf("%v: %s of a %s", best, line, typ)
		}
	}
	requireAtRest(t, addr)
}

// busy lets a client send so much of a long command that it is under way until
// the client is told to read the replies.
func busy(t *testing.T, w, other *wire, line []string, times int) (finish func()) {
	lines := make([][]string, times)
	for i := range lines {
		lines[i] = line
	}
	require.NoError(t, w.send(lines))
	running := func() bool { return strings.Contains(other.must(t, "INFO", "mvcc"), `mvcc_heavy_running:1\r`) }
	require.Eventually(t, running, 10*time.Second, time.Millisecond)
	return func() {
		require.True(t, running(), "the long command was over too early: this test has shown nothing")
		for range times {
			_, err := w.reply()
			require.NoError(t, err)
		}
	}
}

const manyKeys = 200_000

var longKeys = []string{"KEYS", "*a*b*c*d*nomatch"}

// A32, D6: what is deleted during a KEYS is gone for everybody else at once, and
// stays so.
func TestDeletesDuringKeys(t *testing.T) {
	keys, w := openTwo(t, startFirn(t, buildFirn(t), "--enable-debug-command", "yes"))
	w.must(t, "DEBUG", "POPULATE", strconv.Itoa(manyKeys))
	finish := busy(t, keys, w, longKeys, 20)
	gone := names("key:", 200)
	require.Equal(t, ":200", w.must(t, with("DEL", gone...)...))
	require.Equal(t, ":1", w.must(t, "UNLINK", "key:1000"))
	require.Equal(t, ":0", w.must(t, "EXISTS", "key:1000"))
	check := func() {
		page := w.must(t, "SCAN", "0", "COUNT", "1000000")
		for _, key := range append(gone, "key:1000") {
			require.NotContains(t, page, strconv.Quote(key))
		}
		require.Equal(t, manyKeys-201, strings.Count(page, `"key:`))
	}
	finish()
	check()
	require.Equal(t, ":0", w.must(t, with("EXISTS", gone...)...))
}

// D3, D5: a flush during a KEYS takes everything away at once and for good, and
// holds up nobody.
func TestFlushDuringKeys(t *testing.T) {
	for _, mode := range []string{"ASYNC", "SYNC"} {
		keys, w := openTwo(t, startFirn(t, buildFirn(t), "--enable-debug-command", "yes"))
		w.must(t, "DEBUG", "POPULATE", strconv.Itoa(manyKeys))
		busy(t, keys, w, longKeys, 20) // after the flush they have nothing to read and end soon
		w.must(t, "FLUSHALL", mode)
		require.Equal(t, ":0", w.must(t, "DBSIZE"))
		require.Equal(t, "nil", w.must(t, "GET", "key:5"))
		w.must(t, "SET", "new", "x")
		require.Equal(t, `["new"]`, w.must(t, "KEYS", "*"))
		for range 20 {
			_, err := keys.reply()
			require.NoError(t, err)
		}
		require.Equal(t, ":1", w.must(t, "DBSIZE"))
	}
}

// D2: that DEL is lazy can be asked for, and is so anyway.
func TestLazyFree(t *testing.T) {
	w, _ := openTwo(t, startFirn(t, buildFirn(t)))
	for _, option := range []string{"lazyfree-lazy-user-del", "lazyfree-lazy-server-del", "lazyfree-lazy-expire", "lazyfree-lazy-eviction", "lazyfree-lazy-user-flush"} {
		for _, value := range []string{"yes", "no"} {
			w.must(t, "CONFIG", "SET", option, value)
			w.must(t, "SADD", "s", "a", "b")
			require.Equal(t, ":1", w.must(t, "DEL", "s"), option)
			require.Contains(t, w.must(t, "CONFIG", "GET", option), value)
		}
	}
}

// D7, E7: while algebra over big sets goes on, also over sets that change, other
// clients are served.
func TestAlgebraHoldsNobodyUp(t *testing.T) {
	const size = 150_000
	addr := startFirn(t, buildFirn(t))
	long, w := openTwo(t, addr)
	fill(t, w, "set", "one", size)
	fill(t, w, "set", "two", size-1)
	w.must(t, "SADD", "two", "other")
	for _, line := range []string{"SDIFF one two", "SINTERSTORE dest one two", "SUNIONSTORE dest one two", "ZUNIONSTORE dest 2 one two", "SORT one LIMIT 0 1 ALPHA"} {
		finish := busy(t, long, w, strings.Fields(line), 12)
		for range 20 {
			require.Equal(t, "+PONG", w.must(t, "PING"))
			w.must(t, "SADD", "one", "element:0")
			w.must(t, "SISMEMBER", "two", "element:5")
		}
		finish()
	}
	requireAtRest(t, addr)
}

// I7: INFO counts the keys that expire, whatever they were overwritten by.
func TestExpiresAreCounted(t *testing.T) {
	w, _ := openTwo(t, startFirn(t, buildFirn(t), "--enable-debug-command", "yes"))
	want := func(keys, expires int) {
		t.Helper()
		require.Contains(t, w.must(t, "INFO", "keyspace"), fmt.Sprintf("db0:keys=%d,expires=%d,", keys, expires))
	}
	all := []string{"HSET k a 1", "RPUSH k a", "SADD k a", "ZADD k 1 a", "XADD k 1-1 a b", "SET k x", "PFADD k a"}
	again := []string{
		"SET k y", "SET k y GET", "SUNIONSTORE k more", "ZUNIONSTORE k 1 more", "COPY more k REPLACE", "RENAME moved k", "SORT more STORE k", "GETSET k y", "BITOP OR k text",
	}
	for _, line := range all {
		for _, over := range again {
			w.must(t, "FLUSHALL")
			w.must(t, "SADD", "more", "1")
			w.must(t, "SADD", "moved", "1")
			w.must(t, "SET", "text", "x")
			w.must(t, strings.Fields(line)...)
			w.must(t, "EXPIRE", "k", "1000")
			want(4, 1)
			reply, err := w.do(strings.Fields(over)...)
			require.NoError(t, err)
			switch {
			case strings.HasPrefix(reply, "-WRONGTYPE"):
				want(4, 1)
			case strings.HasPrefix(over, "RENAME"):
				want(3, 0)
			default:
				require.NotContains(t, reply, "-", over)
				want(4, 0)
			}
			w.must(t, "EXPIRE", "k", "1000")
			w.must(t, "DEL", "k")
			require.Contains(t, w.must(t, "INFO", "keyspace"), ",expires=0,")
		}
	}
}
