package shard

import (
	"context"
	"time"
)

const (
	// dutySlice is how long a duty keeps a shard at a time.
	dutySlice = 200 * time.Microsecond
	// expireBatch is how many keys are removed before the clock is looked at.
	expireBatch = 32
	// cleanBatch is how many bytes are examined before the clock is looked at.
	cleanBatch = 16 << 10
)

// Kick makes the duties run soon.
func (s *Set) Kick() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run does the duties of all shards until the context ends: every period, or
// when kicked, it removes the keys and members that are due, evicts what is over the limit,
// and cleans. It keeps a shard for at most 200 µs at a time.
func (s *Set) Run(ctx context.Context, period time.Duration) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	h := s.NewHold()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.rest()
		case <-s.wake:
		}
		start := s.monotonic()
		s.duties(ctx, h)
		s.stats.DutyNanos.Add(int64(s.monotonic().Sub(start)))
	}
}

func (s *Set) duties(ctx context.Context, h *Hold) {
	for i := range s.shards {
		for !s.noExpire.Load() && !s.still.Load() && h.expireSlice(i) && ctx.Err() == nil {
			s.stats.ExpireLate.Add(1)
			s.giveWay(i)
		}
		for h.cleanSlice(i) && ctx.Err() == nil {
			s.giveWay(i)
		}
	}
	s.evictDuty(ctx)
}

// GiveWay comes between two takings in a loop that nobody waits for: if somebody
// waits for a wanted shard it is left alone for a moment. Nothing must be held.
func (h *Hold) GiveWay() {
	if h.opened.on {
		return
	}
	for _, p := range h.pos {
		h.set.giveWay(h.set.Space.StoreOf(p))
	}
}

// giveWay comes between two slices with the shards, which are not held: if
// somebody waits for one of them it leaves them alone as long as a slice lasts.
func (s *Set) giveWay(shards ...int) {
	for _, i := range shards {
		if s.shards[i].waiting.Load() > 0 {
			time.Sleep(dutySlice)
			return
		}
	}
}

// takeOne takes one shard, whatever is locked in it.
func (h *Hold) takeOne(i int) *Shard {
	sh := h.set.shards[i]
	sh.lock()
	h.held = append(h.held, i)
	return sh
}

// expireSlice removes due keys of a shard for one slice, and says whether more
// are due.
func (h *Hold) expireSlice(i int) (more bool) {
	sh := h.takeOne(i)
	defer h.Give()
	now := h.set.clock()
	if at, ok := sh.store.NextExpiry(); !ok || at > now {
		return false
	}
	start := h.set.monotonic()
	for more = true; more && h.set.monotonic().Sub(start) < dutySlice; {
		h.Tx.Begin(h.set.Space, 0, now)
		more = h.Tx.ExpireDue(i, expireBatch, sh.lockedBy)
		more = h.Tx.ExpireMembers(i, expireBatch, sh.lockedBy) || more
		h.noteExpired(h.Tx.Expired, now)
		h.set.expired(h.Tx.Expired)
		if len(h.Tx.Expired) == 0 {
			more = false
		}
	}
	h.set.stats.LongestExpire.note(h.set.monotonic().Sub(start))
	h.Settle()
	return more
}

// rest lets every shard see whether it was written since the last call. It must
// not be called when kicked: in a moment next to nothing is written.
func (s *Set) rest() {
	taken := int64(0)
	for _, sh := range s.shards {
		sh.lock()
		sh.store.Rest()
		taken += sh.store.Taken()
		sh.mu.Unlock()
	}
	s.taken.Store(taken)
}

// cleanSlice cleans a shard for one slice, and says whether there is more to do.
func (h *Hold) cleanSlice(i int) (more bool) {
	sh := h.takeOne(i)
	defer h.Give()
	start := h.set.monotonic()
	for more = true; more && h.set.monotonic().Sub(start) < dutySlice; {
		more = sh.store.Clean(cleanBatch)
	}
	h.set.settle(sh)
	return more
}
