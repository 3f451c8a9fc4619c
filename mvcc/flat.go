package mvcc

import (
	"encoding/binary"
	"math"
	"slices"
)

// A small collection is a flat blob in its record: elements one after the
// other, each a length and its bytes. A hash has a value behind each field; a
// sorted set has the score's 8 bytes in front of each member and is sorted; a
// list has a format of its own (seq).
const flatMax = 1 << 10 // bytes of a longer collection become an object

func appendElem(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// elem splits the first element off.
func elem(b []byte) (e, rest []byte) {
	n, l := uvarint(b)
	return b[l : l+n : l+n], b[l+n:]
}

// flatSpan is where an element or entry lies in a blob.
type flatSpan struct{ from, to int }

// flatCount counts the elements of a hash or set blob.
func flatCount(b []byte, each int) (n int) {
	for len(b) > 0 {
		_, b = elem(b)
		n++
	}
	return n / each
}

// flatFind finds the entry of a member among entries of that many elements and
// returns it with the bytes of its last element.
func flatFind(b, member []byte, each int) (s flatSpan, last []byte, ok bool) {
	rest := b
	for len(rest) > 0 {
		s.from = len(b) - len(rest)
		key, r := elem(rest)
		last = key
		for range each - 1 {
			last, r = elem(r)
		}
		s.to = len(b) - len(r)
		if string(key) == string(member) {
			return s, last, true
		}
		rest = r
	}
	return s, nil, false
}

// A flatScored is an entry of a sorted set's blob.
type flatScored struct {
	flatSpan
	member []byte
	score  float64
}

const scoreLen = 8

func flatScore(b []byte) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// flatZ yields the entries of a sorted set's blob.
func flatZ(b []byte, yield func(i int, e flatScored) bool) {
	rest := b
	for i := 0; len(rest) > 0; i++ {
		from := len(b) - len(rest)
		score := flatScore(rest)
		member, r := elem(rest[scoreLen:])
		if !yield(i, flatScored{flatSpan{from, len(b) - len(r)}, member, score}) {
			return
		}
		rest = r
	}
}

func flatZCount(b []byte) (n int) {
	for len(b) > 0 {
		_, b = elem(b[scoreLen:])
		n++
	}
	return n
}

func flatZFind(b, member []byte) (rank int, found flatScored, ok bool) {
	flatZ(b, func(i int, e flatScored) bool {
		rank, found, ok = i, e, string(e.member) == string(member)
		return !ok
	})
	return rank, found, ok
}

// flatZInsert puts an entry that is not there where it belongs.
func flatZInsert(b, member []byte, score float64) []byte {
	at := len(b)
	flatZ(b, func(_ int, e flatScored) bool {
		if e.score > score || e.score == score && string(e.member) > string(member) {
			at = e.from
			return false
		}
		return true
	})
	old := len(b)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(score))
	b = appendElem(b, member)
	rotate(b[at:], old-at)
	return b
}

// rotate moves the first n bytes to the end.
func rotate(b []byte, n int) {
	slices.Reverse(b[:n])
	slices.Reverse(b[n:])
	slices.Reverse(b)
}

func flatCut(b []byte, s flatSpan) []byte { return slices.Delete(b, s.from, s.to) }
