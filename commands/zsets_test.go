package commands

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"firn/commands/transcript"
	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// TestParseScore: the short way gives what ParseFloat gives.
func TestParseScore(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	for range 100_000 {
		b := make([]byte, r.IntN(19))
		for i := range b {
			b[i] = "0123456789.-+e "[min(r.IntN(40), r.IntN(40))%15]
		}
		want, ok := ParseFloat(b)
		got, ok2 := parseScore(b)
		require.Equal(t, ok, ok2, "%q", b)
		require.Equal(t, math.Float64bits(want), math.Float64bits(got), "%q: %v, want %v", b, got, want)
	}
}

func TestParseScoreTakesNoMemory(t *testing.T) {
	args := [][]byte{[]byte("1"), []byte("-17.25"), []byte("000000123456")}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for _, a := range args {
			_, _ = parseScore(a)
		}
	}))
}

// TestZSpanRanks compares the ranks of random spans with what a look at every
// element says.
func TestZSpanRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 2))
	s := mvcc.NewSpace(1, 1, mvcc.Seed{1, 2}.Hasher())
	for _, size := range []int{1, 2, 10, 60, 3000} {
		w := mvcc.NewZSet(s)
		for i := range size {
			w.Set(strconv.AppendInt(nil, int64(i), 10), float64(r.IntN(size)/2))
		}
		z := w.Value()
		var scores []float64
		z.Ascend(0, func(_ []byte, score float64) bool { scores = append(scores, score); return true })
		require.True(t, slices.IsSorted(scores))
		for range 500 {
			span := randomSpan(r, size)
			lo, hi := span.ranks(&z)
			got := scores[lo:hi]
			require.Equal(t, slowSpan(&span, scores), slices.Clone(got), "%+v of %d", span, size)
		}
	}
}

func randomSpan(r *rand.Rand, size int) zspan {
	n := func() int { return r.IntN(size+4) - 2 }
	span := zspan{kind: byScore, reverse: r.IntN(2) == 0, mostWant: -1}
	if r.IntN(2) == 0 {
		span.kind = byRank
		span.start, span.end = int64(n()*(1-2*r.IntN(2))), int64(n()*(1-2*r.IntN(2)))
		return span
	}
	span.min = scoreBound{float64(n()) / 2, r.IntN(2) == 0}
	span.max = scoreBound{float64(n()) / 2, r.IntN(2) == 0}
	if r.IntN(3) == 0 {
		span.offset, span.mostWant = int64(n()), int64(n())
	}
	return span
}

// slowSpan returns the scores in the span, in ascending order.
func slowSpan(s *zspan, all []float64) []float64 {
	order := slices.Clone(all)
	if s.reverse {
		slices.Reverse(order)
	}
	var in []float64
	for i, score := range order {
		i, n := int64(i), int64(len(order))
		inside := false
		if s.kind == byRank {
			start, end := s.start, s.end
			if start < 0 {
				start += n
			}
			if end < 0 {
				end += n
			}
			inside = i >= start && i <= end
		} else {
			inside = (score > s.min.score || score == s.min.score && !s.min.open) &&
				(score < s.max.score || score == s.max.score && !s.max.open)
		}
		if inside {
			in = append(in, score)
		}
	}
	if s.kind == byScore {
		in = slowLimit(s, in)
	}
	if s.reverse {
		slices.Reverse(in)
	}
	return append([]float64{}, in...)
}

func slowLimit(s *zspan, in []float64) []float64 {
	if s.offset < 0 || s.offset > int64(len(in)) {
		return nil
	}
	in = in[s.offset:]
	if s.mostWant >= 0 {
		in = in[:min(s.mostWant, int64(len(in)))]
	}
	return in
}

// A zsetModel is a sorted set as a map.
type zsetModel map[string]float64

func (m zsetModel) ordered() []string {
	all := make([]string, 0, len(m))
	for k := range m {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(m[a], m[b]), strings.Compare(a, b))
	})
	return all
}

