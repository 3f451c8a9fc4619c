package shard

// A Store is a heavy command that reads some keys and puts a result under
// others; see the package doc.
type Store struct {
	DB   int
	Now  int64 // unix ms, by which expiry is judged
	Keys Keys  // all, those that are written included
	All  bool  // it may read any key, also such that Keys doesn't name
	Dest Keys  // those that are written

	// Compute makes the result from the frozen inputs, between slices calling
	// what gives others their turn. It returns what puts the result under its
	// keys, for which it gets a Hold of their shards and returns the effects; or
	// nil if nothing is to be written. The cut is released before that.
	Compute func(cut *Cut) (commit func(h *Hold) []Effect)
}

// Store runs a store. It must be called from a task of the heavy pool.
func (s *Set) Store(op Store) {
	s.stats.Stores.Add(1)
	h := s.NewHold()
	h.wantMany(op.Keys)
	if op.All {
		h.WantAll()
	}
	out := s.NewHold()
	out.wantMany(op.Dest)
	l := newLock(out.pos)

	// The instant: all inputs are frozen and the results' keys locked.
	h.takeWaiting()
	cut := h.Freeze(op.DB, op.Now)
	h.lockKeys(l)
	h.Give()

	var commit func(h *Hold) []Effect
	defer func() { out.finish(l, commit) }()
	defer cut.Release()
	commit = op.Compute(cut)
}

// finish writes what was computed, if anything, and takes the lock off.
func (h *Hold) finish(l *Lock, commit func(*Hold) []Effect) {
	h.take() // its own lock does not stop it
	h.eachHeld(func(sh *Shard) { sh.removeLock(l) })
	if commit != nil {
		h.Commit(h.set.clock(), commit(h))
	}
	h.Give()
	l.release()
}

// lockKeys puts the lock on those of the held shards that have one of its keys.
func (h *Hold) lockKeys(l *Lock) {
	last := -1
	for _, p := range l.pos {
		if i := h.set.Space.StoreOf(p); i != last { // sorted by position, and so by store
			h.set.shards[i].addLock(l)
			last = i
		}
	}
}
