package commands

import (
	"bytes"
	"math"

	"firn/mvcc"
)

// A zmerge runs an operation of set algebra as a merge: all inputs are in the
// order of positions, so that it needs no memory but a cursor for each.
type zmerge struct {
	*zalgebra
	c     *Call
	in    []zcursor
	yield func(member []byte, score float64) bool
	steps int
}

// A zcursor stands at an element of an input.
type zcursor struct {
	zset   mvcc.ZSetCursor
	set    mvcc.SetCursor
	isSet  bool
	done   bool
	order  int // place among the inputs
	weight float64

	pos    uint64
	member []byte
}

func (m *zmerge) open() {
	m.in = make([]zcursor, len(m.sources))
	for i := range m.sources {
		m.in[i].open(&m.sources[i], i)
	}
}

func (k *zcursor) open(s *zsource, order int) {
	k.order, k.weight = order, s.weight
	switch {
	case s.zset != nil:
		k.zset = s.zset.Cursor()
	case s.set != nil:
		k.set, k.isSet = s.set.Cursor(), true
	default:
		k.done = true
		return
	}
	k.next()
}

func (k *zcursor) next() {
	if k.isSet {
		k.at(k.set.Next())
	} else {
		k.at(k.zset.Next())
	}
}

// seek goes to the first element at or behind one.
func (k *zcursor) seek(pos uint64, member []byte) {
	if k.isSet {
		k.at(k.set.Seek(pos, member))
	} else {
		k.at(k.zset.Seek(pos, member))
	}
}

func (k *zcursor) at(ok bool) {
	switch {
	case !ok:
		k.done = true
	case k.isSet:
		k.pos, k.member = k.set.Pos(), k.set.Member()
	default:
		k.pos, k.member = k.zset.Pos(), k.zset.Member()
	}
}

// score is the element's score, times the input's weight. NaN is left to who
// folds it.
func (k *zcursor) score() float64 {
	if k.isSet {
		return k.weight
	}
	return k.weight * k.zset.Score()
}

func (k *zcursor) compare(o *zcursor) int {
	switch {
	case k.pos < o.pos:
		return -1
	case k.pos > o.pos:
		return 1
	}
	return bytes.Compare(k.member, o.member)
}

// pause is called for every element.
func (m *zmerge) pause() {
	m.c.pauseAt(m.steps)
	m.steps++
}

// notNaN makes 0 of what is no number: inf times a weight of 0.
func notNaN(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return f
}

// union takes the least element of all inputs again and again.
func (m *zmerge) union() {
	h := m.heap()
	for len(h) > 0 {
		pos, member := h[0].pos, h[0].member
		score := notNaN(h[0].score())
		for h = h.advance(); len(h) > 0 && h[0].pos == pos && bytes.Equal(h[0].member, member); h = h.advance() {
			score = m.aggregate(score, notNaN(h[0].score()))
		}
		m.pause()
		if !m.yield(member, score) {
			return
		}
	}
}

// inter leaps: where an input has not got the first one's element, the first
// goes on from where that input stands.
func (m *zmerge) inter() {
	first := &m.in[0]
	for !first.done {
		m.pause()
		if ahead := m.meet(); ahead != nil {
			if ahead.done {
				return
			}
			first.seek(ahead.pos, ahead.member)
			continue
		}
		if !m.yield(first.member, m.folded()) {
			return
		}
		first.next()
	}
}

// meet moves all others to the first one's element and returns one that has
// not got it, or nil.
func (m *zmerge) meet() *zcursor {
	first := &m.in[0]
	for i := 1; i < len(m.in); i++ {
		if k := &m.in[i]; !k.reach(first) {
			return k
		}
	}
	return nil
}

// reach moves to the element of another input, and says whether it is here.
func (k *zcursor) reach(o *zcursor) bool {
	if !k.done {
		k.seek(o.pos, o.member)
	}
	return !k.done && k.compare(o) == 0
}

// folded is the score of an element that all inputs stand at.
func (m *zmerge) folded() float64 {
	score := notNaN(m.in[0].score())
	for i := 1; i < len(m.in); i++ {
		score = m.aggregate(score, m.in[i].score())
	}
	return score
}

func (m *zmerge) diff() {
	for first := &m.in[0]; !first.done; first.next() {
		m.pause()
		if !m.inOthers() && !m.yield(first.member, first.score()) {
			return
		}
	}
}

// inOthers says whether some other input has the first one's element.
func (m *zmerge) inOthers() bool {
	for i := 1; i < len(m.in); i++ {
		if m.in[i].reach(&m.in[0]) {
			return true
		}
	}
	return false
}

// heap holds the inputs that are not at their end, the one with the least
// element on top; of equal elements, that of the first input.
func (m *zmerge) heap() mergeHeap[*zcursor] {
	var h mergeHeap[*zcursor]
	for i := range m.in {
		if !m.in[i].done {
			h = append(h, &m.in[i])
		}
	}
	h.order()
	return h
}

func (k *zcursor) move() bool {
	k.next()
	return !k.done
}

func (k *zcursor) before(o *zcursor) bool {
	if c := k.compare(o); c != 0 {
		return c < 0
	}
	return k.order < o.order
}
