package mvcc

import (
	"bytes"
	"cmp"
	"slices"
)

// members is what the readers of hashes, sets and sorted sets share: the flat
// form or the object. It is a small value, made by Entry.Hash and its siblings.
type members struct {
	hash Hasher
	now  int64 // unix ms; members that have expired by then are not there
	flat []byte
	big  *collection // nil: flat
}

func (e *Entry) members(now int64) members {
	if e.obj != nil {
		return members{hash: e.hash, now: now, big: e.obj.val.(*collection)}
	}
	return members{hash: e.hash, now: now, flat: e.rec.value()}
}

// Small says whether the value is flat, to be scanned in one call.
func (m *members) Small() bool { return m.big == nil }

// HasExpiries says whether some member expires.
func (m *members) HasExpiries() bool { return m.big != nil && m.big.ttl.next() != 0 }

// ExpireAt returns when the member expires, unix ms; 0: never, or not there.
func (m *members) ExpireAt(member []byte) int64 {
	if m.big == nil {
		return 0
	}
	return m.big.ttl.get(m.hash(member), member)
}

// get finds a member of the object.
func (m *members) get(member []byte) (v []byte, ok bool) {
	pos := m.hash(member)
	v, ok = m.big.tree.Get(pos, member)
	return v, ok && !m.big.gone(pos, member, m.now)
}

// ascend yields the members of the object from a position on.
func (m *members) ascend(from uint64, yield func(pos uint64, member, v []byte) bool) {
	if m.big.ttl == nil {
		m.big.tree.AscendFrom(from, yield)
		return
	}
	m.big.tree.AscendFrom(from, func(pos uint64, member, v []byte) bool {
		return m.big.gone(pos, member, m.now) || yield(pos, member, v)
	})
}

// A placed is a member of a flat value with its position.
type placed struct {
	pos    uint64
	member []byte
	score  float64
}

func comparePlaced(a, b placed) int {
	if c := cmp.Compare(a.pos, b.pos); c != 0 {
		return c
	}
	return bytes.Compare(a.member, b.member)
}

// SetCursor goes over the members of a set in the order of (position, member).
// It begins in front of the first.
type SetCursor struct {
	c    ptreeCursor
	m    members
	flat []placed // those of a flat value, from the present one on
	on   bool     // the first of flat is the present one
}

func (m members) cursor(t Type) SetCursor {
	c := SetCursor{m: m}
	if m.big != nil {
		c.c = m.big.tree.Cursor()
		return c
	}
	if t == ZSet {
		flatZ(m.flat, func(_ int, e flatScored) bool {
			c.flat = append(c.flat, placed{m.hash(e.member), e.member, e.score})
			return true
		})
	} else {
		for rest := m.flat; len(rest) > 0; {
			var member []byte
			member, rest = elem(rest)
			c.flat = append(c.flat, placed{m.hash(member), member, 1})
		}
	}
	slices.SortFunc(c.flat, comparePlaced)
	return c
}

// Next moves to the next member; false at the end.
func (c *SetCursor) Next() bool {
	if c.m.big == nil {
		if c.on {
			c.flat = c.flat[1:]
		}
		c.on = true
		return len(c.flat) > 0
	}
	if c.m.big.ttl == nil {
		return c.c.Next()
	}
	for c.c.Next() {
		if !c.m.big.gone(c.c.Order(), c.c.Member(), c.m.now) {
			return true
		}
	}
	return false
}

// Pos returns the position of the present member.
func (c *SetCursor) Pos() uint64 {
	if c.m.big == nil {
		return c.flat[0].pos
	}
	return c.c.Order()
}

// Member returns the present member.
func (c *SetCursor) Member() []byte {
	if c.m.big == nil {
		return c.flat[0].member
	}
	return c.c.Member()
}

// Seek moves to the first member at or behind (pos, member), never backwards;
// false if there is none.
func (c *SetCursor) Seek(pos uint64, member []byte) bool {
	if c.m.big == nil {
		want := placed{pos: pos, member: member}
		i, _ := slices.BinarySearchFunc(c.flat, want, comparePlaced)
		c.flat, c.on = c.flat[i:], true
		return len(c.flat) > 0
	}
	if !c.c.Seek(pos, member) {
		return false
	}
	return c.m.big.ttl == nil || !c.m.big.gone(c.c.Order(), c.c.Member(), c.m.now) || c.Next()
}

// ZSetCursor is a SetCursor over a sorted set, with scores.
type ZSetCursor struct{ SetCursor }

// Score returns the score of the present member.
func (c *ZSetCursor) Score() float64 {
	if c.m.big == nil {
		return c.flat[0].score
	}
	return decodeScore(c.c.Value())
}
