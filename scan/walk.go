package scan

import (
	"math"

	"firn/mvcc"
)

// A Span is a range of positions, both ends included.
type Span struct{ First, Last uint64 }

// Everywhere is the Span of all positions.
func Everywhere() Span { return Span{0, math.MaxUint64} }

// SpanOf returns where the keys are that a pattern can match: one position for
// a pattern without wildcards, those of one hash tag for a pattern that begins
// with it (`{user1}:*`), everywhere for any other.
func SpanOf(g *Glob, space *mvcc.Space) Span {
	if key, ok := g.Literal(); ok {
		pos := space.Hash(key)
		return Span{pos, pos}
	}
	var s Span
	s.First, s.Last = space.PrefixSpan(g.Prefix())
	return s
}

// pauseEvery is how many keys a walk visits between two pauses.
const pauseEvery = 256

// A Walk goes over the keys of a cut in position order, store by store. It
// freezes a store when it gets there, reads the frozen versions only, and
// writes nothing. Expired keys are visited, but not yielded.
type Walk struct {
	Cut   mvcc.Cut
	Span  Span
	Pause func() // called every 256 keys; may be nil

	visited int64
}

// Each yields every key of the span until yield returns false.
func (w *Walk) Each(yield func(k mvcc.Key) bool) {
	now := w.Cut.Now()
	w.visit(w.Span.First, math.MaxInt64, func(k mvcc.Key) bool { return k.Expired(now) || yield(k) })
}

// Page visits count keys of the span from the cursor on, and those that share
// the last one's cursor, and returns the cursor of the key after them; 0 at the
// end. It costs O(count), wherever the cursor is and however many keys were
// deleted.
func (w *Walk) Page(from Cursor, count int64, yield func(k mvcc.Key)) (next Cursor) {
	page, pos, ok := NewPager(from, count)
	if !ok {
		return 0
	}
	now := w.Cut.Now()
	w.visit(max(pos, w.Span.First), count, func(k mvcc.Key) bool {
		if !page.Take(k.Pos) {
			return false
		}
		if !k.Expired(now) {
			yield(k)
		}
		return true
	})
	return page.Next()
}

// visit yields every key of the span from the position on, the expired ones
// too; about so many will be enough.
func (w *Walk) visit(from uint64, enough int64, yield func(k mvcc.Key) bool) {
	if from > w.Span.Last {
		return
	}
	space := w.Cut.Space()
	enough = max(enough, enough+1) // one more shows where to go on
	start := w.visited
	for i := space.StoreOf(from); i <= space.StoreOf(w.Span.Last); i++ {
		more := w.Cut.Version(i).Walk(from, w.Span.Last, enough-(w.visited-start), func(k mvcc.Key) bool {
			if w.visited++; w.visited%pauseEvery == 0 && w.Pause != nil {
				w.Pause()
			}
			return yield(k)
		})
		if !more {
			return
		}
	}
}
