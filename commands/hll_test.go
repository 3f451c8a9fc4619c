package commands

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHLLPattern wants what PFDEBUG DECODE of redis-server shows after PFADD of the
// element to a new key.
func TestHLLPattern(t *testing.T) {
	f := func(element string, at int, rank byte) {
		t.Helper()
		gotAt, gotRank := hllPattern([]byte(element))
		require.Equal(t, at, gotAt, element)
		require.Equal(t, rank, gotRank, element)
	}
	f("", 5938, 2)
	f("a", 12711, 2)
	f("abcdefg", 5634, 2)
	f("abcdefgh", 1383, 1)
	f("abcdefghi", 6903, 1)
}

func TestHLLMaxBytes(t *testing.T) {
	for a := range 64 {
		for b := range 64 {
			x, y := uint64(a)<<56|uint64(b)<<8|uint64(a), uint64(b)<<56|uint64(a)<<8|uint64(b)
			m := uint64(max(a, b))
			require.Equal(t, m<<56|m<<8|m, maxBytes(x, y))
		}
	}
}

// TestHLLCounters packs random registers and reads them back in every way.
func TestHLLCounters(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	var c, back, low hllCounters
	for i := range c {
		c[i], low[i] = byte(r.IntN(64)), byte(r.IntN(64))
	}
	b := c.pack()
	back.raiseDense(b)
	require.Equal(t, c, back)
	for i := range c {
		require.Equal(t, c[i], denseGet(b, i))
	}
	low.raiseDense(b)
	for i := range c {
		denseRaise(b, i, low[i])
		require.Equal(t, low[i], denseGet(b, i))
	}
	require.NoError(t, selftestAccess(r.Uint64))
	require.NoError(t, selftestError(r.Uint64(), 3000))
}

// naiveRaise is what raise must do to the registers.
func naiveRaise(c *hllCounters, at int, v byte) bool {
	old := c[at]
	c[at] = max(old, v)
	return v > old
}

// TestSketchModel adds to a sketch and to plain registers; sparse, then dense.
func TestSketchModel(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	for range 20 {
		s := sketch{b: newSparse(), own: true, max: int64(r.IntN(4000))}
		var want hllCounters
		top := 1 + r.IntN(40)
		for i := range 3000 {
			at, v := r.IntN(hllRegisters>>r.IntN(10)), byte(1+r.IntN(top))
			require.Equal(t, naiveRaise(&want, at, v), s.raise(at, v) == wasRaised)
			if i%500 == 0 {
				require.Equal(t, want, registersOf(t, s.b))
			}
		}
		require.Equal(t, want, registersOf(t, s.b))
	}
}

func registersOf(t *testing.T, b []byte) (c hllCounters) {
	if b[hllFormAt] == hllDense {
		c.raiseDense(b)
		return c
	}
	require.True(t, c.raiseSparse(b))
	d, ok := sparseToDense(b)
	require.True(t, ok)
	var again hllCounters
	again.raiseDense(d)
	require.Equal(t, c, again)
	n, ok := sparseHistogram(b)
	require.True(t, ok)
	require.Equal(t, c.histogram(), n)
	return c
}

// TestSketchAscending raises registers in order from the mark, and each with a
// search from the start: the same bytes must come out.
func TestSketchAscending(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	for range 200 {
		limit, top := int64(r.IntN(4000)), 1+r.IntN(4)
		a := sketch{b: newSparse(), own: true, max: limit}
		spread := 1 + r.IntN(40)
		for range r.IntN(300) {
			a.raise(r.IntN(hllRegisters/spread), byte(1+r.IntN(top)))
		}
		b := a
		b.b, b.mark = slices.Clone(a.b), spot{hllHeader, 0}
		for at := 0; at < hllRegisters; at += 1 + r.IntN(spread) {
			v := byte(1 + r.IntN(top))
			require.Equal(t, a.raise(at, v), b.raiseNext(at, v))
			require.Equal(t, a.b, b.b, at)
		}
	}
}

