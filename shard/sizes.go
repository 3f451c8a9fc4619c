package shard

// A Size is how many keys a database has, expired ones that were not removed
// yet included, and how many of them have an expiry.
type Size struct{ Keys, Expires int }

// Sizes counts every database, one shard after the other: O(shards × databases).
// It doesn't take the shards that the Hold, which may be nil, holds open.
func (s *Set) Sizes(h *Hold) []Size {
	all := make([]Size, s.Space.Databases())
	s.each(h, func(sh *Shard) {
		for db := range all {
			keys, expires := sh.store.Len(db)
			all[db].Keys += keys
			all[db].Expires += expires
		}
	})
	return all
}

// each calls f with every shard in turn, taken by it, but those that the Hold,
// which may be nil, holds open.
func (s *Set) each(h *Hold, f func(*Shard)) {
	for i, sh := range s.shards {
		if h.holds(i) {
			f(sh)
			continue
		}
		sh.mu.Lock()
		f(sh)
		sh.mu.Unlock()
	}
}
