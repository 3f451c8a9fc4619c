package commands

import (
	"encoding/binary"

	"firn/mvcc"
)

// maxShift is by how many bits BITOP can shift a string.
const maxShift = 1 << 30

// A bitShift computes BITOP LSHIFT and RSHIFT of KeyDB, chunk by chunk. The
// first byte of the string is its least significant one: a shift to the left
// makes it longer.
type bitShift struct {
	source mvcc.Entry // unless empty
	length int64      // of the source
	bytes  int64      // how far the bytes move up; negative: down
	bits   uint       // and then the bits, 0 to 7
	window []byte
}

// parseShift reads the shift of a BITOP that has one, in bits to the left.
func parseShift(c *Call, right bool) (int64, error) {
	if len(c.Args) != 5 {
		return 0, ErrShiftArity
	}
	n, ok := ParseInt(c.Args[4])
	switch {
	case !ok:
		return 0, ErrShiftInteger
	case n > maxShift || right && n < -maxShift:
		return 0, ErrShiftLarge
	case right:
		return -n, nil
	}
	return n, nil
}

// shiftedSize is how long the result is: for a shift to the left by a part of a
// byte, one byte longer, whatever the bits.
func shiftedSize(size, shift int64) int64 {
	size += shift / 8
	if shift > 0 && shift%8 != 0 {
		size++
	}
	return max(size, 0)
}

func shiftBits(c *Call, v *mvcc.View, right bool) (commit func(*mvcc.Tx) error, err error) {
	shift, err := parseShift(c, right)
	if err != nil {
		return nil, err
	}
	s := bitShift{bytes: shift >> 3, bits: uint(shift & 7)}
	if e, ok := v.Get(c.Args[3]); ok {
		if e.Type() != mvcc.String {
			return nil, ErrWrongType
		}
		s.source, s.length = e, e.Len()
	}
	size := shiftedSize(s.length, shift)
	switch {
	case size == 0:
		return deleteDest(c, c.Args[2]), nil
	case size > c.MaxBulk:
		return nil, ErrMaxString
	}
	return storeString(c, c.Args[2], size, s.chunks(c, size)), nil
}

// chunks computes the result; a chunk of zeros is left nil.
func (s *bitShift) chunks(c *Call, size int64) [][]byte {
	all := make([][]byte, (size+mvcc.ChunkSize-1)/mvcc.ChunkSize)
	for i := range all {
		from := int64(i) * mvcc.ChunkSize
		b := s.chunk(from, min(size-from, mvcc.ChunkSize))
		if b != nil && firstOne(b, 0) >= 0 {
			all[i] = b
		}
		c.pauseAt(i)
	}
	return all
}

// chunk returns n bytes of the result from an offset on; nil if no bit of the
// source gets there.
func (s *bitShift) chunk(from, n int64) []byte {
	// The window is the byte before those that move here, and these.
	first := from - s.bytes - 1
	lo, hi := max(first, 0), min(first+n+1, s.length)
	if lo >= hi {
		return nil
	}
	s.window = append(s.window[:0], make([]byte, n+1)...)
	s.source.AppendRange(s.window[:lo-first], lo, hi)
	dst := make([]byte, n)
	shiftInto(dst, s.window, s.bits)
	return dst
}

// shiftInto shifts the bytes of src behind the first one, into which bits come
// from the byte before.
func shiftInto(dst, src []byte, bits uint) {
	i := 0
	for ; i+8 <= len(dst); i += 8 {
		w := binary.LittleEndian.Uint64(src[i+1:])<<bits | uint64(src[i]>>(8-bits))
		binary.LittleEndian.PutUint64(dst[i:], w)
	}
	for ; i < len(dst); i++ {
		dst[i] = src[i+1]<<bits | src[i]>>(8-bits)
	}
}
