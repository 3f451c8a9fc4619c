package commands

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"firn/commands/transcript"
	"firn/mvcc"
	"firn/persistence/rdb"

	"github.com/stretchr/testify/require"
)

// A dumpDuel passes values from one side to the other.
type dumpDuel struct {
	*testing.T
	*rand.Rand
	redis *transcript.Remote
	firn  *harness
}

func (d *dumpDuel) do(p transcript.Player, line ...string) string {
	args := make([][]byte, len(line))
	for i, a := range line {
		args[i] = []byte(a)
	}
	d.firn.now = time.Now().UnixMilli()
	raw, err := p.Do("main", args)
	require.NoError(d, err)
	require.False(d, bytes.HasPrefix(raw, []byte("-")), "%.100q: %.100q", line, raw)
	return string(raw)
}

// bulk returns the string that a command answers.
func (d *dumpDuel) bulk(p transcript.Player, line ...string) string {
	_, s, ok := strings.Cut(d.do(p, line...), "\r\n")
	require.True(d, ok)
	return strings.TrimSuffix(s, "\r\n")
}

func (d *dumpDuel) digest(key string) string {
	var v mvcc.View
	v.LiveView(d.firn.space, 0, d.firn.now)
	e, ok := v.Peek([]byte(key))
	require.True(d, ok)
	var sum Digest
	sum.MixEntry(&e, d.firn.now, func() {})
	return "*1\r\n+" + hex.EncodeToString(sum[:]) + "\r\n"
}

// pass makes a value on both sides by the same lines, and gives each side the
// other's payload.
func (d *dumpDuel) pass(what string, lines [][]string) {
	d.do(d.redis, "FLUSHALL")
	d.do(d.firn, "FLUSHALL")
	for _, line := range lines {
		d.do(d.redis, line...)
		d.do(d.firn, line...)
	}
	sum := d.do(d.redis, "DEBUG", "DIGEST-VALUE", "k")
	require.Equal(d, sum, d.digest("k"), "the digest of %s", what)
	encoding := d.do(d.redis, "OBJECT", "ENCODING", "k")
	d.do(d.redis, "RESTORE", "copy", "0", d.bulk(d.firn, "DUMP", "k"))
	require.Equal(d, sum, d.do(d.redis, "DEBUG", "DIGEST-VALUE", "copy"), "%s to redis-server", what)
	require.Equal(d, encoding, d.do(d.redis, "OBJECT", "ENCODING", "copy"), "%s to redis-server", what)
	d.do(d.firn, "RESTORE", "copy", "0", d.bulk(d.redis, "DUMP", "k"))
	require.Equal(d, sum, d.digest("copy"), "%s from redis-server", what)
	require.Equal(d, encoding, d.do(d.firn, "OBJECT", "ENCODING", "copy"), "%s from redis-server", what)
}

// element returns the i-th of many different elements: integers of every size,
// texts with and without repetitions, and now and then nothing or zeros.
func (d *dumpDuel) element(i, length int) string {
	switch d.IntN(6) {
	case 0:
		return strconv.Itoa(i)
	case 1:
		return strconv.FormatInt(-int64(i)<<d.IntN(45), 10)
	case 2:
		return strings.Repeat("ab", length/2) + strconv.Itoa(i)
	case 3:
		return strings.Repeat("\x00", i%3)
	}
	b := make([]byte, length)
	for j := range b {
		b[j] = byte(d.Uint32())
	}
	return string(b) + strconv.Itoa(i)
}

func (d *dumpDuel) score() string {
	odd := []string{"0", "1", "-1", "3.5", "inf", "-inf", "1e300", "5e-324", "0.1", "4611686018427387904", "4611686018427387905", "1e18", "-4096.5", "127", "128", "4096", "8388608", "17179869184"}
	if d.IntN(2) == 0 {
		return strconv.FormatFloat(d.NormFloat64(), 'g', -1, 64)
	}
	return odd[d.IntN(len(odd))]
}

func (d *dumpDuel) each(n int, line func(i int) []string) (lines [][]string) {
	for i := range n {
		lines = append(lines, line(i))
	}
	return lines
}

