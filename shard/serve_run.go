package shard

import (
	"slices"
	"sync"

	"firn/mvcc"
)

const (
	serveMost = 64   // clients that are served while shards are held
	linesMost = 1024 // keys whose clients are looked at meanwhile
	tryMost   = 64   // looks at a shard that is not free
)

// serve serves those who wait for what was written, before the shards are given
// back.
func (h *Hold) serve() {
	start := h.set.monotonic()
	left, at := serveMost, 0
	for at < len(h.ready) && at < linesMost {
		ln := h.ready[at]
		stuck := h.serveLine(ln, &left)
		h.Settle() // a move may have made more lines ready
		if stuck != nil {
			break
		}
		ln.queued = false
		at++
	}
	h.ready = slices.Delete(h.ready, 0, at)
	h.putOff()
	h.spent += int64(h.set.monotonic().Sub(start))
}

// Spent returns for how many nanoseconds the Hold has served who waited, since the
// last call.
func (h *Hold) Spent() (nanos int64) {
	if nanos = h.spent; nanos != 0 {
		h.spent = 0
	}
	return nanos
}

// serveLine serves the clients in line as long as there is something, at most so
// many. If it can't go on it returns the one who is next.
func (h *Hold) serveLine(ln *line, left *int) *seat {
	e, kind := h.look(ln)
	if kind != noKind {
		was, next := kind, (*seat)(nil)
		for st := ln.chains[kind].first; st != nil && kind == was; st = next {
			if next = st.next; !st.w.Client.Ready(&e, st.i) {
				continue
			}
			if *left == 0 || !h.reach(st.w) {
				return st
			}
			*left--
			h.serveSeat(st)
			e, kind = h.look(ln)
		}
	}
	return h.serveGone(ln, kind, left)
}

// serveGone tells those who want to know that there is no stream any more.
func (h *Hold) serveGone(ln *line, kind int, left *int) *seat {
	if ln.gone == 0 || kind == kindOf(mvcc.Stream) {
		return nil
	}
	for st := ln.chains[kindOf(mvcc.Stream)].first; st != nil; {
		next := st.next
		if st.w.Gone {
			if *left == 0 {
				return st
			}
			*left--
			h.serveSeat(st)
		}
		st = next
	}
	return nil
}

// look returns what is at the key.
func (h *Hold) look(ln *line) (e mvcc.Entry, kind int) {
	tx := &h.waiters
	now := h.set.clock()
	tx.Begin(h.set.Space, ln.db, now)
	e, ok := tx.Peek(ln.key)
	if stale := tx.TakeStale(); len(stale) > 0 && !h.set.still.Load() {
		tx.Expire(ln.key)
		h.noteExpired(tx.Expired, now)
		h.set.expired(tx.Expired)
	}
	if !ok {
		return e, noKind
	}
	return e, kindOf(e.Type())
}

// serveSeat serves a client, unless somebody else has ended its wait.
func (h *Hold) serveSeat(st *seat) {
	w := st.w
	st.owner.stand(st)
	if !w.Client.Claim() {
		return
	}
	now := h.set.clock()
	h.waiters.Begin(h.set.Space, w.DB, now)
	h.set.append(now, w.Client.Serve(&h.waiters, st.i))
	h.served = append(h.served, w.Client)
}

// reach says whether the key that the client's command writes beside is held and
// nobody's, taking its shard if that is free.
func (h *Hold) reach(w *Waiter) bool {
	if w.Dest == nil {
		return true
	}
	i := h.set.Space.StoreOf(w.dest)
	if !slices.Contains(h.held, i) && !h.tryTake(i) {
		return false
	}
	sh := h.set.shards[i]
	if h.late {
		return sh.lockedForLong(w.dest) == nil
	}
	return !sh.lockedBy(w.dest)
}

