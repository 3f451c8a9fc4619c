package shard

import (
	"slices"
	"sync"

	"firn/mvcc"
)

// A Lock is the set of keys that a long write or a store has to itself. Commands
// on these keys wait in line for it; everything else goes on.
type Lock struct {
	pos     []uint64 // sorted
	serving bool     // of those who wait for the keys: see the package doc
	lines   int      // of these, not yet served

	mu      sync.Mutex
	done    bool
	waiters []func()
}

// newLock returns a lock on the positions.
func newLock(pos []uint64) *Lock {
	l := &Lock{pos: slices.Clone(pos)}
	slices.Sort(l.pos)
	l.pos = slices.Compact(l.pos)
	return l
}

// hasAny says whether one of the positions is locked.
func (l *Lock) hasAny(pos []uint64) bool { return slices.ContainsFunc(pos, l.has) }

func (l *Lock) has(pos uint64) bool {
	_, ok := slices.BinarySearch(l.pos, pos)
	return ok
}

// Wait calls f when the lock is gone, in the order of the calls; at once if it
// is gone already. f must be quick and must not take shards.
func (l *Lock) Wait(f func()) {
	l.mu.Lock()
	if !l.done {
		l.waiters = append(l.waiters, f)
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	f()
}

func (l *Lock) release() {
	l.mu.Lock()
	l.done = true
	waiters := l.waiters
	l.waiters = nil
	l.mu.Unlock()
	for _, f := range waiters {
		f()
	}
}

// longWriter is the one place for a long write, with a line in front of it.
type longWriter struct {
	mu   sync.Mutex
	busy bool
	line []chan struct{}
}

func (w *longWriter) enter(block func(func())) {
	w.mu.Lock()
	if !w.busy {
		w.busy = true
		w.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	w.line = append(w.line, turn)
	w.mu.Unlock()
	block(func() { <-turn })
}

func (w *longWriter) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.line) == 0 {
		w.busy = false
		return
	}
	close(w.line[0])
	w.line = w.line[1:]
}

// Keys names keys, by calling want with each of them.
type Keys func(want func(key []byte))

// Freeze returns a cut of the shards of the keys, as they are when nobody has
// one of them locked. It must be called from a task of the heavy pool, which it
// leaves while it waits.
func (s *Set) Freeze(db int, now int64, keys Keys) *Cut {
	h := s.NewHold()
	h.wantMany(keys)
	h.takeWaiting()
	defer h.Give()
	return h.Freeze(db, now)
}

// wantMany is Want for so many keys that hashing them is work of its own.
func (h *Hold) wantMany(keys Keys) {
	n := 0
	keys(func(key []byte) {
		h.Want(key)
		if n++; n%4096 == 0 {
			h.set.Heavy.Yield()
		}
	})
}

// takeWaiting takes the wanted shards when none of the keys is locked. It leaves
// the heavy pool while it waits.
func (h *Hold) takeWaiting() {
	for l := h.Take(false); l != nil; l = h.Take(false) {
		gone := make(chan struct{})
		l.Wait(func() { close(gone) })
		h.set.Heavy.Block(func() { <-gone })
	}
}

// Long runs a write of many keys in slices; see the package doc. It must be
// called from a task of the heavy pool. The databases are those that run will
// write. run gets the Tx and must call pause between elements; it returns the
// effects, which are handed to the journal at the instant at which the write
// takes effect.
func (s *Set) Long(keys [][]byte, dbs []int, run func(h *Hold, pause func()) []Effect) {
	s.long.enter(s.Heavy.Block)
	defer s.long.leave()
	s.stats.LongWrites.Add(1)
	h := s.NewHold()
	h.wantMany(func(want func([]byte)) {
		for _, k := range keys {
			want(k)
		}
	})
	l := newLock(h.pos)
	h.lock(l, dbs)
	effects := run(h, h.pause(s.Heavy))
	h.unlock(l, dbs, s.clock(), effects)
	h.Give()
	l.release()
}

// A Transaction is several commands that run as one long write.
type Transaction struct {
	// Want makes the Hold want every key that the commands name.
	Want func(h *Hold)
	// DBs are the databases that they can write.
	DBs []int
	// Run runs the commands, with the Hold open, and calls pause between slices.
	Run func(h *Hold, pause func())
}

// Transact runs a transaction in slices. It must be called from a task of the
// heavy pool.
func (s *Set) Transact(t Transaction) {
	s.long.enter(s.Heavy.Block)
	defer s.long.leave()
	h := s.NewHold()
	t.Want(h)
	l := newLock(h.pos)
	h.pos = append(h.pos[:0], l.pos...) // many name the same key
	h.takeWaiting()
	s.stats.LongWrites.Add(1)
	h.eachHeld(func(sh *Shard) { sh.splice(l, t.DBs) })
	h.opened = opened{on: true, splice: true, lock: l, dbs: t.DBs}
	give := h.pause(s.Heavy)
	t.Run(h, func() {
		h.eachHeld(s.settle)
		give()
	})
	dbs := h.opened.dbs
	h.unlock(l, dbs, s.clock(), h.shut())
	h.Give()
	l.release()
}

// Reach runs f with the shards of what want wants held, whatever is locked: for
// what is no part of the data.
func (s *Set) Reach(want func(h *Hold), f func()) {
	h := s.NewHold()
	want(h)
	if h.all {
		h.takeAll()
	} else {
		h.take()
	}
	defer h.Give()
	f()
}

// lock takes the shards, puts the lock on them and opens the splices.
func (h *Hold) lock(l *Lock, dbs []int) {
	h.takeWaiting() // for a store; there is no other long write
	h.eachHeld(func(sh *Shard) { sh.splice(l, dbs) })
}

// unlock makes the splices visible and takes the lock off.
func (h *Hold) unlock(l *Lock, dbs []int, now int64, effects []Effect) {
	h.eachHeld(func(sh *Shard) {
		for _, db := range dbs {
			sh.store.EndSplice(db)
		}
		sh.removeLock(l)
	})
	h.Commit(now, effects)
}

func (sh *Shard) removeLock(l *Lock) {
	sh.locks = slices.DeleteFunc(sh.locks, func(o *Lock) bool { return o == l })
}

func (h *Hold) eachHeld(f func(*Shard)) {
	for _, i := range h.held {
		f(h.set.shards[i])
	}
}

// pause returns what a long write calls between elements: everybody else may
// have the shards, and other heavy work the place.
func (h *Hold) pause(p *Pool) func() {
	return func() {
		for _, i := range h.held {
			h.set.shards[i].mu.Unlock()
		}
		p.Yield()
		h.set.giveWay(h.held...)
		for _, i := range h.held {
			h.set.shards[i].lock()
		}
	}
}

// lockedBy says whether the position of the shard is locked.
func (sh *Shard) lockedBy(pos uint64) bool {
	return slices.ContainsFunc(sh.locks, func(l *Lock) bool { return l.has(pos) })
}

var _ mvcc.Cut = (*Cut)(nil)
