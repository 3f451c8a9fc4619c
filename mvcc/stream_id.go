package mvcc

import (
	"cmp"
	"math"
	"strconv"
)

// A StreamID is the id of a stream's entry: a time in unix ms and a sequence
// number within it. It need not be a real time.
type StreamID struct{ Ms, Seq uint64 }

// MaxStreamID is the greatest id.
var MaxStreamID = StreamID{math.MaxUint64, math.MaxUint64}

// Compare returns a negative number if a comes before b, 0 if they are equal.
func (a StreamID) Compare(b StreamID) int {
	if a.Ms != b.Ms {
		return cmp.Compare(a.Ms, b.Ms)
	}
	return cmp.Compare(a.Seq, b.Seq)
}

func (a StreamID) compare(b StreamID) int { return a.Compare(b) }

// Less says whether a comes before b.
func (a StreamID) Less(b StreamID) bool { return a.Ms < b.Ms || a.Ms == b.Ms && a.Seq < b.Seq }

// IsZero says whether the id is 0-0, which no entry has.
func (a StreamID) IsZero() bool { return a == StreamID{} }

// Next returns the id after a; of the greatest one there is none.
func (a StreamID) Next() (next StreamID, ok bool) {
	switch {
	case a.Seq != math.MaxUint64:
		return StreamID{a.Ms, a.Seq + 1}, true
	case a.Ms != math.MaxUint64:
		return StreamID{a.Ms + 1, 0}, true
	}
	return StreamID{}, false
}

// Prev returns the id before a; of 0-0 there is none.
func (a StreamID) Prev() (prev StreamID, ok bool) {
	switch {
	case a.Seq != 0:
		return StreamID{a.Ms, a.Seq - 1}, true
	case a.Ms != 0:
		return StreamID{a.Ms - 1, math.MaxUint64}, true
	}
	return MaxStreamID, false
}

// Append appends the id as it is written: "1526919030474-55".
func (a StreamID) Append(dst []byte) []byte {
	dst = append(strconv.AppendUint(dst, a.Ms, 10), '-')
	return strconv.AppendUint(dst, a.Seq, 10)
}

// String returns what Append appends.
func (a StreamID) String() string { return string(a.Append(nil)) }
