package shard

import (
	"bytes"
	"cmp"
	"slices"
	"sync/atomic"

	"firn/mvcc"
)

// A Waiter is a client that waits for something at some keys. Whoever makes it
// fills in the exported fields; Await gives it its places in the lines of the
// keys, Leave takes it out of them. The bytes of the keys must stay as they are
// until Leave has returned, or Serve has.
type Waiter struct {
	Client Blocked
	DB     int
	Keys   [][]byte
	Type   mvcc.Type // List, ZSet or Stream: of the values that help
	Dest   []byte    // the key that Serve writes beside the one with something; nil: none
	Gone   bool      // it is also to be served when no value of the type is there

	dest  uint64 // position of Dest
	seats []seat
	left  atomic.Int32 // seats that are in a line
}

// Blocked is what a Waiter's owner does when there may be something. All but
// Served are called with the shards of the key and of Dest held.
type Blocked interface {
	// Ready says whether the value at the i-th key, of the Waiter's type, helps.
	Ready(e *mvcc.Entry, i int) bool
	// Claim makes the caller the one who ends the wait, once. If it says false
	// somebody else has.
	Claim() bool
	// Serve runs the command with the i-th key and returns its effects. It comes
	// after a Claim.
	Serve(tx *mvcc.Tx, i int) []Effect
	// Served lets the reply go: the journal knows of it, and no shard is held.
	Served()
}

// A seat is a Waiter's place in the line of one of its keys.
type seat struct {
	w          *Waiter
	i          int // of the key
	owner      *Shard
	line       *line // nil: it has left
	prev, next *seat
}

// chain is those of a line who wait for one type, in the order in which they came.
type chain struct{ first, last *seat }

// A line is who waits for one key. It is its shard's.
type line struct {
	mark   *mvcc.Mark
	owner  *Shard
	db     int
	pos    uint64
	key    []byte
	chains [3]chain // by kindOf
	n      int
	gone   int    // of them, whose Waiter says Gone
	order  uint64 // mvcc.Mark.Order of what made it ready
	queued bool   // is ready, and will be served
	lock   *Lock  // on the key, from the time on when it could not be served at once
	twin   *line  // of another key at the position
}

const noKind = -1

// kindOf is the chain of those who wait for the type.
func kindOf(t mvcc.Type) int {
	switch t {
	case mvcc.List:
		return 0
	case mvcc.ZSet:
		return 1
	case mvcc.Stream:
		return 2
	}
	return noKind
}

// Await puts the Waiter into the lines of its keys, whose shards are held. If
// something comes from here on, it is served.
func (h *Hold) Await(w *Waiter) {
	space := h.set.Space
	if w.Dest != nil {
		w.dest = space.Hash(w.Dest)
	}
	w.seats = make([]seat, len(w.Keys))
	w.left.Store(int32(len(w.Keys)))
	for i, key := range w.Keys {
		pos := space.Hash(key)
		st := &w.seats[i]
		*st = seat{w: w, i: i, owner: h.set.shards[space.StoreOf(pos)]}
		st.owner.lineOf(w.DB, pos, key).add(st)
	}
}

// Leave takes the Waiter out of the lines in which it is. It must have been
// claimed, and nothing may be held.
func (s *Set) Leave(w *Waiter) {
	for i := range w.seats {
		if w.left.Load() == 0 {
			return
		}
		st := &w.seats[i]
		st.owner.lock()
		st.owner.stand(st)
		st.owner.mu.Unlock()
	}
}

// lineOf returns the line of the key, a new one if nobody waits there.
func (sh *Shard) lineOf(db int, pos uint64, key []byte) *line {
	m := sh.store.Mark(db, pos)
	for ln := sh.lines[m]; ln != nil; ln = ln.twin {
		if bytes.Equal(ln.key, key) {
			return ln
		}
	}
	if sh.lines == nil {
		sh.lines = map[*mvcc.Mark]*line{}
	}
	ln := &line{mark: m, owner: sh, db: db, pos: pos, key: bytes.Clone(key), twin: sh.lines[m]}
	sh.lines[m] = ln
	return ln
}

// add puts the seat at the end. Its use of the mark is counted already.
func (ln *line) add(st *seat) {
	st.line = ln
	c := &ln.chains[kindOf(st.w.Type)]
	if st.prev = c.last; st.prev == nil {
		c.first = st
	} else {
		st.prev.next = st
	}
	c.last = st
	ln.n++
	ln.mark.Blocked++
	ln.mark.Types |= 1 << st.w.Type
	if st.w.Gone {
		ln.gone++
	}
}

// stand takes the seat out of its line, if it is in it.
func (sh *Shard) stand(st *seat) {
	ln := st.line
	if ln == nil {
		return
	}
	c := &ln.chains[kindOf(st.w.Type)]
	if st.prev == nil {
		c.first = st.next
	} else {
		st.prev.next = st.next
	}
	if st.next == nil {
		c.last = st.prev
	} else {
		st.next.prev = st.prev
	}
	st.line, st.prev, st.next = nil, nil, nil
	if st.w.Gone {
		ln.gone--
	}
	if ln.n--; ln.n == 0 {
		sh.forget(ln)
	}
	if ln.mark.Blocked--; ln.mark.Blocked == 0 {
		ln.mark.Types = 0
	}
	sh.store.Unmark(ln.mark)
	st.w.left.Add(-1)
}

// forget drops a line in which nobody is. Who has it still, to serve it, finds
// nobody.
func (sh *Shard) forget(ln *line) {
	m := ln.mark
	first := sh.lines[m]
	if first == ln {
		if first = ln.twin; first == nil {
			delete(sh.lines, m)
			return
		}
		sh.lines[m] = first
		return
	}
	for at := first; at != nil; at = at.twin {
		if at.twin == ln {
			at.twin = ln.twin
		}
	}
}

// ready adds the lines of the shard whose keys were written. A key that a long
// write or a store has locked waits until that is done.
func (sh *Shard) ready(to []*line) []*line {
	late := sh.late
	sh.late = nil
	for _, m := range sh.store.TakeTouched() {
		for ln := sh.lines[m]; ln != nil; ln = ln.twin {
			if !ln.queued {
				ln.queued, ln.order = true, m.Order()
				late = append(late, ln)
			}
		}
	}
	for _, ln := range late {
		if sh.lockedForLong(ln.pos) != nil {
			sh.late = append(sh.late, ln)
			continue
		}
		to = append(to, ln)
	}
	return to
}

// lockedForLong returns the lock that a long write or a store has on the position.
func (sh *Shard) lockedForLong(pos uint64) *Lock {
	for _, l := range sh.locks {
		if !l.serving && l.has(pos) {
			return l
		}
	}
	return nil
}

// collect finds the lines that are to be served before the shards are given back,
// in the order in which something came.
func (h *Hold) collect() {
	n := len(h.ready)
	for _, i := range h.held {
		if sh := h.set.shards[i]; sh.store.AnyTouched() || len(sh.late) > 0 {
			h.ready = sh.ready(h.ready)
		}
	}
	if len(h.ready) > n+1 {
		slices.SortStableFunc(h.ready[n:], func(a, b *line) int { return cmp.Compare(a.order, b.order) })
	}
}
