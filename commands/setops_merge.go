package commands

import (
	"bytes"

	"firn/mvcc"
)

// Sets of any size have their members in the same order, and so set algebra is
// a merge. Where one set has a long stretch without members of another, its
// cursor seeks over it, so that a small set and a huge one cost what the small
// one's members cost to look up (Demaine, López-Ortiz, Munro: "Adaptive set
// intersections, unions, and differences", SODA '00).

// A setHead is a cursor and the position of the member at which it stands.
type setHead struct {
	cur mvcc.SetCursor
	pos uint64
}

// heads opens a cursor for each set, in front of its first member.
func (a *setAlgebra) heads() []setHead {
	a.merged = true
	all := make([]setHead, len(a.in))
	for i := range a.in {
		all[i].cur = a.in[i].Cursor()
	}
	return all
}

func (h *setHead) next() bool {
	if !h.cur.Next() {
		return false
	}
	h.pos = h.cur.Pos()
	return true
}

func (h *setHead) seek(pos uint64, member []byte) bool {
	if !h.cur.Seek(pos, member) {
		return false
	}
	h.pos = h.cur.Pos()
	return true
}

// nearby is how many members a cursor goes step by step before it seeks.
const nearby = 4

// reach goes to the first member at or behind the position; false if there is
// none.
func (h *setHead) reach(pos uint64) bool {
	for n := 0; h.pos < pos; n++ {
		if n == nearby {
			return h.seek(pos, nil)
		}
		if !h.next() {
			return false
		}
	}
	return true
}

// reachMember goes on to a member at the position of the cursor, or to the first
// behind it, and says whether it is that member, and whether there is none. All
// but never is there more than one member at a position.
func (h *setHead) reachMember(member []byte) (found, ended bool) {
	switch order := bytes.Compare(h.cur.Member(), member); {
	case order >= 0:
		return order == 0, false
	case !h.seek(h.pos, member):
		return false, true
	}
	return bytes.Equal(h.cur.Member(), member), false
}

// at says whether the cursor stands at the member.
func (h *setHead) at(pos uint64, member []byte) bool {
	return h.pos == pos && bytes.Equal(h.cur.Member(), member)
}

// interMerge takes the smallest set's members, one after the other, to the other
// cursors; where one of them is beyond, the first follows it. Members are looked
// at only where all cursors have the same position.
func (a *setAlgebra) interMerge(yield func(member []byte) bool) {
	all := a.heads()
	for i := range all {
		if !all[i].next() {
			return
		}
	}
	lead := &all[0]
	for more := true; more; {
		a.step()
		ahead, ended := apart(all[1:], lead.pos)
		switch {
		case ended:
			return
		case ahead != nil:
			more = lead.reach(ahead.pos)
		default:
			a.pos = lead.pos
			more = lead.shared(all[1:], yield) && lead.next()
		}
	}
}

// apart brings the cursors to the position until one has gone beyond it, which
// is returned, or has ended.
func apart(heads []setHead, pos uint64) (ahead *setHead, ended bool) {
	for i := range heads {
		h := &heads[i]
		if h.pos < pos && !h.reach(pos) {
			return nil, true
		}
		if h.pos > pos {
			return h, false
		}
	}
	return nil, false
}

// shared yields the member of the cursor if the others, which stand at the same
// position, have it.
func (h *setHead) shared(others []setHead, yield func(member []byte) bool) bool {
	member := h.cur.Member()
	for i := range others {
		found, ended := others[i].reachMember(member)
		if !found {
			return !ended
		}
	}
	return yield(member)
}

// diffMerge takes the first set's members to the cursors of the others.
func (a *setAlgebra) diffMerge(yield func(member []byte) bool) {
	all := a.heads()
	lead, others := &all[0], make([]*setHead, 0, len(all))
	for i := range all[1:] {
		if h := &all[i+1]; h.next() {
			others = append(others, h)
		}
	}
	for lead.next() {
		a.step()
		a.pos = lead.pos
		var found bool
		if others, found = lead.in(others); !found && !yield(lead.cur.Member()) {
			return
		}
	}
}

// in says whether one of the others has the cursor's member, and returns those
// that have not ended.
func (h *setHead) in(others []*setHead) (left []*setHead, found bool) {
	for i := 0; i < len(others); {
		o := others[i]
		more := o.pos >= h.pos || o.reach(h.pos)
		if more && o.pos == h.pos {
			var ended bool
			found, ended = o.reachMember(h.cur.Member())
			more = !ended
		}
		switch {
		case found:
			return others, true
		case more:
			i++
		default:
			others = append(others[:i], others[i+1:]...)
		}
	}
	return others, false
}

// unionMerge takes the least member of all sets, again and again.
func (a *setAlgebra) unionMerge(yield func(member []byte) bool) {
	all := a.heads()
	var h mergeHeap[*setHead]
	for i := range all {
		if all[i].next() {
			h = append(h, &all[i])
		}
	}
	h.order()
	for len(h) > 0 {
		a.step()
		member := h[0].cur.Member()
		a.pos = h[0].pos
		if !yield(member) {
			return
		}
		for h = h.advance(); len(h) > 0 && h[0].at(a.pos, member); h = h.advance() {
			a.step()
		}
	}
}

func (h *setHead) before(o *setHead) bool {
	if h.pos != o.pos {
		return h.pos < o.pos
	}
	return bytes.Compare(h.cur.Member(), o.cur.Member()) < 0
}

func (h *setHead) move() bool { return h.next() }
