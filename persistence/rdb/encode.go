package rdb

import (
	"encoding/binary"
	"math"
	"strconv"
)

// An Encoder writes what RDB files are made of. It belongs to one goroutine at
// a time; the zero value is ready and collects all in one piece.
type Encoder struct {
	// Compress packs strings where that makes them shorter (rdbcompression).
	Compress bool
	// Flush takes over what has been collected, once it is flushFrom bytes or
	// more; nil keeps all in one piece. It may also let others have their turn.
	Flush func(p []byte)

	buf    []byte
	packed []byte     // scratch of compression
	pack   packWriter // a part of a value, before it is written as a string
	lzf    lzf
}

const (
	flushFrom    = 64 << 10
	compressFrom = 21       // shorter strings aren't worth trying
	compressTo   = 64 << 20 // longer ones aren't packed: it takes memory of their size
)

// Take returns what is collected, which is the caller's, and leaves nothing.
func (w *Encoder) Take() []byte {
	p := w.buf
	w.buf = nil
	return p
}

// spill is called between elements.
func (w *Encoder) spill() {
	if w.Flush != nil && len(w.buf) >= flushFrom {
		w.Flush(w.Take())
		w.buf = make([]byte, 0, flushFrom+4096)
	}
}

// Byte writes a byte, as the type of a value or an opcode.
func (w *Encoder) Byte(b byte) { w.buf = append(w.buf, b) }

// Raw writes bytes as they are.
func (w *Encoder) Raw(p []byte) { w.buf = append(w.buf, p...) }

// Len writes a length, or whatever number is written like one.
func (w *Encoder) Len(n uint64) { w.buf = appendLen(w.buf, n) }

// Uint64 writes eight bytes, the low one first, as times are.
func (w *Encoder) Uint64(n uint64) { w.buf = binary.LittleEndian.AppendUint64(w.buf, n) }

// Double writes a number of the binary form.
func (w *Encoder) Double(f float64) { w.Uint64(math.Float64bits(f)) }

// String writes a string: short decimal integers in binary, long strings packed.
func (w *Encoder) String(p []byte) {
	if n, ok := shortInt(p); ok {
		w.buf = appendSmallInt(w.buf, n)
		return
	}
	if w.Compress && len(p) >= compressFrom && len(p) <= compressTo && w.compressed(p) {
		return
	}
	w.Len(uint64(len(p)))
	w.Raw(p)
}

// compressed writes a string packed, if that makes it at least four bytes
// shorter.
func (w *Encoder) compressed(p []byte) (ok bool) {
	if w.packed, ok = w.lzf.compress(w.packed[:0], p, len(p)-4); ok {
		w.Byte(lenSpecial | specialLZF)
		w.Len(uint64(len(w.packed)))
		w.Len(uint64(len(p)))
		w.Raw(w.packed)
	}
	if cap(w.packed) > flushFrom {
		w.packed = nil
	}
	return ok
}

// Int writes the decimal of n as a string.
func (w *Encoder) Int(n int64) {
	if n == int64(int32(n)) {
		w.buf = appendSmallInt(w.buf, int32(n))
		return
	}
	var b [20]byte
	w.String(strconv.AppendInt(b[:0], n, 10))
}

func appendLen(dst []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(dst, len6|byte(n))
	case n < 1<<14:
		return append(dst, len14|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, len32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, len64), n)
}

func appendSmallInt(dst []byte, n int32) []byte {
	switch {
	case n == int32(int8(n)):
		return append(dst, lenSpecial|special8, byte(n))
	case n == int32(int16(n)):
		return binary.LittleEndian.AppendUint16(append(dst, lenSpecial|special16), uint16(n))
	}
	return binary.LittleEndian.AppendUint32(append(dst, lenSpecial|special32), uint32(n))
}

// shortInt reads the one decimal spelling of an integer of 32 bits.
func shortInt(p []byte) (int32, bool) {
	if len(p) > len("-2147483648") {
		return 0, false
	}
	n, ok := canonicalInt(p)
	return int32(n), ok && n == int64(int32(n))
}

// canonicalInt reads an integer that prints as the very same bytes.
func canonicalInt(p []byte) (int64, bool) {
	if len(p) == 0 || len(p) > len("-9223372036854775808") {
		return 0, false
	}
	digits, negative := p, p[0] == '-'
	if negative {
		digits = p[1:]
	}
	if len(digits) == 0 || digits[0] == '0' && len(p) > 1 {
		return 0, false
	}
	var n uint64
	for _, c := range digits {
		if c < '0' || c > '9' || n > math.MaxUint64/10 {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	if negative {
		return -int64(n), n <= 1<<63
	}
	return int64(n), n <= math.MaxInt64
}
