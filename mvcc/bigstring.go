package mvcc

const (
	chunkSize = 64 << 10
	chunkCost = 32
)

// zeros is what a chunk reads as that was never written.
var zeros [chunkSize]byte

// bigString is a string in chunks of 64 KiB; the last may be shorter. A nil
// chunk is zeros, so that SETBIT far out allocates one chunk.
type bigString struct {
	size   int64
	alloc  int64
	chunks []chunk
	gen    uint64 // chunks with another gen are shared with a clone
}

type chunk struct {
	b   []byte // len is what is in use; nil reads as zeros
	gen uint64
}

func (s *bigString) bytes() int64 { return s.alloc }

func (s *bigString) count() int { return 1 }

// clone copies the header; the chunks are shared until written.
func (s *bigString) clone() value {
	c := *s
	c.chunks = append(make([]chunk, 0, len(s.chunks)+1), s.chunks...)
	c.gen = s.gen + 1
	return &c
}

// resize makes the string n bytes long, not shorter than it was: what is new
// reads as zeros without being allocated.
func (s *bigString) resize(n int64) {
	want := int((n + chunkSize - 1) / chunkSize)
	for len(s.chunks) < want {
		s.chunks = append(s.chunks, chunk{gen: s.gen})
		s.alloc += chunkCost
	}
	s.size = n
}

// writable returns chunk i, the string's own and at least n bytes long.
func (s *bigString) writable(i, n int) []byte {
	c := &s.chunks[i]
	if c.gen == s.gen && cap(c.b) >= n {
		if len(c.b) < n {
			c.b = c.b[:n]
		}
		return c.b
	}
	size := min(max(n, 2*len(c.b)), chunkSize)
	if c.gen != s.gen {
		size = max(n, cap(c.b))
	}
	b := make([]byte, max(n, len(c.b)), size)
	copy(b, c.b)
	s.alloc += int64(size - cap(c.b))
	c.b, c.gen = b, s.gen
	return b
}

// writeAt writes p at off, which must not lie beyond the end.
func (s *bigString) writeAt(off int64, p []byte) {
	if end := off + int64(len(p)); end > s.size {
		s.resize(end)
	}
	for len(p) > 0 {
		i, in := int(off/chunkSize), int(off%chunkSize)
		n := min(len(p), chunkSize-in)
		copy(s.writable(i, in+n)[in:], p[:n])
		p, off = p[n:], off+int64(n)
	}
}

// writeAtPadded is writeAt with zeros between the end and off.
func (s *bigString) writeAtPadded(off int64, p []byte) {
	if off > s.size {
		s.resize(off)
	}
	s.writeAt(off, p)
}

// pieces yields [from, to) chunk by chunk, without copying.
func (s *bigString) pieces(from, to int64, yield func([]byte) bool) {
	for from < to {
		i, in := int(from/chunkSize), int(from%chunkSize)
		n := int(min(to-from, int64(chunkSize-in)))
		b := s.chunks[i].b
		own := min(max(len(b)-in, 0), n)
		if own > 0 && !yield(b[in:in+own:in+own]) {
			return
		}
		if n > own && !yield(zeros[:n-own:n-own]) {
			return
		}
		from += int64(n)
	}
}

func (s *bigString) appendRange(dst []byte, from, to int64) []byte {
	if need := int(to-from) + len(dst); cap(dst) < need {
		dst = append(make([]byte, 0, need), dst...)
	}
	s.pieces(from, to, func(p []byte) bool { dst = append(dst, p...); return true })
	return dst
}

func newBigString(epoch uint64, p []byte) *object {
	s := &bigString{}
	s.writeAt(0, p)
	return &object{epoch: epoch, val: s}
}