// TestZSetRemovalsOfManySizes removes ranges of all sizes from sorted sets of
// many sizes, by the ways that depend on these, on a harness that freezes and
// moves what it can.
func TestZSetRemovalsOfManySizes(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 3))
	for _, size := range []int{1, 100, 1000, 12_000} {
		for range 4 {
			h := newHarness(4, r.Uint64())
			h.rough = true
			m := fillZSet(t, h, r, "z", size)
			lo := r.IntN(size)
			hi := lo + 1 + r.IntN(size-lo)
			order := m.ordered()
			switch r.IntN(3) {
			case 0:
				require.Equal(t, int64(hi-lo), zsetInt(t, h, fmt.Sprintf("ZREMRANGEBYRANK z %d %d", lo, hi-1)))
			case 1:
				lo = 0
				zsetDo(t, h, fmt.Sprintf("ZPOPMIN z %d", hi))
			default:
				hi = size
				zsetDo(t, h, fmt.Sprintf("ZPOPMAX z %d", hi-lo))
			}
			want := append(order[:lo:lo], order[hi:]...)
			got := zsetDo(t, h, "ZRANGE z 0 -1")
			require.Len(t, got.Elems, len(want))
			for i, e := range got.Elems {
				require.Equal(t, want[i], e.Text)
			}
			require.NoError(t, h.verify())
		}
	}
}

func fillZSet(t *testing.T, h *harness, r *rand.Rand, key string, size int) zsetModel {
	m := zsetModel{}
	args := words("ZADD " + key)
	for len(m) < size {
		member := fmt.Sprintf("member:%d", r.IntN(4*size))
		m[member] = float64(r.IntN(size))
		args = append(args, strconv.AppendFloat(nil, m[member], 'f', -1, 64), []byte(member))
	}
	_, err := h.Do("main", args)
	require.NoError(t, err)
	return m
}

func zsetDo(t *testing.T, h *harness, line string) transcript.Reply {
	raw, err := h.Do("main", words(line))
	require.NoError(t, err)
	v, err := transcript.ReadAll(raw)
	require.NoError(t, err)
	require.NotEqual(t, byte('-'), v.Kind, "%s: %s", line, v.Text)
	return v
}

func zsetInt(t *testing.T, h *harness, line string) int64 {
	n, err := strconv.ParseInt(zsetDo(t, h, line).Text, 10, 64)
	require.NoError(t, err)
	return n
}

// TestZAlgebraDuel compares random operations over larger inputs with those of
// redis-server, byte for byte.
func TestZAlgebraDuel(t *testing.T) {
	redis := startRedis(t, findRedis(t))
	r := rand.New(rand.NewPCG(testSeed(t), 4))
	h := newHarness(4, 1)
	h.rough = true
	both := func(args [][]byte) {
		want, err := redis.Do("main", args)
		require.NoError(t, err)
		got, err := h.Do("main", args)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%.200s\nredis: %.300q\nfirn:  %.300q", bytes.Join(args, []byte(" ")), want, got)
	}
	for range 3 {
		for i, key := range []string{"a", "b", "c", "d"} {
			both(words("DEL " + key))
			both(randomInput(r, key, []int{10, 300, 3000, 1000}[r.IntN(4)], i == 3))
		}
		for range 100 {
			both(randomAlgebra(r))
			both(words("ZRANGE out 0 -1 WITHSCORES"))
		}
	}
	require.NoError(t, h.verify())
}

func randomInput(r *rand.Rand, key string, size int, plain bool) [][]byte {
	args := words("ZADD " + key)
	if plain {
		args = words("SADD " + key)
	}
	for range size {
		if !plain {
			args = append(args, AppendDouble(nil, float64(r.IntN(100))/4))
		}
		args = append(args, []byte(fmt.Sprintf("m%d", r.IntN(4000))))
	}
	return args
}

func randomAlgebra(r *rand.Rand) [][]byte {
	op := []string{"ZUNION", "ZINTER", "ZDIFF"}[r.IntN(3)]
	name, tail := op, " WITHSCORES"
	if r.IntN(2) == 0 {
		name, tail = op+"STORE out", ""
	}
	n := 1 + r.IntN(4)
	line := fmt.Sprintf("%s %d", name, n)
	for range n {
		line += " " + string("abcd?"[min(r.IntN(6), 4)])
	}
	if op != "ZDIFF" && r.IntN(2) == 0 {
		line += " WEIGHTS"
		for range n {
			line += fmt.Sprintf(" %d", 1+r.IntN(5))
		}
	}
	if op != "ZDIFF" && r.IntN(2) == 0 {
		line += " AGGREGATE " + []string{"SUM", "MIN", "MAX"}[r.IntN(3)]
	}
	return words(line + tail)
}

