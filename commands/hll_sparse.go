package commands

import "slices"

// A sparse sketch is a sequence of runs of equal registers:
//
//	00llllll           l+1 registers are zero
//	01llllll llllllll  l+1 registers are zero
//	1vvvvvll           l+1 registers are v+1
//
// What is here must leave the same bytes as Redis' hllSparseSet, which replaces
// one run by up to three and then joins some neighbours.
const (
	sparseLongZero = 0x40
	sparseValue    = 0x80
	sparseMaxValue = 32
	sparseMaxRun   = 4  // of a value
	sparseMaxZero  = 64 // of a short run of zeros
	sparseMore     = 3  // bytes that raising a register adds at most
	sparseJoinSpan = 5  // how many runs are looked at to join them

	// sparseMaxSize bounds a valid sketch: no run is shorter than one register,
	// nor longer than two bytes.
	sparseMaxSize = hllHeader + 2*hllRegisters
)

// newSparse makes an empty sketch.
func newSparse() []byte {
	const all = hllRegisters - 1
	b := make([]byte, hllHeader, hllHeader+2+sparseMore)
	copy(b, hllMagic)
	b[hllFormAt] = hllSparse
	return append(b, sparseLongZero|all>>8, all&0xff)
}

// A run is one run of registers in a sparse sketch.
type run struct {
	size  int  // bytes
	n     int  // registers
	value byte // of each
}

// runAt decodes the run that begins at h[i]; a size of 0 says that it is cut off.
func runAt(h []byte, i int) run {
	b := h[i]
	switch {
	case b&sparseValue != 0:
		return run{1, int(b&3) + 1, b>>2&31 + 1}
	case b&sparseLongZero == 0:
		return run{1, int(b) + 1, 0}
	case i+1 == len(h):
		return run{}
	}
	return run{2, int(b&63)<<8 | int(h[i+1]) + 1, 0}
}

func valueRun(v byte, n int) byte { return sparseValue | (v-1)<<2 | byte(n-1) }

func appendZeros(dst []byte, n int) []byte {
	if n > sparseMaxZero {
		return append(dst, sparseLongZero|byte((n-1)>>8), byte(n-1))
	}
	return append(dst, byte(n-1))
}

// appendRun appends n registers of the value, if any; n is no more than the run
// that it is a part of had.
func appendRun(dst []byte, v byte, n int) []byte {
	switch {
	case n == 0:
		return dst
	case v == 0:
		return appendZeros(dst, n)
	}
	return append(dst, valueRun(v, n))
}

// eachRun yields the runs of values with the register they begin at, and says
// whether the sketch is valid.
func eachRun(h []byte, yield func(at int, r run)) bool {
	at := 0
	for i := hllHeader; i < len(h); {
		r := runAt(h, i)
		if r.size == 0 || at+r.n > hllRegisters {
			return false
		}
		if r.value != 0 {
			yield(at, r)
		}
		at += r.n
		i += r.size
	}
	return at == hllRegisters
}

// raiseSparse takes the maximum of each register and the sparse sketch's, and
// says whether that is valid.
func (c *hllCounters) raiseSparse(h []byte) bool {
	return eachRun(h, func(at int, r run) {
		for i := at; i < at+r.n; i++ {
			c[i] = max(c[i], r.value)
		}
	})
}

// sparseHistogram is false for an invalid sketch.
func sparseHistogram(h []byte) (n hllHistogram, ok bool) {
	n[0] = hllRegisters
	ok = eachRun(h, func(_ int, r run) {
		n[r.value] += r.n
		n[0] -= r.n
	})
	return n, ok
}

// sparseToDense returns the same registers as a dense sketch with the same
// header; false if the sparse one is invalid.
func sparseToDense(h []byte) ([]byte, bool) {
	d := make([]byte, hllDenseSize)
	copy(d, h[:hllHeader])
	d[hllFormAt] = hllDense
	ok := eachRun(h, func(at int, r run) {
		for i := at; i < at+r.n; i++ {
			k, shift := denseAt(i)
			densePut(d[k:], shift, r.value)
		}
	})
	return d, ok
}

