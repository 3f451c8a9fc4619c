package commands

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"testing"

	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// TestBitLoops compares the loops over words with loops over bytes, at every
// length and alignment around a word.
func TestBitLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	noise := make([]byte, 400)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for from := range 9 {
		for n := range 140 {
			p, q := noise[from:from+n], noise[200:200+n]
			ones, and, or, xor, not := 0, bytes.Clone(p), bytes.Clone(p), bytes.Clone(p), bytes.Clone(p)
			for i := range p {
				ones += bits.OnesCount8(p[i])
				and[i], or[i], xor[i], not[i] = p[i]&q[i], p[i]|q[i], p[i]^q[i], ^p[i]
			}
			require.Equal(t, ones, onesIn(p))
			require.Equal(t, and, folded(foldAnd, p, q))
			require.Equal(t, or, folded(foldOr, p, q))
			require.Equal(t, xor, folded(foldXor, p, q))
			require.Equal(t, not, folded(func(dst, _ []byte) { invertBytes(dst) }, p, q))
		}
	}
}

func folded(f func(dst, src []byte), p, q []byte) []byte {
	dst := bytes.Clone(p)
	f(dst, q)
	return dst
}

func TestFirstOne(t *testing.T) {
	for n := range 40 {
		require.Equal(t, -1, firstOne(make([]byte, n), 0))
		require.Equal(t, -1, firstOne(bytes.Repeat([]byte{0xff}, n), 0xff))
		for i := range n * 8 {
			p, q := make([]byte, n), bytes.Repeat([]byte{0xff}, n)
			p[i/8] |= 0x80 >> (i % 8)
			q[i/8] &^= 0x80 >> (i % 8)
			p[n-1] |= 1
			q[n-1] &^= 1
			require.Equal(t, i, firstOne(p, 0))
			require.Equal(t, i, firstOne(q, 0xff))
		}
	}
}

// TestBitsFarOut wants a bit far out to cost memory for one chunk, and a result
// that is mostly zeros to stay as small as its sources (K2).
func TestBitsFarOut(t *testing.T) {
	h := newHarness(1, testSeed(t))
	last := strconv.Itoa(512<<23 - 1)
	used := func() int64 { return h.space.Stores[0].Used() }
	for _, step := range []struct {
		line, want string
		limit      int64
	}{
		{"SETBIT far " + last + " 1", ":0\r\n", 600 << 10},
		{"GETBIT far " + last, ":1\r\n", 600 << 10},
		{"SETBIT far 5 1", ":0\r\n", 800 << 10},
		{"BITFIELD far SET u16 2000000000 65535 GET u8 2000000004", "*2\r\n:0\r\n:255\r\n", 900 << 10},
		{"STRLEN far", ":536870912\r\n", 900 << 10},
		{"BITOP AND near far far", ":536870912\r\n", 1800 << 10},
		{"BITCOUNT near -1 -1", ":1\r\n", 1800 << 10},
		{"GETBIT near 2000000000", ":1\r\n", 1800 << 10},
	} {
		raw, err := h.Do("main", bytes.Fields([]byte(step.line)))
		require.NoError(t, err)
		require.Equal(t, step.want, string(raw), step.line)
		require.Less(t, used(), step.limit, step.line)
	}
}

// TestBitopPauses runs BITOP over values long enough for many pauses, in each
// of which the harness freezes and cleans, with the destination among the
// sources.
func TestBitopPauses(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	h := newHarness(4, r.Uint64())
	h.rough = true
	values := map[string][]byte{"a": noise(r, 3<<20), "b": noise(r, 2<<20+77), "c": noise(r, 40)}
	for key, v := range values {
		_, err := h.Do("main", [][]byte{[]byte("SETRANGE"), []byte(key), []byte("0"), v})
		require.NoError(t, err)
	}
	want := make([]byte, 3<<20)
	for key, v := range values {
		for i := range v {
			want[i] ^= v[i]
		}
		require.NotEmpty(t, key)
	}
	raw, err := h.Do("main", commandLine("BITOP", "XOR", "b", "a", "b", "c"))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf(":%d\r\n", 3<<20), string(raw))
	raw, err = h.Do("main", commandLine("GET", "b"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(fmt.Appendf(nil, "$%d\r\n%s\r\n", len(want), want), raw))
	require.NoError(t, h.verify())
}