// TestHLLDuel sends random lines to redis-server and to the rows, and compares
// the strings, byte by byte.
func TestHLLDuel(t *testing.T) {
	redis := startRedis(t, findRedis(t))
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	h := newHarness(4, 1)
	for range 3000 {
		key := func() string { return "{t}" + strconv.Itoa(r.IntN(5)) }
		line := []string{"PFADD", key()}
		switch r.IntN(12) {
		case 0:
			line = []string{"PFCOUNT", key()}
		case 1:
			line = []string{"PFCOUNT", key(), key(), key()}
		case 2:
			line = []string{"PFMERGE", key(), key(), key()}
		case 3:
			line = []string{"PFDEBUG", []string{"DECODE", "ENCODING"}[r.IntN(2)], key()}
		case 4:
			line = []string{[]string{"DEL", "DEL", "PFMERGE"}[r.IntN(3)], key()}
		default:
			for range r.IntN(4) * r.IntN(30) {
				line = append(line, strconv.Itoa(r.IntN(30_000)))
			}
		}
		for _, line := range [][]string{line, {"GET", line[1]}} {
			want, err := redis.Do("main", commandLine(line...))
			require.NoError(t, err)
			got, err := h.Do("main", commandLine(line...))
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got), "%.300q: %.100q, redis %.100q", line, got, want)
		}
	}
	require.NoError(t, h.verify())
}

// FuzzHLL spoils a sketch and runs every command on it: no panic, one reply.
func FuzzHLL(f *testing.F) {
	for n := range 4 {
		s := sketch{b: newSparse(), own: true, max: 3000}
		for i := range n * 20 {
			s.raise(i*i%hllRegisters, byte(1+i%5))
		}
		f.Add(s.b)
	}
	var zero hllCounters
	f.Add(zero.pack())
	f.Fuzz(func(t *testing.T, b []byte) {
		h := newHarness(1, 1)
		for _, line := range []string{
			"PFCOUNT a", "PFCOUNT a b", "PFDEBUG ENCODING a", "PFDEBUG DECODE a", "PFADD a", "PFADD a x y", "PFMERGE b a", "PFMERGE a b",
			"PFADD b x y z", "PFMERGE a b", "PFCOUNT a", "PFDEBUG TODENSE a", "PFDEBUG GETREG a",
		} {
			_, err := h.Do("main", [][]byte{[]byte("SET"), []byte("a"), b})
			require.NoError(t, err)
			_, err = wellFormed(h, commandLine(strings.Fields(line)...))
			require.NoError(t, err)
		}
		require.NoError(t, h.verify())
	})
}

// TestHLLCorrupt spoils a byte of a sketch at random.
func TestHLLCorrupt(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	for range 300 {
		s := sketch{b: newSparse(), own: true, max: 3000}
		for range r.IntN(200) {
			s.raise(r.IntN(hllRegisters), byte(1+r.IntN(32)))
		}
		b := s.b
		for range 1 + r.IntN(3) {
			b[r.IntN(len(b))] = byte(r.Uint64())
		}
		b = b[:len(b)-r.IntN(2)*r.IntN(len(b)-hllHeader)]
		h := newHarness(1, 1)
		for _, line := range []string{"PFADD a x y z", "PFCOUNT a", "PFMERGE b a", "PFDEBUG DECODE a", "PFDEBUG TODENSE a"} {
			_, err := h.Do("main", [][]byte{[]byte("SET"), []byte("a"), b})
			require.NoError(t, err)
			_, err = wellFormed(h, commandLine(strings.Fields(line)...))
			require.NoError(t, err, "%q of %q", line, b)
		}
	}
}

func BenchmarkPFAdd(b *testing.B) {
	h := bareHarness(1, 1)
	s := h.session("main")
	for _, preset := range []int{0, 100_000} {
		b.Run(fmt.Sprint(preset), func(b *testing.B) {
			for i := range preset {
				_, _ = h.Do("main", commandLine("PFADD", "k", strconv.Itoa(i)))
			}
			line, row := commandLine("PFADD", "k", "12345678"), h.table.Lookup([]byte("PFADD"))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				binary.LittleEndian.PutUint64(line[2], uint64(i%1000))
				s.call.MaxSparse = 3000
				s.call.Begin(row, line)
				_ = h.runOwner(&s.call)
				s.out.Reset()
			}
		})
	}
}

func BenchmarkHLLUnion(b *testing.B) {
	var c hllCounters
	for i := range c {
		c[i] = byte(i % 20)
	}
	packed := c.pack()
	for b.Loop() {
		c.raiseDense(packed)
		n := c.histogram()
		n.cardinality()
	}
}
