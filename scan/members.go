package scan

// A Pager chooses what one call of SCAN, HSCAN, SSCAN or ZSCAN returns, of
// elements that are walked in the order of their positions: about COUNT of them
// from a cursor on, and those that share the last one's cursor.
//
// The members of a collection have positions as keys have, by the same hash, so
// that what SCAN promises of keys holds of members too: one that is there from
// the first call to the last is returned exactly once, and a call costs
// O(COUNT). A value that is small enough to be flat is returned whole by the
// first call, with cursor 0.
type Pager struct {
	left int64
	last Cursor
	next Cursor
}

// NewPager begins a page of count elements, which must be positive, at the
// cursor. It returns the position that the walk must begin at; false if no
// element can stand there, because the cursor is none of ours.
func NewPager(from Cursor, count int64) (p Pager, pos uint64, ok bool) {
	pos, ok = from.position()
	return Pager{left: count}, pos, ok
}

// Take says whether the element at the position, which is the next of the walk,
// belongs to the page. If it doesn't, the walk must end.
func (p *Pager) Take(pos uint64) bool {
	at := cursorAt(pos)
	if p.left <= 0 && at != p.last {
		p.next = at
		return false
	}
	p.left, p.last = p.left-1, at
	return true
}

// Next returns the cursor of the element after the page; 0 if there is none.
func (p *Pager) Next() Cursor { return p.next }