func noise(r *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// TestBitsCost wants the cost to follow the bytes that are looked at.
func TestBitsCost(t *testing.T) {
	h := newHarness(1, testSeed(t))
	for _, line := range []string{"SETBIT big 134217727 1", "SETBIT small 7 1"} { // 16 MB
		_, err := h.Do("main", bytes.Fields([]byte(line)))
		require.NoError(t, err)
	}
	whole := 16 << 20 / bitBytesPerUnit
	f := func(line string, want int) {
		c := h.session("main").call
		args := bytes.Fields([]byte(line))
		c.Begin(h.table.Lookup(args[0]), args)
		var v mvcc.View
		v.LiveView(h.space, 0, h.now)
		require.Equal(t, want, c.Row.Cost(&c, &v), line)
		require.Zero(t, v.Hits+v.Misses, "a cost must not count as a lookup")
	}
	f("BITCOUNT big", whole)
	f("BITCOUNT big 0 -1 BIT", whole)
	f("BITCOUNT big 0 8388607 BYTE", whole/2)
	f("BITCOUNT big 1000 5000", 0)
	f("BITCOUNT big x y", 0)
	f("BITCOUNT missing", 0)
	f("BITPOS big 1", whole)
	f("BITPOS big 1 -10", 0)
	f("BITPOS missing 1", 0)
	f("BITOP AND d big small big missing", 4+2*whole)
	f("BITFIELD big GET u8 0", 1)
	f("BITFIELD big"+string(bytes.Repeat([]byte(" GET u8 0"), 1000)), 750)
}

// TestBitEvents wants an event where something changed, and nowhere else.
func TestBitEvents(t *testing.T) {
	h := newHarness(2, testSeed(t))
	f := func(line, want string) {
		_, err := h.Do("main", bytes.Fields([]byte(line)))
		require.NoError(t, err)
		got := ""
		for _, e := range h.session("main").call.Events() {
			got += string(e.Class) + " " + e.Name
		}
		require.Equal(t, want, got, line)
	}
	f("SETBIT a 3 1", "$ setbit")
	f("SETBIT a 3 1", "")
	f("SETBIT a 30 0", "$ setbit")
	f("SETBIT a 30 0", "")
	f("SETBIT a 30 2", "")
	f("BITFIELD a SET u8 0 1", "$ setbit")
	f("BITFIELD a SET u8 0 1", "")
	f("BITFIELD a SET u8 0 2 SET u8 0 3", "$ setbit")
	f("BITFIELD a GET u8 0", "")
	f("BITFIELD a SET u8 100 0", "$ setbit")
	f("BITFIELD new OVERFLOW FAIL INCRBY u8 0 256", "")
	f("BITOP NOT b a", "$ set")
	f("BITOP OR b missing", "g del")
	f("BITOP OR b missing", "")
	require.NoError(t, h.verify()) // replays what was told: "new" too
}

// TestBitChanges wants Redis' count of changes.
func TestBitChanges(t *testing.T) {
	h := newHarness(2, testSeed(t))
	f := func(line string, want int64) {
		_, err := h.Do("main", bytes.Fields([]byte(line)))
		require.NoError(t, err)
		require.Equal(t, want, h.tx.Changes, line)
	}
	f("BITFIELD a SET u8 0 0 SET u8 8 0 GET u8 0", 2) // it has grown: both count
	f("BITFIELD a SET u8 0 0 SET u8 8 1 INCRBY u8 8 1", 2)
	f("BITFIELD a SET u8 0 0", 0)
	f("SETBIT a 0 1", 1)
	f("SETBIT a 0 1", 0)
	f("SET n 12", 1)
	f("SETBIT n 7 1", 0) // "1" has it; only the encoding changes
	f("BITFIELD new OVERFLOW FAIL INCRBY u8 0 256", 1)
	f("BITOP NOT b a", 1)
	f("BITOP NOT b b", 1)
	f("BITOP NOT b missing", 1)
	f("BITOP NOT b missing", 0)
}

// TestLowBitfieldOffset wants a product of #n beyond 64 bits to be an error,
// not an offset near the start: in C it is undefined.
func TestLowBitfieldOffset(t *testing.T) {
	h := newHarness(1, testSeed(t))
	for _, offset := range []string{"#2305843009213693952", "#9223372036854775807", "#1152921504606846976"} {
		raw, err := h.Do("main", commandLine("BITFIELD", "k", "SET", "u8", offset, "1"))
		require.NoError(t, err)
		require.Equal(t, "-"+ErrBitOffset.Error()+"\r\n", string(raw))
	}
}
