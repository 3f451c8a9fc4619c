package commands

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

// A streamTalk makes random lines of the stream commands, on few keys, groups,
// consumers and ids.
type streamTalk struct{ *rand.Rand }

func (r streamTalk) pick(of ...string) string { return of[r.IntN(len(of))] }
func (r streamTalk) key() string              { return r.pick("a", "b", "c") }
func (r streamTalk) group() string            { return r.pick("g", "g", "h") }
func (r streamTalk) consumer() string         { return r.pick("Ann", "Bob", "Cid") }
func (r streamTalk) number() string {
	return r.pick("0", "1", "2", "3", "7", "30", "-1", "x", "9223372036854775807")
}

func (r streamTalk) id() string {
	switch r.IntN(12) {
	case 0:
		return r.pick("-", "+", "$", ">", "x", "", "0", "0-0", "1-*", "*", "18446744073709551615-18446744073709551615")
	case 1:
		return fmt.Sprint(r.IntN(60))
	}
	return fmt.Sprintf("%d-%d", r.IntN(60), r.IntN(4))
}

func (r streamTalk) end() string {
	if r.IntN(3) == 0 {
		return "(" + r.id()
	}
	return r.pick(r.id(), "-", "+")
}

func (r streamTalk) trim() []string {
	words := []string{r.pick("MAXLEN", "MAXLEN", "MINID"), r.pick("~", "=", ""), r.pick(r.number(), r.id())}
	if words[1] == "" {
		words = append(words[:1], words[2])
	}
	if r.IntN(4) == 0 {
		words = append(words, "LIMIT", r.number())
	}
	return words
}

func (r streamTalk) words(line ...string) []string { return line }

func (r streamTalk) add() []string {
	line := []string{"XADD", r.key()}
	for r.IntN(4) == 0 {
		line = append(line, r.trim()...)
	}
	if r.IntN(8) == 0 {
		line = append(line, "NOMKSTREAM")
	}
	line = append(line, r.id())
	for range 1 + r.IntN(3) {
		line = append(line, r.pick("name", "age", "7"), r.pick("x", "", "123", "-99999", "a longer value than that"))
	}
	return line
}

func (r streamTalk) line() []string {
	k, g, c := r.key(), r.group(), r.consumer()
	makers := []func() []string{
		r.add, r.add, r.add, r.add,
		func() []string { return append(r.words("XTRIM", k), r.trim()...) },
		func() []string { return r.words("XDEL", k, r.id(), r.id()) },
		func() []string { return r.words(r.pick("XRANGE", "XREVRANGE"), k, r.end(), r.end()) },
		func() []string {
			return r.words(r.pick("XRANGE", "XREVRANGE"), k, r.end(), r.end(), "COUNT", r.number())
		},
		func() []string { return r.words("XREAD", "COUNT", r.number(), "STREAMS", k, r.key(), r.id(), r.id()) },
		func() []string { return r.words("XGROUP", "CREATE", k, g, r.id(), r.pick("MKSTREAM", "ENTRIESREAD")) },
		func() []string { return r.words("XGROUP", r.pick("CREATE", "SETID"), k, g, r.id()) },
		func() []string { return r.words("XGROUP", r.pick("CREATECONSUMER", "DELCONSUMER"), k, g, c) },
		func() []string { return r.words("XGROUP", r.pick("DESTROY", "HELP"), k, g)[:2+2*r.IntN(2)] },
		func() []string {
			return r.words("XREADGROUP", "GROUP", g, c, "COUNT", r.number(), "STREAMS", k, r.pick(">", ">", r.id()))
		},
		func() []string { return r.words("XREADGROUP", "GROUP", g, c, "NOACK", "STREAMS", k, ">") },
		func() []string { return r.words("XACK", k, g, r.id(), r.id(), r.id()) },
		func() []string { return r.words("XPENDING", k, g) },
		func() []string { return r.words("XCLAIM", k, g, c, r.pick("0", "-1", "x", "9999999"), r.id(), r.id()) },
		func() []string {
			return r.words("XCLAIM", k, g, c, "0", r.id(), r.pick("FORCE", "JUSTID", "LASTID"), r.id())
		},
		func() []string { return r.words("XAUTOCLAIM", k, g, c, "0", r.end(), "COUNT", r.number()) },
		func() []string { return r.words("XAUTOCLAIM", k, g, c, "0", r.end(), "JUSTID") },
		func() []string { return r.words("XINFO", "STREAM", k) },
		func() []string { return r.words("XSETID", k, r.id(), "ENTRIESADDED", r.number()) },
		func() []string { return r.words(r.pick("XLEN", "DEL", "TYPE", "XLEN"), k) },
	}
	line := makers[r.IntN(len(makers))]()
	if r.IntN(30) == 0 {
		line = append(line, r.pick("COUNT", "FORCE", "1", "x"))
	}
	return line
}

// TestStreamsDuel sends random lines to redis-server and to the rows, whose
// effects make a second keyspace.
func TestStreamsDuel(t *testing.T) {
	redis := startRedis(t, findRedis(t))
	r := streamTalk{rand.New(rand.NewPCG(testSeed(t), 1))}
	h := newHarness(4, 1)
	h.rough = true
	for range 15_000 {
		if r.IntN(100) == 0 {
			name, value := r.pick("stream-node-max-entries", "stream-node-max-bytes"), r.pick("1", "3", "100", "200", "4096")
			streamDuelLine(t, redis, h, []string{"CONFIG", "SET", name, value})
		}
		streamDuelLine(t, redis, h, r.line())
	}
	require.NoError(t, h.verify())
}

func streamDuelLine(t *testing.T, redis transcript.Player, h *harness, line []string) {
	t.Helper()
	args := make([][]byte, len(line))
	for i, a := range line {
		args[i] = []byte(a)
	}
	if slices.Contains(line, "*") {
		return // the two clocks differ
	}
	h.now = time.Now().UnixMilli()
	want, err := redis.Do("main", args)
	require.NoError(t, err)
	got, err := h.Do("main", args)
	require.NoError(t, err)
	require.Equal(t, withoutNodes(want), withoutNodes(got), "%q", line)
}

var radixNodes = regexp.MustCompile(`(radix-tree-(?:keys|nodes)\r\n):\d+`)

// withoutNodes leaves out of XINFO STREAM how many nodes there are. Redis keeps
// nodes that a trim by id has left without an entry; the transcripts know what
// there is to know of the others.
func withoutNodes(raw []byte) string { return radixNodes.ReplaceAllString(string(raw), "$1") }
