package shard

import "firn/mvcc"

// A Hold takes shards for one command at a time. It belongs to one goroutine
// and is used again and again.
//
//	h.Reset(); h.Want(key)…        which shards
//	if l := h.Take(); l != nil …   one of the keys is locked: wait for it
//	…h.Tx or h.View…               run
//	h.Commit(effects)              tell the journal, settle the account
//	h.Give()                       give the shards back
type Hold struct {
	Tx   mvcc.Tx
	View mvcc.View

	set    *Set
	pos    []uint64 // of the wanted keys
	marked []bool   // wanted shards
	held   []int    // shards held, ascending
	all    bool
	opened opened
	warmer mvcc.Warmer
	ahead  mvcc.Warmer // for WarmHeld

	waiters mvcc.Tx   // for those who waited for what was written
	ready   []*line   // to be served before the shards are given back
	served  []Blocked // whose replies may go after that
	late    bool      // it serves the backlog
	spent   int64     // nanoseconds of serving
}

// NewHold returns a Hold for the set.
func (s *Set) NewHold() *Hold {
	return &Hold{set: s, marked: make([]bool, len(s.shards))}
}

// Reset forgets what was wanted. Nothing must be held.
func (h *Hold) Reset() {
	if h.opened.on {
		return
	}
	h.pos, h.all = h.pos[:0], false
	if cap(h.pos) > 4096 {
		h.pos = nil
	}
}

// Want adds the shard of a key to what Take takes.
func (h *Hold) Want(key []byte) {
	if !h.opened.on {
		h.pos = append(h.pos, h.set.Space.Hash(key))
	}
}

// WantAt is Want for a key whose position is known.
func (h *Hold) WantAt(pos uint64) {
	if !h.opened.on {
		h.pos = append(h.pos, pos)
	}
}

// WantAll makes Take take every shard, also beside wanted keys.
func (h *Hold) WantAll() { h.all = h.all || !h.opened.on }

// Take takes the wanted shards, in index order. If one of the wanted keys is
// locked it takes nothing and returns the lock, to wait for. After WantAll, that
// is so of keys that were not wanted by name only if exclusive.
func (h *Hold) Take(exclusive bool) *Lock {
	if h.opened.on {
		return nil
	}
	if h.all {
		h.takeAll()
	} else {
		h.take()
	}
	if l := h.locked(exclusive); l != nil {
		h.Give()
		return l
	}
	return nil
}

func (h *Hold) take() {
	if len(h.pos) == 1 {
		i := h.set.Space.StoreOf(h.pos[0])
		h.set.shards[i].lock()
		h.held = append(h.held, i)
		return
	}
	for _, p := range h.pos {
		h.marked[h.set.Space.StoreOf(p)] = true
	}
	for i, want := range h.marked {
		if want {
			h.marked[i] = false
			h.set.shards[i].lock()
			h.held = append(h.held, i)
		}
	}
}

func (h *Hold) takeAll() {
	for i, sh := range h.set.shards {
		sh.lock()
		h.held = append(h.held, i)
	}
}

// locked returns a lock on one of the wanted keys.
func (h *Hold) locked(exclusive bool) *Lock {
	for _, i := range h.held {
		for _, l := range h.set.shards[i].locks {
			if h.all && exclusive || l.hasAny(h.pos) {
				return l
			}
		}
	}
	return nil
}

// AllWithLocks says whether every shard is held and some key is locked.
func (h *Hold) AllWithLocks() bool {
	if h.all {
		for _, i := range h.held {
			if len(h.set.shards[i].locks) > 0 {
				return true
			}
		}
	}
	return false
}

// Warm fetches what lookups of the keys will need into the caches. Nothing must
// be held. What it remembers for Seat it keeps until Cool.
func (h *Hold) Warm(places []mvcc.Place) {
	h.Cool()
	if len(places) == 0 {
		return
	}
	h.Reset()
	for _, p := range places {
		h.pos = append(h.pos, p.Pos)
	}
	h.take()
	for _, p := range places {
		h.warmer.Add(h.set.Space, p)
	}
	h.warmer.Run()
	h.Give()
}

// warmHeld is how many keys WarmHeld fetches at most: so many stay in the
// caches until the command comes to them.
const warmHeld = 128

