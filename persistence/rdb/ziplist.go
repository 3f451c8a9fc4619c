package rdb

import "encoding/binary"

// A ziplist is what Redis had before listpacks:
//
//	its length in bytes (4, low byte first), where the last element begins (4),
//	the number of elements (2; 65535: count them), the elements, 0xFF
//
// and an element is the length of the one before it (a byte, or 0xFE and four),
// a byte that says how long it is, or is itself the integer, and its bytes.
const (
	zipHeader  = 10
	zipLongLen = 0xFE

	zipStr6  = 0x00 // 00nnnnnn
	zipStr14 = 0x40 // 01nnnnnn and a byte
	zipStr32 = 0x80 // and four bytes of length, the high one first
	zipInt16 = 0xC0
	zipInt32 = 0xD0
	zipInt64 = 0xE0
	zipInt24 = 0xF0
	zipInt8  = 0xFE
	zipTiny  = 0xF1 // up to 0xFD: 0 to 12
)

// openZiplist checks the header.
func openZiplist(p []byte) (r packReader, ok bool) {
	if len(p) < zipHeader+1 || uint64(binary.LittleEndian.Uint32(p)) != uint64(len(p)) || p[len(p)-1] != packEnd {
		return r, false
	}
	tail := int64(binary.LittleEndian.Uint32(p[4:]))
	if tail > int64(len(p)-1) {
		return r, false
	}
	r = packReader{p: p[zipHeader:], old: true, tail: int(tail) - zipHeader, left: int(binary.LittleEndian.Uint16(p[8:]))}
	if r.left == packUncount {
		r.left = -1
	}
	return r, true
}

// oldElement reads the element that p begins with, and how many bytes it takes;
// none if it is broken.
func (r *packReader) oldElement() (e element, n int) {
	p, prev, at := r.p, int64(r.p[0]), 1
	if prev == zipLongLen && len(p) > 5 {
		prev, at = int64(binary.LittleEndian.Uint32(p[1:])), 5
	}
	if prev != int64(r.prev) || at >= len(p) {
		return e, 0
	}
	head, size, isInt := zipSize(p[at:])
	at += head
	if head == 0 || size >= len(p)-at { // the end mark must be left
		return e, 0
	}
	switch {
	case isInt && size == 0:
		e.n = int64(p[at-1]&0x0F) - 1
	case isInt:
		e.n = littleInt(p[at : at+size])
	default:
		e.str = p[at : at+size : at+size]
	}
	return e, at + size
}

// zipSize reads the byte that says how long an element is, and what belongs to
// it; head is 0 if that can't be read.
func zipSize(p []byte) (head, size int, isInt bool) {
	c := p[0]
	switch {
	case c < zipStr14:
		return 1, int(c), false
	case c < zipStr32 && len(p) > 1:
		return 2, int(c&0x3F)<<8 | int(p[1]), false
	case c&0xC0 == zipStr32 && len(p) > 4:
		return 5, int(binary.BigEndian.Uint32(p[1:])), false
	case c == zipInt8:
		return 1, 1, true
	case c == zipInt16:
		return 1, 2, true
	case c == zipInt24:
		return 1, 3, true
	case c == zipInt32:
		return 1, 4, true
	case c == zipInt64:
		return 1, 8, true
	case c >= zipTiny && c < zipInt8:
		return 1, 0, true
	}
	return 0, 0, false
}

// A zipmap is how the oldest files keep a small hash: the number of fields in a
// byte (254 and more: count them), and for each the field's length and bytes,
// the value's length, a byte that says how much is free behind the value, the
// value; 0xFF at the end. A length is a byte, or 0xFE and four, low byte first.
const zipmapLong = 254

// eachZipmap yields the pairs of a zipmap, and says false if it is broken or
// yield says so. It must not be empty.
func eachZipmap(p []byte, yield func(field, value []byte) bool) bool {
	if len(p) < 2 {
		return false
	}
	promised, count := int(p[0]), 0
	for p = p[1:]; len(p) > 1 && p[0] != packEnd; count++ {
		field, rest, ok := zipmapPart(p, 0)
		if !ok {
			return false
		}
		value, rest, ok := zipmapPart(rest, 1)
		if !ok || !yield(field, value) {
			return false
		}
		p = rest
	}
	return len(p) == 1 && p[0] == packEnd && count > 0 && (promised >= zipmapLong || promised == count)
}

// zipmapPart reads a length and the bytes; in between, for a value, stands how
// many bytes behind them are free. The end mark must be left.
func zipmapPart(p []byte, gap int) (part, rest []byte, ok bool) {
	if len(p) == 0 {
		return nil, nil, false
	}
	n, at := int64(p[0]), 1
	if n >= zipmapLong {
		if n > zipmapLong || len(p) < 5 {
			return nil, nil, false
		}
		n, at = int64(binary.LittleEndian.Uint32(p[1:])), 5
	}
	free := int64(0)
	if gap == 1 {
		if at >= len(p) {
			return nil, nil, false
		}
		free = int64(p[at])
		at++
	}
	if n+free >= int64(len(p)-at) {
		return nil, nil, false
	}
	return p[at : int64(at)+n : int64(at)+n], p[int64(at)+n+free:], true
}