// TestDumpDuel: a payload of either side is, to the other, the same value under
// the same encoding: every type, small and large, with odd elements.
func TestDumpDuel(t *testing.T) {
	d := &dumpDuel{T: t, redis: startRedis(t, findRedis(t)), firn: newHarness(4, 1), Rand: rand.New(rand.NewPCG(testSeed(t), 1))}
	d.firn.replica = nil
	for _, n := range []int{1, 2, 3, 127, 128, 129, 512, 513, 1100} {
		for _, length := range []int{0, 1, 20, 64, 65, 300, 9000, 70_000} {
			if n*length > 150_000 {
				continue
			}
			kind := func(name string) string { return fmt.Sprintf("a %s of %d elements of %d bytes", name, n, length) }
			d.pass(kind("string"), [][]string{{"SET", "k", d.element(n, length)}})
			d.pass(kind("list"), d.each(n, func(i int) []string { return []string{"RPUSH", "k", d.element(i, length)} }))
			d.pass(kind("set"), d.each(n, func(i int) []string { return []string{"SADD", "k", d.element(i, length)} }))
			d.pass(kind("hash"), d.each(n, func(i int) []string {
				return []string{"HSET", "k", d.element(i, length), d.element(i, length)}
			}))
			d.pass(kind("sorted set"), d.each(n, func(i int) []string { return []string{"ZADD", "k", d.score(), d.element(i, length)} }))
		}
		d.pass(fmt.Sprintf("a set of %d integers", n), d.each(n, func(i int) []string {
			return []string{"SADD", "k", strconv.FormatInt(int64(i-n/2)<<(n%50), 10)}
		}))
	}
	d.pass("a long string", [][]string{{"SETRANGE", "k", "3000000", "x"}})
	d.pass("an edited string", [][]string{{"APPEND", "k", "12"}})
	require.NoError(t, d.firn.space.Check())
}

// Streams have groups, consumers and pending entries, which the digest leaves
// out: they are compared by XINFO and XPENDING.
func TestDumpDuelOfStreams(t *testing.T) {
	d := &dumpDuel{T: t, redis: startRedis(t, findRedis(t)), firn: newHarness(4, 1), Rand: rand.New(rand.NewPCG(testSeed(t), 1))}
	d.firn.replica = nil
	for _, n := range []int{1, 3, 100, 101, 1000} {
		lines := [][]string{{"XGROUP", "CREATE", "k", "g", "0", "MKSTREAM"}, {"XGROUP", "CREATE", "k", "12", "5-5", "ENTRIESREAD", "2"}, {"XGROUP", "CREATECONSUMER", "k", "12", "idle"}}
		for i := range n {
			line := []string{"XADD", "k", fmt.Sprintf("%d-%d", i/3+1, i%3<<30+d.IntN(1<<d.IntN(30)))}
			for f := range d.IntN(3) + 1 {
				line = append(line, strconv.Itoa(f*d.IntN(2)), d.element(i, d.IntN(200)))
			}
			lines = append(lines, line)
			switch d.IntN(8) {
			case 0:
				lines = append(lines, []string{"XREADGROUP", "GROUP", "g", d.element(i%3, 5), "COUNT", "5", "STREAMS", "k", ">"})
			case 1:
				lines = append(lines, []string{"XDEL", "k", line[2]})
			}
		}
		d.pass(fmt.Sprintf("a stream of %d entries", n), lines)
		for _, key := range []string{"k", "copy"} {
			want, got := d.stream(d.redis, key), d.stream(d.firn, key)
			require.Equal(t, want, got, "%s of %d entries", key, n)
		}
		require.Equal(t, d.stream(d.redis, "k"), d.stream(d.redis, "copy"))
	}
	require.NoError(t, d.firn.space.Check())
}

// stream is what is known of a stream, without times.
func (d *dumpDuel) stream(p transcript.Player, key string) string {
	all := []string{d.do(p, "XLEN", key), d.do(p, "XRANGE", key, "-", "+"), d.do(p, "XPENDING", key, "g"), d.do(p, "XPENDING", key, "12"), d.do(p, "XINFO", "GROUPS", key)}
	info := d.do(p, "XINFO", "STREAM", key)
	before, rest, _ := strings.Cut(info, "radix-tree-keys") // how entries share nodes is each side's own
	_, after, _ := strings.Cut(rest, "last-generated-id")
	return strings.Join(append(all, before, after), "\n")
}

// A payload with members that expire is refused by redis-server, which does not
// know of such things, and not misread.
func TestDumpDuelOfMembers(t *testing.T) {
	redis, h := startRedis(t, findRedis(t)), newHarness(1, 1)
	send(t, h, "HSET", "hash", "a", "1", "b", "2")
	send(t, h, "SADD", "set", "a", "b")
	send(t, h, "ZADD", "zset", "1", "a", "2", "b")
	for _, key := range []string{"hash", "set", "zset"} {
		send(t, h, "EXPIREMEMBER", key, "a", "1000")
		p := []byte(payloadOf(t, h, key))
		raw, err := redis.Do("main", [][]byte{[]byte("RESTORE"), []byte("k"), []byte("0"), p})
		require.NoError(t, err)
		require.Equal(t, "-ERR DUMP payload version or checksum are wrong\r\n", string(raw))
		p = p[:len(p)-10]
		p = rdb.AppendFooter(p, 0, rdb.CRC64(0, p)) // as if of a version that it knows
		raw, err = redis.Do("main", [][]byte{[]byte("RESTORE"), []byte("k"), []byte("0"), p})
		require.NoError(t, err)
		require.Equal(t, "-ERR Bad data format\r\n", string(raw))
	}
}