// TestZSetsHideExpiredMembers: between the end of its time and its removal a
// member is in no reply, and what is counted is what follows.
func TestZSetsHideExpiredMembers(t *testing.T) {
	h := newHarness(1, testSeed(t))
	members := func(line string, want ...string) {
		t.Helper()
		got := []string{}
		for _, e := range zsetDo(t, h, line).Elems {
			got = append(got, e.Text)
		}
		require.Equal(t, want, got, line)
	}
	zsetDo(t, h, "ZADD z 1 a 2 b 3 c 4 d 5 e")
	zsetDo(t, h, "EXPIREMEMBER z a 10 ms")
	zsetDo(t, h, "EXPIREMEMBER z c 10 ms")
	require.NoError(t, h.Advance(20_000_000))
	members("ZRANGE z 0 -1", "b", "d", "e")
	members("ZRANGE z 0 -1 REV", "e", "d", "b")
	members("ZRANGEBYSCORE z 1 3", "b")
	members("ZREVRANGEBYSCORE z 4 1 LIMIT 0 3", "d", "b")
	members("ZUNION 1 z", "b", "d", "e")
	members("ZRANDMEMBER z 10", "b", "d", "e")
	members("ZMSCORE z a b", "", "2")
	members("ZPOPMIN z 2", "b", "2", "d", "4")
	members("ZRANGE z 0 -1", "e")
	require.NoError(t, h.verify())
}

// TestAppendDoubleOfIntegers: the short way prints what "%.17g" does.
func TestAppendDoubleOfIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 5))
	for range 100_000 {
		f := math.Trunc(math.Ldexp(r.Float64()-0.5, r.IntN(62)))
		require.Equal(t, strconv.FormatFloat(f, 'g', 17, 64), string(AppendDouble(nil, f)))
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 1e16, 1e17, -1e17, 99999999999999984, 100000000000000016, 1e18} {
		require.Equal(t, strconv.FormatFloat(f, 'g', 17, 64), string(AppendDouble(nil, f)))
	}
}

// TestStoresOfExpiringMembers: where the clock is another one the command
// line would store what has expired here.
func TestStoresOfExpiringMembers(t *testing.T) {
	for _, stores := range []int{1, 4} {
		h := newHarness(stores, testSeed(t))
		h.rough = stores > 1
		zsetDo(t, h, "ZADD z 1 a 2 b")
		zsetDo(t, h, "EXPIREMEMBER z a 10 ms")
		zsetDo(t, h, "SADD s a b")
		zsetDo(t, h, "EXPIREMEMBER s b 10 ms")
		require.NoError(t, h.Advance(20_000_000))
		require.Equal(t, int64(1), zsetInt(t, h, "ZUNIONSTORE d 1 z"))
		require.Equal(t, int64(1), zsetInt(t, h, "ZUNIONSTORE e 1 s"))
		require.Equal(t, int64(1), zsetInt(t, h, "ZRANGESTORE d z 0 -1"))
		require.Equal(t, int64(1), zsetInt(t, h, "SUNIONSTORE f s"))
		require.Equal(t, int64(0), zsetInt(t, h, "ZINTERSTORE d 2 z s"))
		require.NoError(t, h.verify())
	}
}

// A result has no -0, which its effects could not carry to a small sorted set.
func TestStoredScoresHaveNoNegativeZero(t *testing.T) {
	h := newHarness(4, 1)
	h.rough = true
	send(t, h, "ZADD", "z", "1", strings.Repeat("long", 20))
	send(t, h, "ZADD", "z", "-0", "a")
	require.Equal(t, "$2\r\n-0\r\n", send(t, h, "ZSCORE", "z", "a"))
	for _, line := range []string{
		"ZRANGESTORE to z 0 0", "ZUNIONSTORE to 1 z", "GEOSEARCHSTORE to z FROMLONLAT 0 0 BYRADIUS 30000 km", "GEORADIUS z 0 0 30000 km STORE to",
	} {
		require.Contains(t, ":1\r\n:2\r\n", send(t, h, strings.Fields(line)...), line)
		require.Equal(t, "$1\r\n0\r\n", send(t, h, "ZSCORE", "to", "a"), line)
	}
	require.NoError(t, h.verify())
}
