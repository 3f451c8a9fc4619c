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

// watchAtOnce is how many keys of one WATCH are looked up with shards held.
const watchAtOnce = 128

// watch notes keys as they are. A key that has expired is removed, so that its
// removal later is no change. The keys are looked at some at a time: what counts
// is that each was seen before the client's next command.
func watch(c *commands.Call, s *session) error {
	if s.queueing {
		return commands.ErrWatchInMulti
	}
	t := s.transaction()
	for keys := range slices.Chunk(c.Args[1:], watchAtOnce) {
		if l := s.watch(c, t, keys); l != nil {
			return s.wait(l) // and those before are not watched twice
		}
	}
	c.Out.OK()
	return nil
}

func (s *session) watch(c *commands.Call, t *transaction, keys [][]byte) *shard.Lock {
	h := s.home.hold()
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
		if t.watches(m, key) {
			store.Unmark(m)
			continue
		}
		t.watched = append(t.watched, watchedKey{mark: m, key: slices.Clone(key), there: there, changes: m.Changes})
	}
	s.srv.expired(h.Expire(c.Now))
	return nil
}

func (t *transaction) watches(m *mvcc.Mark, key []byte) bool {
	return slices.ContainsFunc(t.watched, func(w watchedKey) bool { return w.mark == m && string(w.key) == string(key) })
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
// Their shards are held.
func (t *transaction) broken(h *shard.Hold, space *mvcc.Space, now int64) bool {
	return slices.ContainsFunc(t.watched, func(w watchedKey) bool {
		if w.mark.Changes != w.changes {
			return true
		}
		if !w.there {
			return false
		}
		h.View.LiveView(space, w.mark.DB(), now)
		_, there := h.View.Peek(w.key)
		return !there
	})
}

// unmark stops watching. The shards of the watched keys are held.
func (t *transaction) unmark(space *mvcc.Space) {
	for i := range t.watched {
		m := t.watched[i].mark
		space.Stores[space.StoreOf(m.Pos())].Unmark(m)
	}
	clear(t.watched)
	t.watched = t.watched[:0]
}

// unwatch stops watching. Nothing must be held.
func (t *transaction) unwatch(srv *Server) {
	if len(t.watched) > 0 {
		srv.shards.Reach(t.wantWatched, func() { t.unmark(srv.shards.Space) })
	}
}
