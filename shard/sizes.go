package shard

// A Size is how many keys a database has, expired ones that were not removed
// yet included, and how many of them have an expiry.
type Size struct{ Keys, Expires int }

// Sizes counts every database, one shard after the other: O(shards × databases).
func (s *Set) Sizes() []Size {
	all := make([]Size, s.Space.Databases())
	for _, sh := range s.shards {
		sh.mu.Lock()
		for db := range all {
			keys, expires := sh.store.Len(db)
			all[db].Keys += keys
			all[db].Expires += expires
		}
		sh.mu.Unlock()
	}
	return all
}
