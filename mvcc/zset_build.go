package mvcc

import (
	"bytes"
	"cmp"
	"slices"
)

// A ZSetBuilder makes a detached sorted set of members that come in the order
// of one of its trees, each once. It fills that tree at once and the other when
// all are there and can be sorted, so that both grow at their end only: about
// twice as fast as a ZSetWriter, whose second tree grows everywhere.
type ZSetBuilder struct {
	w       *ZSetWriter
	byScore bool
}

// NewZSetBuilder begins a sorted set of members in ascending order of (score,
// member), or else of (position, member).
func NewZSetBuilder(s *Space, byScore bool) *ZSetBuilder {
	return &ZSetBuilder{NewZSet(s), byScore}
}

// Add appends a member, which must stand behind all that were added before, with
// its score. The bytes are copied.
func (b *ZSetBuilder) Add(member []byte, score float64) {
	w := b.w
	if w.obj == nil {
		if w.Set(member, score); w.obj != nil {
			b.part()
		}
		return
	}
	c := w.tree()
	if b.byScore {
		c.scores.Set(scoreOrder(score), member, scoreNote(score))
	} else {
		var v [scoreLen]byte
		c.tree.Set(c.hash(member), member, encodeScore(&v, score))
	}
	l := w.limits
	w.grown(len(member) > l.ZSetValue || b.Len() > l.ZSetEntries)
}

// part empties the tree that is filled at the end.
func (b *ZSetBuilder) part() {
	if c := b.w.tree(); b.byScore {
		c.tree = newPtree()
	} else {
		c.scores = newPtree()
	}
}

// Len returns how many members there are.
func (b *ZSetBuilder) Len() int {
	if b.w.obj != nil && b.byScore {
		return b.w.tree().scores.Len()
	}
	return b.w.Len()
}

// A builtEntry is an entry of the tree that is filled at the end.
type builtEntry struct {
	order  uint64
	member []byte
	score  float64
}

// buildPause is after how many steps of Finish it pauses.
const buildPause = 512

// Finish returns the writer of the sorted set. Pause, which may be nil, is
// called between steps. The builder must not be used again.
func (b *ZSetBuilder) Finish(pause func()) *ZSetWriter {
	if b.w.obj == nil {
		return b.w
	}
	steps := 0
	step := func() {
		if steps++; steps%buildPause == 0 && pause != nil {
			pause()
		}
	}
	c := b.w.tree()
	all := b.entries(c, step)
	slices.SortFunc(all, func(x, y builtEntry) int {
		step()
		if x.order != y.order {
			return cmp.Compare(x.order, y.order)
		}
		return bytes.Compare(x.member, y.member)
	})
	for i := range all {
		e := &all[i]
		if b.byScore {
			var v [scoreLen]byte
			c.tree.Set(e.order, e.member, encodeScore(&v, e.score))
		} else {
			c.scores.Set(e.order, e.member, scoreNote(e.score))
		}
		step()
	}
	return b.w
}

// entries lists what the other tree must hold, in the order of the full one.
func (b *ZSetBuilder) entries(c *collection, step func()) []builtEntry {
	all := make([]builtEntry, 0, b.Len())
	if b.byScore {
		c.scores.Ascend(0, func(order uint64, member, note []byte) bool {
			step()
			all = append(all, builtEntry{c.hash(member), member, noteScore(order, note)})
			return true
		})
		return all
	}
	c.tree.Ascend(0, func(_ uint64, member, v []byte) bool {
		step()
		score := decodeScore(v)
		all = append(all, builtEntry{scoreOrder(score), member, score})
		return true
	})
	return all
}
