package rdb

import (
	"encoding/binary"
	"math"
	"strconv"
)

// A listpack is a sequence of strings and integers in one piece of bytes:
//
//	its length in bytes (4, low byte first), the number of elements (2; 65535:
//	count them), the elements, 0xFF
//
// and an element is a byte that says how long it is, or is itself the integer,
// its bytes, and the length of both so that it can be read backwards.
const (
	packHeader  = 6
	packEnd     = 0xFF
	packUncount = math.MaxUint16

	packUint7 = 0x00 // 0xxxxxxx
	packStr6  = 0x80 // 10nnnnnn
	packInt13 = 0xC0 // 110xxxxx and a byte
	packStr12 = 0xE0 // 1110nnnn and a byte
	packStr32 = 0xF0 // and four bytes of length
	packInt16 = 0xF1
	packInt24 = 0xF2
	packInt32 = 0xF3
	packInt64 = 0xF4
)

// An element is what a listpack or ziplist holds: a string, or an integer if
// str is nil.
type element struct {
	str []byte
	n   int64
}

// A packReader reads a listpack or a ziplist that nobody vouches for: it checks
// each step. The elements' bytes are those of the pack.
type packReader struct {
	p    []byte // of it, what has not been read; the end mark is last
	left int    // elements that the header promises, -1: it doesn't say
	at   int64  // where it was found, for errors

	old  bool // a ziplist
	prev int  // its element before: the length
	tail int  // where its last element begins, from where the rest begins
}

// openListpack checks the header.
func openListpack(p []byte) (r packReader, ok bool) {
	if len(p) < packHeader+1 || uint64(binary.LittleEndian.Uint32(p)) != uint64(len(p)) || p[len(p)-1] != packEnd {
		return r, false
	}
	r = packReader{p: p[packHeader:], left: int(binary.LittleEndian.Uint16(p[4:]))}
	if r.left == packUncount {
		r.left = -1
	}
	return r, true
}

// next reads an element. At the end it says more is false, and ok if it is where
// the header says.
func (r *packReader) next() (e element, more, ok bool) {
	if r.p[0] == packEnd {
		return e, false, len(r.p) == 1 && r.left <= 0 && (!r.old || r.tail == -r.prev || r.prev == 0)
	}
	if r.left == 0 {
		return e, false, false
	}
	var n int
	if r.old {
		e, n = r.oldElement()
	} else {
		e, n = r.element()
	}
	if n <= 0 || n >= len(r.p) { // the end mark must be left
		return e, false, false
	}
	r.p = r.p[n:]
	r.prev, r.tail = n, r.tail-n
	if r.left > 0 {
		r.left--
	}
	return e, true, true
}

// element reads the element that p begins with, and how many bytes it takes;
// none if it is broken.
func (r *packReader) element() (e element, n int) {
	at, size, isInt := packSize(r.p)
	n = at + size
	if at == 0 || n >= len(r.p) {
		return e, 0
	}
	if isInt {
		e.n = packInt(r.p[:n], size)
	} else {
		e.str = r.p[at:n:n]
	}
	var back [5]byte
	tail := appendBackLen(back[:0], n)
	if len(tail) > len(r.p)-n || string(tail) != string(r.p[n:n+len(tail)]) {
		return e, 0
	}
	return e, n + len(tail)
}

// packSize reads where the bytes of an element begin and how many they are; at
// is 0 if that can't be read.
func packSize(p []byte) (at, size int, isInt bool) {
	c := p[0]
	switch {
	case c < packStr6:
		return 1, 0, true
	case c < packInt13:
		return 1, int(c & 0x3F), false
	case c < packStr12:
		return 1, 1, true
	case c < packStr32 && len(p) > 2:
		return 2, int(c&0x0F)<<8 | int(p[1]), false
	case c == packStr32 && len(p) > 5:
		return 5, int(binary.LittleEndian.Uint32(p[1:])), false
	case c == packInt16, c == packInt24, c == packInt32:
		return 1, int(c-packInt16) + 2, true
	case c == packInt64:
		return 1, 8, true
	}
	return 0, 0, false
}

