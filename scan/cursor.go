package scan

import (
	"math"
	"strconv"

	"firn/mvcc"
)

// A Cursor says where a SCAN goes on: the top 52 bits of the next position, so
// that it stays below 2^53 and survives clients that keep it in a double. 0 is
// the start, and as an answer the end: no other call returns it, because what
// stands before the next position has been returned.
type Cursor uint64

// cursorEnd is the first cursor behind every position.
const cursorEnd = Cursor(1) << (64 - mvcc.CursorShift)

// cursorAt is the cursor of a call that goes on with the position.
func cursorAt(pos uint64) Cursor { return Cursor(pos >> mvcc.CursorShift) }

// position returns where the cursor points to; false if it is none of ours,
// being behind every position.
func (c Cursor) position() (pos uint64, ok bool) {
	return uint64(c) << mvcc.CursorShift, c < cursorEnd
}

// Append appends the cursor as a client is told it.
func (c Cursor) Append(dst []byte) []byte { return strconv.AppendUint(dst, uint64(c), 10) }

// ParseCursor reads a cursor as Redis does, which leaves it to strtoul: a sign
// may stand in front, of which the minus makes the number wrap around; nothing
// at all is 0; what follows a NUL is not seen. White space in front, other
// bytes behind the digits and what exceeds 64 bits are no cursor.
func ParseCursor(b []byte) (Cursor, bool) {
	negative := len(b) > 0 && b[0] == '-'
	if len(b) > 1 && (negative || b[0] == '+') && isDigit(b[1]) {
		b = b[1:]
	}
	var v uint64
	for _, c := range b {
		if c == 0 {
			break
		}
		d := uint64(c - '0')
		if !isDigit(c) || v > math.MaxUint64/10 || v*10 > math.MaxUint64-d {
			return 0, false
		}
		v = v*10 + d
	}
	if negative {
		v = -v
	}
	return Cursor(v), true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
