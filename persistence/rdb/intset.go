package rdb

import (
	"encoding/binary"
	"slices"
)

// An intset is how a small set of integers is kept: the bytes of each (4, low
// byte first; 2, 4 or 8), how many (4), the integers in ascending order.
const intsetHeader = 8

// eachIntset yields the integers, and says false if the intset is broken, empty
// or not in order, or yield says so.
func eachIntset(p []byte, yield func(n int64) bool) bool {
	if len(p) <= intsetHeader {
		return false
	}
	size, count := int(binary.LittleEndian.Uint32(p)), uint64(binary.LittleEndian.Uint32(p[4:]))
	if size != 2 && size != 4 && size != 8 || intsetHeader+count*uint64(size) != uint64(len(p)) {
		return false
	}
	last := int64(0)
	for at := intsetHeader; at < len(p); at += size {
		n := littleInt(p[at : at+size])
		if at > intsetHeader && n <= last || !yield(n) {
			return false
		}
		last = n
	}
	return true
}

// appendIntset appends the intset of some integers, all different, which it
// sorts.
func appendIntset(dst []byte, ints []int64) []byte {
	slices.Sort(ints)
	size := 2
	for _, n := range []int64{ints[0], ints[len(ints)-1]} {
		switch {
		case n != int64(int32(n)):
			size = 8
		case n != int64(int16(n)):
			size = max(size, 4)
		}
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(ints)))
	for _, n := range ints {
		for i := range size {
			dst = append(dst, byte(n>>(8*i)))
		}
	}
	return dst
}
