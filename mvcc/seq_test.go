package mvcc

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPacked wants every form to be the shortest that holds the element, and to
// give it back.
func TestPacked(t *testing.T) {
	f := func(elem string, size int) {
		t.Helper()
		e := packElem([]byte(elem))
		require.Equal(t, size, e.size, "size of %q", elem)
		b := make([]byte, size+1)
		e.put(b)
		require.Equal(t, size, elemSize(b))
		got, next := elemAt(b, 0, nil)
		require.Equal(t, elem, string(got))
		require.Equal(t, size, next)
	}
	f("0", 1)
	f("127", 1)
	f("-1", 2)
	f("128", 2)
	f("4095", 2)
	f("-4096", 2)
	f("4096", 3)
	f("-4097", 3)
	for bytes := 2; bytes <= 8; bytes++ {
		most := int64(1)<<(8*bytes-1) - 1
		f(strconv.FormatInt(most, 10), 1+bytes)
		f(strconv.FormatInt(-most-1, 10), 1+bytes)
	}
	f(strconv.Itoa(math.MinInt64), 9)
	f("", 1)
	f("-0", 3)
	f("007", 4)
	f("9223372036854775808", 20)
	f(string(make([]byte, 63)), 64)
	f(string(make([]byte, 64)), 66)
	f(string(make([]byte, seqInlineMax)), 2+seqInlineMax)
	blob := packElem(make([]byte, seqInlineMax+1))
	require.Equal(t, 2, blob.size)
}

// randomElem is of every form now and then.
func randomElem(r *rand.Rand, long bool) []byte {
	switch n := r.IntN(100); {
	case n < 40:
		return strconv.AppendInt(nil, int64(r.Uint64())>>r.IntN(64), 10)
	case n < 90 || !long:
		return randomBytes(r, r.IntN(12))
	case n < 97:
		return randomBytes(r, r.IntN(seqInlineMax+1))
	}
	return randomBytes(r, seqInlineMax+r.IntN(400))
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// A seqModel is a seq with what it should hold.
type seqModel struct {
	s *seq
	m [][]byte
}

func (x seqModel) check(t *testing.T, r *rand.Rand) {
	t.Helper()
	require.NoError(t, x.s.check())
	require.Equal(t, len(x.m), x.s.Len())
	var got [][]byte
	x.s.Ascend(0, func(b []byte) bool { got = append(got, bytes.Clone(b)); return true })
	requireSame(t, x.m, got)
	if len(x.m) == 0 {
		return
	}
	from, n := r.IntN(len(x.m)), r.IntN(300)
	got = got[:0]
	x.s.Ascend(from, func(b []byte) bool { got = append(got, bytes.Clone(b)); return len(got) < n })
	requireSame(t, x.m[from:min(from+max(n, 1), len(x.m))], got)
	got = got[:0]
	x.s.Descend(from, func(b []byte) bool { got = append(got, bytes.Clone(b)); return true })
	slices.Reverse(got)
	requireSame(t, x.m[:from+1], got)
	var num [20]byte
	for range 50 {
		i := r.IntN(len(x.m))
		require.True(t, bytes.Equal(x.m[i], x.s.At(i, num[:])), "element %d", i)
	}
}

func requireSame(t *testing.T, want, got [][]byte) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.True(t, bytes.Equal(want[i], got[i]), "element %d: %.50q, should be %.50q", i, got[i], want[i])
	}
}

// step does one random write; shape says how the list tends to change.
func (x *seqModel) step(t *testing.T, r *rand.Rand, shape string) {
	long := shape != "short"
	elem := randomElem(r, long)
	n := len(x.m)
	op := r.IntN(20)
	if shape == "ends" {
		op = r.IntN(12)
	}
	switch {
	case op < 3:
		x.s.PushRight(elem)
		x.m = append(x.m, elem)
	case op < 6 || n == 0:
		x.s.PushLeft(elem)
		x.m = slices.Insert(x.m, 0, elem)
	case op < 8:
		x.pop(t, r, true)
	case op < 10:
		x.pop(t, r, false)
	case op < 12:
		i := r.IntN(n)
		x.s.Set(i, elem)
		x.m[i] = elem
	case op < 19:
		i := r.IntN(n + 1)
		x.s.Insert(i, elem)
		x.m = slices.Insert(x.m, i, elem)
	default:
		i := r.IntN(n)
		k := r.IntN(min(n-i, 1+n/10) + 1)
		x.s.RemoveRange(i, k)
		x.m = slices.Delete(x.m, i, i+k)
	}
	for i := range elem { // it must have been copied
		defer func(b byte) { elem[i] = b }(elem[i])
		elem[i] ^= 0xff
	}
}

// pop takes an element off in one of the two ways.
func (x *seqModel) pop(t *testing.T, r *rand.Rand, left bool) {
	i := 0
	if !left {
		i = len(x.m) - 1
	}
	if r.IntN(2) == 0 {
		x.s.RemoveRange(i, 1)
	} else {
		var num [20]byte
		require.True(t, bytes.Equal(x.m[i], x.s.Pop(left, num[:])), "left: %v", left)
	}
	x.m = slices.Concat(x.m[:i], x.m[i+1:])
}

// TestSeq runs random writes against a slice. Copies are compared again after
// every round, and some of them are written to in their turn.
func TestSeq(t *testing.T) {
	for _, shape := range []string{"all", "short", "ends", "blobs"} {
		t.Run(shape, func(t *testing.T) {
			r, _ := newRand(t)
			x := seqModel{s: newSeq()}
			var old []seqModel
			for round := range 40 {
				for range r.IntN(400) {
					x.step(t, r, shape)
				}
				if shape == "blobs" {
					x.pushBlobs(r)
				}
				if round%13 == 12 {
					x.grow(r)
				}
				x.check(t, r)
				for _, o := range old {
					o.check(t, r)
				}
				c := seqModel{x.s.Copy(), slices.Clone(x.m)}
				if old = append(old, c); r.IntN(3) == 0 {
					x, old[len(old)-1] = c, x
				}
				if len(old) > 4 {
					old = old[1:]
				}
			}
		})
	}
}