// A sketch is a HyperLogLog that elements are added to.
type sketch struct {
	b   []byte
	own bool  // b may be written; if not, the first change copies it
	max int64 // how long it may grow while it is sparse, in bytes

	mark spot // where the next search in ascending order may begin
}

// A spot is a boundary of runs: a byte, and the register that begins there.
type spot struct{ i, at int }

// raised says what raise did.
type raised int

const (
	notRaised raised = iota
	wasRaised
	corrupt
)

// raise sets a register if it is lower.
func (s *sketch) raise(at int, v byte) raised {
	if s.b[hllFormAt] == hllDense {
		if denseGet(s.b, at) >= v {
			return notRaised
		}
		s.edit()
		denseRaise(s.b, at, v)
		return wasRaised
	}
	s.mark = spot{hllHeader, 0}
	return s.raiseSparse(at, v)
}

// raiseNext is raise for registers in ascending order, with nothing else in
// between; s.mark must be the first run before the first call.
func (s *sketch) raiseNext(at int, v byte) raised {
	if s.b[hllFormAt] == hllDense {
		return s.raise(at, v)
	}
	return s.raiseSparse(at, v)
}

func (s *sketch) edit() {
	if !s.own {
		s.b, s.own = append(make([]byte, 0, len(s.b)+sparseMore), s.b...), true
	}
}

// raiseSparse looks for the register's run from the mark on. The run of a higher
// register begins no earlier than the run before this one, and joining starts
// there: the mark is left one further back, or where all runs begin.
func (s *sketch) raiseSparse(at int, v byte) raised {
	if v > sparseMaxValue {
		return s.promote(at, v)
	}
	var r run
	prev, here := s.mark, s.mark
	for here.i < len(s.b) {
		r = runAt(s.b, here.i)
		if r.size == 0 {
			return corrupt
		}
		if at < here.at+r.n {
			break
		}
		s.mark, prev = prev, here
		here = spot{here.i + r.size, here.at + r.n}
	}
	if here.i >= len(s.b) {
		return corrupt
	}
	if s.mark == prev {
		s.mark = spot{hllHeader, 0}
	}
	if r.value >= v {
		return notRaised
	}
	if !s.split(here, r, at, v) {
		return s.promote(at, v)
	}
	s.join(prev.i)
	s.b[hllStaleAt] |= hllStaleBit
	return wasRaised
}

// split gives one register of a run another value; false if the sketch would
// become too long.
func (s *sketch) split(from spot, r run, at int, v byte) bool {
	var room [5]byte
	seq := appendRun(room[:0], r.value, at-from.at)
	seq = append(seq, valueRun(v, 1))
	seq = appendRun(seq, r.value, from.at+r.n-1-at)
	if more := len(seq) - r.size; more > 0 && int64(len(s.b)+more) > s.max {
		return false
	}
	s.edit()
	s.b = slices.Replace(s.b, from.i, from.i+r.size, seq...)
	return true
}

// join joins neighbours of one value, looking at a few runs from h[i] on.
func (s *sketch) join(i int) {
	for range sparseJoinSpan {
		if i >= len(s.b) {
			return
		}
		if a := s.b[i]; a&sparseValue == 0 {
			i += 1 + int(a&sparseLongZero>>6)
			continue
		}
		if !s.joinTwo(i) {
			i++
		}
	}
}

// joinTwo joins the value's run at h[i] with the next, if that can be done.
func (s *sketch) joinTwo(i int) bool {
	if i+1 >= len(s.b) || s.b[i+1]&sparseValue == 0 {
		return false
	}
	a, b := runAt(s.b, i), runAt(s.b, i+1)
	if a.value != b.value || a.n+b.n > sparseMaxRun {
		return false
	}
	s.b[i+1] = valueRun(a.value, a.n+b.n)
	s.b = slices.Delete(s.b, i, i+1)
	return true
}

// promote makes the sketch dense and sets the register in it.
func (s *sketch) promote(at int, v byte) raised {
	d, ok := sparseToDense(s.b)
	if !ok {
		return corrupt
	}
	s.b, s.own = d, true
	denseRaise(d, at, v)
	return wasRaised
}
