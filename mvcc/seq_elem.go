package mvcc

import "strconv"

// Elements are packed as in Redis' listpack, but without the length behind each
// element that it needs for walking back: a page has marks instead.
//
//	0xxxxxxx             the integer x
//	10xxxxxx bytes       a string of x bytes
//	110xxxxx xxxxxxxx    the integer x, 13 bits with sign
//	1110xxxx xxxxxxxx bytes  a string of x bytes
//	11110000 xxxxxxxx    the page's blob x
//	11110yyy bytes       an integer of y+1 bytes, little-endian, with sign
const (
	tagString = 0x80
	tagInt13  = 0xc0
	tagLong   = 0xe0
	tagBlob   = 0xf0
)

// packedElem is an element on its way into a page.
type packedElem struct {
	b    []byte
	num  int64
	tag  byte
	size int  // bytes on the page
	kept bool // b is a blob already, and need not be copied
}

// packElem chooses the form of an element; it keeps b.
func packElem(b []byte) packedElem {
	if len(b) <= 20 {
		if v, ok := canonicalInt(b); ok {
			return packElemInt(v)
		}
	}
	switch n := len(b); {
	case n < 64:
		return packedElem{b: b, tag: tagString | byte(n), size: 1 + n}
	case n <= seqInlineMax:
		return packedElem{b: b, tag: tagLong | byte(n>>8), size: 2 + n}
	}
	return packedElem{b: b, tag: tagBlob, size: 2}
}

func packElemInt(v int64) packedElem {
	switch {
	case v >= 0 && v < 128:
		return packedElem{num: v, tag: byte(v), size: 1}
	case v >= -4096 && v < 4096:
		return packedElem{num: v, tag: tagInt13 | byte(v>>8)&31, size: 2}
	}
	n := 2
	for v>>(8*n-1) != 0 && v>>(8*n-1) != -1 {
		n++
	}
	return packedElem{num: v, tag: tagBlob | byte(n-1), size: 1 + n}
}

// put writes an element that is not a blob to the start of dst.
func (e *packedElem) put(dst []byte) {
	dst[0] = e.tag
	switch t := e.tag; {
	case t < tagString:
	case t < tagInt13:
		copy(dst[1:e.size], e.b)
	case t < tagLong:
		dst[1] = byte(e.num)
	case t < tagBlob:
		dst[1] = byte(len(e.b))
		copy(dst[2:e.size], e.b)
	default:
		for i := 1; i < e.size; i++ {
			dst[i] = byte(e.num >> (8 * (i - 1)))
		}
	}
}

// elemSize returns the bytes of the packed element at the start of b.
func elemSize(b []byte) int {
	switch t := b[0]; {
	case t < tagString:
		return 1
	case t < tagInt13:
		return 1 + int(t&63)
	case t < tagLong || t == tagBlob:
		return 2
	case t < tagBlob:
		return 2 + (int(t&15)<<8 | int(b[1]))
	default:
		return 2 + int(t&7)
	}
}

// elemSkip returns the offset of the element n elements after the one at off.
func elemSkip(b []byte, off, n int) int {
	for ; n > 0; n-- {
		if t := b[off]; t&0xc0 == tagString {
			off += 1 + int(t&63)
		} else {
			off += elemSize(b[off:])
		}
	}
	return off
}

// elemAt returns the packed element at off, which is not a blob, and where the
// next one begins. An integer is printed into num.
func elemAt(b []byte, off int, num []byte) (elem []byte, next int) {
	t := b[off]
	if t&0xc0 == tagString {
		next = off + 1 + int(t&63)
		return b[off+1 : next : next], next
	}
	if t&0xf0 == tagLong {
		next = off + 2 + (int(t&15)<<8 | int(b[off+1]))
		return b[off+2 : next : next], next
	}
	next = off + elemSize(b[off:])
	return strconv.AppendInt(num[:0], elemInt(b[off:next]), 10), next
}

func elemInt(b []byte) int64 {
	switch t := b[0]; {
	case t < tagString:
		return int64(t)
	case t < tagLong:
		return int64(int16(uint16(t&31)<<11|uint16(b[1])<<3)) >> 3
	}
	v := uint64(0)
	for i, c := range b[1:] {
		v |= uint64(c) << (8 * i)
	}
	unused := 64 - 8*(len(b)-1)
	return int64(v<<unused) >> unused
}