// WarmHeld fetches what the lookups of one command will need, if it has several
// keys: those that were wanted and are held, in the database. What it remembers
// for Next it keeps until Cool.
func (h *Hold) WarmHeld(db int) {
	if len(h.pos) < 2 || h.opened.on {
		return
	}
	h.ahead.Forget()
	for _, pos := range h.pos[:min(len(h.pos), warmHeld)] {
		h.ahead.Add(h.set.Space, mvcc.Place{DB: db, Pos: pos})
	}
	h.ahead.Run()
}

// Next makes the lookup of the i-th of the wanted keys short, by these very
// bytes, in h.Tx or h.View. It must be the next lookup.
func (h *Hold) Next(v *mvcc.View, i int, key []byte) {
	if h.opened.on {
		return // the wanted keys are those of all its commands
	}
	v.Hint(key, h.pos[i])
	h.ahead.Seat(i, h.pos[i])
}

// Seat makes the lookup of the position short, the i-th of the places that were
// warmed last. Its shard must be held.
func (h *Hold) Seat(i int, pos uint64) { h.warmer.Seat(i, pos) }

// Cool forgets what was warmed.
func (h *Hold) Cool() {
	h.warmer.Forget()
	h.ahead.Forget()
}

// Held says whether any shard is held.
func (h *Hold) Held() bool { return len(h.held) > 0 }

// Give gives all held shards back, after serving who waits for what was written.
func (h *Hold) Give() {
	if h.opened.on {
		return
	}
	if len(h.ready) > 0 {
		h.serve()
	}
	h.letGo()
}

func (h *Hold) letGo() {
	for _, i := range h.held {
		h.set.shards[i].mu.Unlock()
	}
	h.held = h.held[:0]
	if len(h.served) > 0 {
		h.deliver()
	}
}

// Commit hands the effects of what was written to the journal and settles the
// accounts of the held shards.
func (h *Hold) Commit(now int64, effects []Effect) {
	if h.opened.on {
		h.gather(effects)
		return
	}
	h.set.append(now, effects)
	h.Settle()
}

// Settle brings the accounts of the held shards up to date.
func (h *Hold) Settle() {
	if h.opened.on {
		return
	}
	for _, i := range h.held {
		h.set.settle(h.set.shards[i])
	}
	h.collect()
}

// Expire removes the expired keys that h.View came across, with their effects.
func (h *Hold) Expire(now int64) []mvcc.Removed {
	stale := h.View.TakeStale()
	if len(stale) == 0 || h.set.still.Load() {
		return nil
	}
	h.Begin(h.View.DB(), now)
	for _, key := range stale {
		h.Tx.Expire(key)
	}
	h.Forget(now)
	return h.Tx.Expired
}

// Forget tells the journal of the keys that h.Tx found expired, where no
// command's effects do.
func (h *Hold) Forget(now int64) {
	h.noteExpired(h.Tx.Expired, now)
	h.set.stats.ExpiredByRead.Add(keysOf(h.Tx.Expired))
	h.Settle()
}

// CountExpired counts the keys that a writing command found expired; its
// effects name them.
func (h *Hold) CountExpired() {
	if n := keysOf(h.Tx.Expired); n > 0 {
		h.set.stats.Expired.Add(n)
		h.set.stats.ExpiredByRead.Add(n)
	}
}

// keysOf counts the keys among what was removed; the others are members.
func keysOf(removed []mvcc.Removed) (n int64) {
	for i := range removed {
		if removed[i].Member == nil {
			n++
		}
	}
	return n
}

func (h *Hold) noteExpired(removed []mvcc.Removed, now int64) {
	h.set.stats.Expired.Add(keysOf(removed))
	if !h.set.Journaled() {
		return
	}
	effects := make([]Effect, 0, len(removed))
	for _, r := range removed {
		effects = append(effects, Expired(r))
	}
	if h.opened.on {
		h.gather(effects)
		return
	}
	h.set.append(now, effects)
}

// Freeze returns a cut of the held shards as they are now. The caller gives the
// shards back, reads, and releases the cut.
func (h *Hold) Freeze(db int, now int64) *Cut {
	c := h.set.NewCut(db, now)
	if h.torn(c) {
		return c
	}
	for _, i := range h.held {
		c.versions[i] = h.set.shards[i].freeze(db)
	}
	return c
}