// pushBlobs inserts many long elements at one place.
func (x *seqModel) pushBlobs(r *rand.Rand) {
	at := r.IntN(len(x.m) + 1)
	for range r.IntN(200) {
		elem := randomBytes(r, seqInlineMax+1+r.IntN(10))
		x.s.Insert(at, elem)
		x.m = slices.Insert(x.m, at, elem)
	}
}

// grow makes the tree higher, or cuts much of the list away.
func (x *seqModel) grow(r *rand.Rand) {
	if n := len(x.m); r.IntN(2) == 0 && n > 10 {
		i := r.IntN(n / 2)
		k := r.IntN(n - i)
		x.s.RemoveRange(i, k)
		x.m = slices.Delete(x.m, i, i+k)
		return
	}
	elem := randomBytes(r, 200)
	left := r.IntN(2) == 0
	for range 1500 {
		if left {
			x.s.PushLeft(elem)
			x.m = append(x.m, nil)
			copy(x.m[1:], x.m)
			x.m[0] = elem
			continue
		}
		x.s.PushRight(elem)
		x.m = append(x.m, elem)
	}
}

// TestSeqDrains empties lists of every size from both ends.
func TestSeqDrains(t *testing.T) {
	r, _ := newRand(t)
	for _, n := range []int{1, 2, 100, 2000, 30000} {
		x := seqModel{s: newSeq()}
		for i := range n {
			elem := strconv.AppendInt(nil, int64(i)*1_000_003, 10)
			if x.m = append(x.m, elem); i < n/2 {
				continue
			}
			x.s.PushRight(elem)
		}
		for i := n/2 - 1; i >= 0; i-- {
			x.s.PushLeft(x.m[i])
		}
		x.check(t, r)
		for len(x.m) > 0 {
			if left := r.IntN(2) == 0; left {
				require.Equal(t, string(x.m[0]), string(x.s.Pop(left, nil)))
				x.m = x.m[1:]
			} else {
				require.Equal(t, string(x.m[len(x.m)-1]), string(x.s.Pop(left, nil)))
				x.m = x.m[:len(x.m)-1]
			}
			if len(x.m)%997 == 0 {
				x.check(t, r)
			}
		}
		require.Zero(t, x.s.Len())
		require.LessOrEqual(t, x.s.bytes(), int64(seqCost))
	}
}

// TestSeqMemory compares with Redis' listpacks of 8 KB, where an element has a
// byte more, for its length when read backwards.
func TestSeqMemory(t *testing.T) {
	const n = 200_000
	f := func(name string, redis float64, elem func(i int) []byte) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := newSeq()
		for i := range n {
			s.PushRight(elem(i))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		counted := float64(s.bytes()) / n
		heap := float64(after.HeapAlloc-before.HeapAlloc) / n
		t.Logf("%s: %.2f bytes an element, %.2f of the heap; Redis %.2f", name, counted, heap, redis)
		require.Less(t, counted, redis, name)
		require.InEpsilon(t, counted, heap, 0.1, name)
		runtime.KeepAlive(s)
	}
	f("integers", 5.01, func(i int) []byte { return strconv.AppendInt(nil, int64(800_000+i), 10) })
	f("three bytes", 5.01, func(int) []byte { return []byte("xyz") })
	f("a thousand bytes", 1.06*1010, func(int) []byte { return make([]byte, 1000) })
}

// TestSeqKeepsPagesFull looks at what pushes leave behind.
func TestSeqKeepsPagesFull(t *testing.T) {
	for _, left := range []bool{true, false} {
		s := newSeq()
		for range 500_000 {
			if left {
				s.PushLeft([]byte("element"))
			} else {
				s.PushRight([]byte("element"))
			}
		}
		require.Less(t, float64(s.bytes()), 1.06*8*500_000, "left: %v", left)
	}
}

func BenchmarkSeq(b *testing.B) {
	elem := []byte("xxx")
	long := newSeq()
	for range 1_000_000 {
		long.PushRight(elem)
	}
	var num [20]byte
	for _, left := range []bool{true, false} {
		b.Run(fmt.Sprintf("push/left=%v", left), func(b *testing.B) {
			b.ReportAllocs()
			s := newSeq()
			for b.Loop() {
				if left {
					s.PushLeft(elem)
				} else {
					s.PushRight(elem)
				}
			}
		})
		b.Run(fmt.Sprintf("pop/left=%v", left), func(b *testing.B) {
			b.ReportAllocs()
			s := long.Copy()
			for b.Loop() {
				if s.Len() == 0 {
					s = long.Copy()
				}
				s.Pop(left, num[:])
			}
		})
	}
	b.Run("at", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			long.At(i*7919%1_000_000, num[:])
		}
	})
	b.Run("set", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			long.Set(i*7919%1_000_000, elem)
		}
	})
	b.Run("insert+remove", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			long.Insert(i*7919%1_000_000, elem)
			long.RemoveRange(i*104729%1_000_000, 1)
		}
	})
	b.Run("ascend600", func(b *testing.B) {
		for b.Loop() {
			n := 0
			long.Ascend(0, func([]byte) bool { n++; return n < 600 })
		}
	})
	b.Run("descend600", func(b *testing.B) {
		for b.Loop() {
			n := 0
			long.Descend(long.Len()-1, func([]byte) bool { n++; return n < 600 })
		}
	})
}
