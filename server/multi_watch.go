package server

import (
	"slices"

	"firn/commands"
	"firn/mvcc"
	"firn/shard"
)

// A watchedKey is a key as WATCH found it.
type watchedKey struct {
	mark    *mvcc.Mark
	key     []byte
	changes uint64 // the mark's
	there   bool
}

// watchSize is about what a watched key takes, with its mark, in bytes.
const watchSize = 160

// watchAtOnce is how many watched keys are looked at with shards held before
// others have their turn.
const watchAtOnce = 128

// watch notes keys as they are. A key that has expired is removed, so that its
// removal later is no change. The keys are looked at some at a time: what counts
// is that each was seen before the client's next command.
func watch(c *commands.Call, s *session) error {
	if s.queueing {
		return commands.ErrWatchInMulti
	}
	t := s.transaction()
	if len(c.Args) > argsFrom {
		s.watchAside(t)
		return nil
	}
	h := s.home.hold()
	for keys := range slices.Chunk(c.Args[1:], watchAtOnce) {
		if l := s.watch(h, c, t, keys); l != nil {
			return s.wait(l) // and those before are not watched twice
		}
	}
	c.Out.OK()
	return nil
}

// watchAside is watch for so many keys that the transaction is a task's
// meanwhile.
func (s *session) watchAside(t *transaction) {
	s.multi = nil
	s.aside(func(c *commands.Call) error {
		h, heavy := s.srv.shards.NewHold(), s.srv.shards.Heavy
		for keys := range slices.Chunk(c.Args[1:], watchAtOnce) {
			for l := s.watch(h, c, t, keys); l != nil; l = s.watch(h, c, t, keys) {
				gone := make(chan struct{})
				l.Wait(func() { close(gone) })
				heavy.Block(func() { <-gone })
			}
			h.GiveWay()
			heavy.Yield()
		}
		c.Out.OK()
		s.home.post(func() {
			if s.multi = t; s.closed {
				s.abandon()
			}
		})
		return nil
	})
}

func (s *session) watch(h *shard.Hold, c *commands.Call, t *transaction, keys [][]byte) *shard.Lock {
	h.Reset()
	for _, key := range keys {
		h.Want(key)
	}
	if l := h.Take(false); l != nil {
		return l
	}
	defer h.Give()
	space := s.srv.shards.Space
	h.View.LiveView(space, c.DB, c.Now)
	for _, key := range keys {
		_, there := h.View.Peek(key)
		pos := space.Hash(key)
		store := space.Stores[space.StoreOf(pos)]
		m := store.Mark(c.DB, pos)
		if !t.watch(watchedKey{mark: m, key: key, there: there, changes: m.Changes}) {
			store.Unmark(m)
		}
	}
	s.srv.expired(h.Expire(c.Now))
	return nil
}

// watch adds a key, unless it is watched already.
func (t *transaction) watch(w watchedKey) bool {
	if i, known := t.marks[w.mark]; known && string(t.watched[i].key) == string(w.key) {
		return false
	}
	if t.marks == nil {
		t.marks = map[*mvcc.Mark]int{}
	}
	w.key = slices.Clone(w.key)
	t.marks[w.mark] = len(t.watched)
	t.watched = append(t.watched, w)
	return true
}

func unwatch(c *commands.Call, s *session) error {
	if s.multi != nil {
		s.multi.unwatch(s.srv)
	}
	c.Out.OK()
	return nil
}

// wantWatched makes h take the shards of the watched keys.
func (t *transaction) wantWatched(h *shard.Hold) {
	for i := range t.watched {
		h.WantAt(t.watched[i].mark.Pos())
	}
}

// broken says whether a watched key is not as it was, be it that it has expired.
// Their shards are held; between some keys it calls pause, if that is not nil,
// and then the keys must be locked.
func (t *transaction) broken(h *shard.Hold, space *mvcc.Space, now int64, pause func()) (broken bool) {
	for i := range t.watched {
		w := &t.watched[i]
		if i%watchAtOnce == watchAtOnce-1 && pause != nil {
			pause()
		}
		if w.mark.Changes != w.changes {
			return true
		}
		if w.there {
			h.View.LiveView(space, w.mark.DB(), now)
			if _, there := h.View.Peek(w.key); !there {
				return true
			}
		}
	}
	return false
}

// unmark stops watching. The shards of the watched keys are held; pause is as in
// broken.
func (t *transaction) unmark(space *mvcc.Space, pause func()) {
	for i := range t.watched {
		if i%watchAtOnce == watchAtOnce-1 && pause != nil {
			pause()
		}
		m := t.watched[i].mark
		space.Stores[space.StoreOf(m.Pos())].Unmark(m)
	}
	clear(t.watched)
	clear(t.marks)
	t.watched = t.watched[:0]
}

// unwatch stops watching. Nothing must be held.
func (t *transaction) unwatch(srv *Server) {
	for some := range slices.Chunk(t.watched, watchAtOnce) {
		part := transaction{watched: some}
		srv.shards.Reach(part.wantWatched, func() { part.unmark(srv.shards.Space, nil) })
	}
	clear(t.marks)
	if t.watched = t.watched[:0]; cap(t.watched) > keepWatched {
		t.watched, t.marks = nil, nil
	}
}
