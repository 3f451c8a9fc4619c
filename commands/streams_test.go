package commands

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// K8: XTRIM MINID takes out what is before the id, however far it is from the
// node's first.
func TestTrimByDistantID(t *testing.T) {
	r := newKeyRig(t, 1)
	r.do("XADD s 10-1 k v")
	for i := range 4 {
		r.do(fmt.Sprintf("XADD s 1641544570597-%d k v", i))
	}
	require.Equal(t, ":1", r.do("XTRIM s MINID 1641544570597-0"))
	require.Equal(t, ":4", r.do("XLEN s"))
}

// K9: a claim forgets pending entries that were deleted.
func TestClaimForgetsDeleted(t *testing.T) {
	r := newKeyRig(t, 1)
	for i := range 3 {
		r.do(fmt.Sprintf("XADD x %d f v", i+1))
	}
	r.do("XGROUP CREATE x grp 0")
	r.do("XREADGROUP GROUP grp Ann COUNT 2 STREAMS x >")
	r.do("XDEL x 1 2")
	require.Equal(t, "*0", r.do("XCLAIM x grp Bob 0 0-99 1-0 1-99 2-0"))
	require.Equal(t, "*4 :0 $-1 $-1 *-1", r.do("XPENDING x grp"))
}

// K10: what was trimmed before a group read it is no lag.
func TestLagAfterTrim(t *testing.T) {
	r := newKeyRig(t, 1)
	for i := range 5 {
		r.do(fmt.Sprintf("XADD s %d-0 f v", i+1))
	}
	lag := func(want string) {
		t.Helper()
		require.Contains(t, r.do("XINFO GROUPS s"), "$3 lag "+want)
	}
	r.do("XGROUP CREATE s g 0")
	r.do("XREADGROUP GROUP g c COUNT 1 STREAMS s >")
	lag(":4")
	r.do("XTRIM s MAXLEN 1")
	lag(":1")
	r.do("XREADGROUP GROUP g c COUNT 1 STREAMS s >")
	lag(":0")
	r.do("XADD s 6 f v")
	lag(":1")
	r.do("XTRIM s MAXLEN 0")
	lag(":0")
}

// F4: a reader of a stream whose last entries were deleted gets null, not an empty
// list.
func TestReadOfDeletedEnd(t *testing.T) {
	r := newKeyRig(t, 1)
	r.do("XGROUP CREATE x g $ MKSTREAM")
	r.do("XADD x 666 f v")
	require.Contains(t, r.do("XREADGROUP GROUP g Ann STREAMS x >"), "666-0")
	r.do("XADD x 667 f2 v2")
	r.do("XDEL x 667")
	require.Equal(t, "*-1", r.do("XREADGROUP GROUP g Ann BLOCK 100 STREAMS x >"))
	require.Equal(t, "*-1", r.do("XREAD BLOCK 100 STREAMS x 666"))
}

// Long commands pause; whatever happens meanwhile to versions and records, they
// answer and write the same.
func TestLongStreamCommands(t *testing.T) {
	r := newKeyRig(t, 4)
	r.rough = true
	const n = 1000
	for i := range n {
		r.do(fmt.Sprintf("XADD s %d-1 name value%d", i+1, i))
	}
	entries := func(reply string) int { return strings.Count(reply, " $4 name ") }
	require.Equal(t, n, entries(r.do("XRANGE s - +")))
	require.Equal(t, n, entries(r.do("XREVRANGE s + -")))
	r.do("XGROUP CREATE s g 0")
	require.Equal(t, n, entries(r.do("XREADGROUP GROUP g Ann STREAMS s >")))
	require.Equal(t, n, entries(r.do("XREADGROUP GROUP g Ann STREAMS s 0")))
	require.Equal(t, 400, entries(r.do("XAUTOCLAIM s g Bob 0 0 COUNT 400")))
	require.True(t, strings.HasPrefix(r.do("XPENDING s g - + 5000"), fmt.Sprintf("*%d", n)))
	require.Equal(t, ":600", r.do("XGROUP DELCONSUMER s g Ann"))
	require.Equal(t, "*4 :400 $3 1-1 $5 400-1 *1 *2 $3 Bob $3 400", r.do("XPENDING s g"))
	require.Equal(t, ":300", r.do("XACK s g "+ids(1, 300)))
	require.Equal(t, ":500", r.do("XTRIM s MAXLEN 500"))
	require.Equal(t, ":301", r.do("XDEL s "+ids(1, 800)+ids(900, 901)[6:]))
	require.Equal(t, ":199", r.do("XLEN s"))
}

func ids(from, to int) (line string) {
	for i := from; i <= to; i++ {
		line += fmt.Sprintf("%d-1 ", i)
	}
	return line
}