// tryTake takes one more shard, in whatever order, if it is free now.
func (h *Hold) tryTake(i int) bool {
	for range tryMost {
		if h.set.shards[i].mu.TryLock() {
			h.held = append(h.held, i)
			return true
		}
	}
	return false
}

// putOff locks the keys that were not served and leaves them to the heavy pool.
func (h *Hold) putOff() {
	if len(h.ready) == 0 {
		return
	}
	for _, i := range h.held {
		h.set.shards[i].lockLines(h.ready)
	}
	h.set.serveLater(h.ready...)
	clear(h.ready)
	h.ready = h.ready[:0]
}

// lockLines puts one lock on those of the keys that are the shard's and not locked.
func (sh *Shard) lockLines(lines []*line) {
	var l *Lock
	for _, ln := range lines {
		if ln.lock != nil || ln.owner != sh {
			continue
		}
		if l == nil {
			l = &Lock{serving: true}
		}
		ln.lock = l
		l.pos = append(l.pos, ln.pos)
	}
	if l != nil {
		l.lines = len(l.pos)
		slices.Sort(l.pos)
		sh.addLock(l)
	}
}

// unlock says that the line was served. If it was the last one of its lock it
// returns the lock, which is the caller's to release.
func (ln *line) unlock() *Lock {
	l := ln.lock
	ln.lock = nil
	if l.lines--; l.lines > 0 {
		return nil
	}
	ln.owner.removeLock(l)
	return l
}

// deliver lets the replies of those who were served go.
func (h *Hold) deliver() {
	for _, c := range h.served {
		c.Served()
	}
	clear(h.served)
	h.served = h.served[:0]
}

// A backlog is the lines that could not be served at once.
type backlog struct {
	mu    sync.Mutex
	lines []*line
	busy  bool // the heavy pool serves them
}

// serveLater has the heavy pool serve the lines, whose keys are locked.
func (s *Set) serveLater(lines ...*line) {
	b := &s.backlog
	b.mu.Lock()
	b.lines = append(b.lines, lines...)
	start := !b.busy
	b.busy = true
	b.mu.Unlock()
	if start {
		s.Heavy.Go(s.serveBacklog) // or it is closed, and nobody waits any more
	}
}

// nextLate returns the next line to serve; nil if there is none, and nobody
// serves from then on.
func (s *Set) nextLate() *line {
	b := &s.backlog
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lines) == 0 {
		b.busy, b.lines = false, nil
		return nil
	}
	ln := b.lines[0]
	b.lines = b.lines[1:]
	return ln
}

func (s *Set) serveBacklog() {
	h := s.NewHold()
	h.late = true
	for ln := s.nextLate(); ln != nil; ln = s.nextLate() {
		h.serveLate(ln)
	}
}

// serveLate serves a line whose key is locked, in slices, and takes the lock off.
// If it has to wait for a long write it puts the line off once more.
func (h *Hold) serveLate(ln *line) {
	var also []uint64
	for {
		h.pos = append(append(h.pos[:0], ln.pos), also...)
		h.take()
		left := serveMost
		st := h.serveLine(ln, &left)
		h.Settle()
		h.putOff() // what else is ready now
		var off, wait *Lock
		switch also = nil; {
		case st == nil:
			ln.queued = false
			off = ln.unlock()
		case st.w.Dest != nil:
			also = []uint64{st.w.dest}
			wait = h.longLock(st.w.dest)
		}
		h.letGo()
		if off != nil {
			off.release()
		}
		if wait != nil {
			wait.Wait(func() { h.set.serveLater(ln) })
		}
		if st == nil || wait != nil {
			return
		}
		h.set.Heavy.Yield()
	}
}

// longLock returns the long write's or store's lock on the position, if its shard
// is held.
func (h *Hold) longLock(pos uint64) *Lock {
	i := h.set.Space.StoreOf(pos)
	if !slices.Contains(h.held, i) {
		return nil
	}
	return h.set.shards[i].lockedForLong(pos)
}
