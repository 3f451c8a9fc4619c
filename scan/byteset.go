package scan

import "math/bits"

// byteSet is a set of byte values, one bit each.
type byteSet [4]uint64

func (s *byteSet) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

func (s *byteSet) add(b byte) { s[b>>6] |= 1 << (b & 63) }

func (s *byteSet) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// single tells how many bytes are in the set, and the lowest one.
func (s *byteSet) single() (lowest byte, n int) {
	for i := len(s) - 1; i >= 0; i-- {
		n += bits.OnesCount64(s[i])
		if s[i] != 0 {
			lowest = byte(i<<6 + bits.TrailingZeros64(s[i]))
		}
	}
	return lowest, n
}

// addRange adds the bytes between two, in any order. They are ordered as the signed chars of C, which Redis compares:
// 0x80 to 0xff stand below 0.
func (s *byteSet) addRange(from, to byte) {
	lo, hi := int8(from), int8(to)
	if lo > hi {
		lo, hi = hi, lo
	}
	if lo < 0 {
		s.fill(byte(lo), byte(min(hi, -1)))
	}
	if hi >= 0 {
		s.fill(byte(max(lo, 0)), byte(hi))
	}
}

// fill adds lo to hi, lo <= hi, a word at a time.
func (s *byteSet) fill(lo, hi byte) {
	for i := lo >> 6; i <= hi>>6; i++ {
		mask := ^uint64(0)
		if i == lo>>6 {
			mask &= ^uint64(0) << (lo & 63)
		}
		if i == hi>>6 {
			mask &= ^uint64(0) >> (63 - hi&63)
		}
		s[i] |= mask
	}
}

// addRangeFold is addRange where Redis ignores case: it puts the ends in order first and lowers them and the byte
// afterwards, so that [Z-a] has become the empty range from z to a.
func (s *byteSet) addRangeFold(from, to byte) {
	lo, hi := int8(from), int8(to)
	if lo > hi {
		lo, hi = hi, lo
	}
	for b := 0; b < 256; b++ {
		if c := lowerC(int8(b)); c >= lowerC(lo) && c <= lowerC(hi) {
			s.add(byte(b))
		}
	}
}

// lowerC is what glibc's tolower makes of a signed char in the C locale: a negative one comes back unsigned, except -1,
// which is EOF.
func lowerC(c int8) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c) + 0x20
	case c < -1:
		return int(c) + 256
	}
	return int(c)
}