// packInt is the integer of an element of which size bytes follow the first.
func packInt(p []byte, size int) int64 {
	switch size {
	case 0:
		return int64(p[0])
	case 1:
		return int64(int16(uint16(p[0])<<11|uint16(p[1])<<3) >> 3)
	}
	return littleInt(p[1:])
}

// appendBackLen appends a length to be read backwards: seven bits a byte, the
// low ones last, all but the first byte marked.
func appendBackLen(dst []byte, n int) []byte {
	shift := 28
	switch { // the longest of each size takes a byte more, as Redis has it
	case n <= 1<<7-1:
		return append(dst, byte(n))
	case n < 1<<14-1:
		shift = 7
	case n < 1<<21-1:
		shift = 14
	case n < 1<<28-1:
		shift = 21
	}
	dst = append(dst, byte(n>>shift))
	for shift > 0 {
		shift -= 7
		dst = append(dst, byte(n>>shift)|0x80)
	}
	return dst
}

// A packWriter makes a listpack.
type packWriter struct {
	p     []byte
	count int
}

func (w *packWriter) reset() { w.p, w.count = append(w.p[:0], 0, 0, 0, 0, 0, 0), 0 }

// finish returns the listpack, which is the writer's until reset.
func (w *packWriter) finish() []byte {
	w.p = append(w.p, packEnd)
	binary.LittleEndian.PutUint32(w.p, uint32(len(w.p)))
	binary.LittleEndian.PutUint16(w.p[4:], uint16(min(w.count, packUncount)))
	return w.p
}

// add appends a string, as an integer if it reads as one.
func (w *packWriter) add(s []byte) {
	if n, ok := canonicalInt(s); ok {
		w.addInt(n)
		return
	}
	start := len(w.p)
	switch n := len(s); {
	case n < 1<<6:
		w.p = append(w.p, packStr6|byte(n))
	case n < 1<<12:
		w.p = append(w.p, packStr12|byte(n>>8), byte(n))
	default:
		w.p = binary.LittleEndian.AppendUint32(append(w.p, packStr32), uint32(n))
	}
	w.p = append(w.p, s...)
	w.end(start)
}

func (w *packWriter) addInt(n int64) {
	start := len(w.p)
	switch {
	case n >= 0 && n < 128:
		w.p = append(w.p, packUint7|byte(n))
	case n >= -4096 && n < 4096:
		w.p = append(w.p, packInt13|byte(n>>8)&0x1F, byte(n))
	case n == int64(int16(n)):
		w.p = append(w.p, packInt16, byte(n), byte(n>>8))
	case n >= -1<<23 && n < 1<<23:
		w.p = append(w.p, packInt24, byte(n), byte(n>>8), byte(n>>16))
	case n == int64(int32(n)):
		w.p = binary.LittleEndian.AppendUint32(append(w.p, packInt32), uint32(n))
	default:
		w.p = binary.LittleEndian.AppendUint64(append(w.p, packInt64), uint64(n))
	}
	w.end(start)
}

func (w *packWriter) end(start int) {
	w.p = appendBackLen(w.p, len(w.p)-start)
	w.count++
}

// addScore appends a score as Redis prints it in a listpack.
func (w *packWriter) addScore(f float64) {
	if n := int64(f); f >= -1<<62 && f <= 1<<62 && float64(n) == f {
		w.addInt(n)
		return
	}
	var b [32]byte
	w.add(appendScore(b[:0], f))
}

// appendScore appends a number as C's %.17g prints it.
func appendScore(dst []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, f, 'g', 17, 64)
}

// packCost is more than what a string of n bytes takes in a listpack.
func packCost(n int) int { return n + 10 }
