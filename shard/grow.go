package shard

import "slices"

// A script names keys that nobody knew of when it began. What is here lets it
// have them.

// LockOn returns the lock of somebody else that the position has, or nil. The
// Hold must hold the position's shard.
func (h *Hold) LockOn(pos uint64) *Lock {
	for _, l := range h.set.shards[h.set.Space.StoreOf(pos)].locks {
		if l != h.opened.lock && l.has(pos) {
			return l
		}
	}
	return nil
}

// Extend locks one more key for the transaction that the Hold is running
// (Set.Transact), which must want all shards. It waits for a store that has the
// key, and meanwhile others have the shards. There is no deadlock: a store that
// has its lock waits for nobody.
func (h *Hold) Extend(pos uint64) {
	own := h.opened.lock
	for {
		at, has := slices.BinarySearch(own.pos, pos)
		if has {
			return
		}
		l := h.LockOn(pos)
		if l == nil {
			own.pos = slices.Insert(own.pos, at, pos)
			return
		}
		h.eachHeld(func(sh *Shard) { sh.mu.Unlock() })
		gone := make(chan struct{})
		l.Wait(func() { close(gone) })
		h.set.Heavy.Block(func() { <-gone })
		h.eachHeld(func(sh *Shard) { sh.lock() })
	}
}

// Land makes a transaction that Transact runs go on with what it holds, in one
// piece: what it has written can be seen from then on, by whoever has the shards,
// which is itself only. It must want all shards and must not pause any more.
func (h *Hold) Land() {
	if !h.opened.splice {
		return
	}
	h.opened.splice = false
	h.eachHeld(func(sh *Shard) {
		for _, db := range h.opened.dbs {
			sh.store.EndSplice(db)
		}
	})
	h.opened.dbs = nil
}

// Mute keeps the effects of the commands that follow from the journal, or ends
// that. The Hold must be open.
func (h *Hold) Mute(on bool) { h.opened.muted = on }

// LongBusy says whether a long write is running or about to.
func (s *Set) LongBusy() bool {
	s.long.mu.Lock()
	defer s.long.mu.Unlock()
	return s.long.busy
}