// Deliveries are told one by one as long as they are few, and together after that.
func TestDeliveriesAreTold(t *testing.T) {
	for n, want := range map[int]int{1: 1, 64: 64, 65: 1, 256: 1, 257: 2, 600: 3} {
		r := newKeyRig(t, 1)
		for i := range n {
			r.do(fmt.Sprintf("XADD s %d-1 name v", i+1))
		}
		r.do("XGROUP CREATE s g 0")
		effects, _ := r.effect("XREADGROUP GROUP g Ann STREAMS s >")
		require.Equal(t, want, strings.Count(effects, "XCLAIM s g Ann 0 "), "%d entries", n)
		require.Equal(t, want, strings.Count(effects, " FORCE JUSTID LASTID "))
		replica := strings.TrimSpace(strings.ReplaceAll(string(replyOf(t, r.replica, "XPENDING s g")), "\r\n", " "))
		require.Equal(t, r.do("XPENDING s g"), replica)
	}
}

func replyOf(t *testing.T, h *harness, line string) []byte {
	raw, err := h.Do("main", words(line))
	require.NoError(t, err)
	return raw
}

// An id that is made up follows the clock, but never goes back.
func TestAutoIDs(t *testing.T) {
	r := newKeyRig(t, 1)
	require.NoError(t, r.Advance(time.Second))
	ms := r.now
	require.Equal(t, fmt.Sprintf("$15 %d-0", ms), r.do("XADD s * a b"))
	require.Equal(t, fmt.Sprintf("$15 %d-1", ms), r.do("XADD s * a b"))
	require.NoError(t, r.Advance(-time.Second))
	require.Equal(t, fmt.Sprintf("$15 %d-2", ms), r.do("XADD s * a b"))
	effects, events := r.effect("XADD s * a b")
	require.Equal(t, fmt.Sprintf("0:XADD s %d-3 a b", ms), effects)
	require.Equal(t, "0:xadd s", events)
}

// The effect of XADD is its own line, long or short, with the id and the length
// that came of it, whatever line came before.
func TestEffectsOfXAdd(t *testing.T) {
	r := newKeyRig(t, 1)
	for n, pairs := range []int{1, 3, 40, 2, lineKept} {
		fields := strings.Repeat(" f v", pairs)
		effects, _ := r.effect("XADD s *" + fields)
		require.Equal(t, fmt.Sprintf("0:XADD s %d-%d%s", r.now, 3*n, fields), effects)
		effects, _ = r.effect("XADD s maxlen ~ 1000 *" + fields)
		require.Equal(t, fmt.Sprintf("0:XADD s maxlen = %d %d-%d%s", 3*n+2, r.now, 3*n+1, fields), effects)
		effects, _ = r.effect(fmt.Sprintf("XADD s %d-%d%s", r.now, 3*n+2, fields))
		require.Equal(t, fmt.Sprintf("0:XADD s %d-%d%s", r.now, 3*n+2, fields), effects)
	}
}

// Costs: what reads or trims much is known to be long before it runs.
func TestStreamCosts(t *testing.T) {
	h := bareHarness(1, 1)
	do := func(line string) {
		_, err := h.Do("main", words(line))
		require.NoError(t, err)
	}
	for i := range 5000 {
		do(fmt.Sprintf("XADD s %d-1 name v", i+1))
	}
	do("XGROUP CREATE s g 0")
	cost := func(line string) int {
		s := h.session("main")
		row, err := h.table.Resolve(words(line))
		require.NoError(t, err)
		s.call.Begin(row, words(line))
		return h.cost(&s.call)
	}
	require.GreaterOrEqual(t, cost("XRANGE s - +"), 5000)
	require.GreaterOrEqual(t, cost("XREAD STREAMS s 0"), 5000)
	require.GreaterOrEqual(t, cost("XREADGROUP GROUP g c STREAMS s >"), 5000)
	require.GreaterOrEqual(t, cost("XINFO STREAM s FULL COUNT 0"), 5000)
	for _, line := range []string{
		"XRANGE s - + COUNT 10", "XRANGE s 7-1 7-1", "XREVRANGE s + - COUNT 1", "XREAD COUNT 10 STREAMS s 0", "XREAD STREAMS s $",
		"XREAD STREAMS s 4990", "XREADGROUP GROUP g c COUNT 5 STREAMS s >", "XADD s * a b", "XADD s MAXLEN ~ 4900 * a b",
		"XTRIM s MAXLEN 4000", "XPENDING s g", "XINFO STREAM s", "XAUTOCLAIM s g c 0 0",
	} {
		require.Less(t, cost(line), 200, line)
	}
}
