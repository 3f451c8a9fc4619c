package server

import (
	"firn/commands"
	"firn/mvcc"
	"firn/shard"
)

// argsFrom is the number of arguments from which a command of many keys runs
// aside without looking: hashing so many keys is work of its own.
const argsFrom = 2 * heavyFrom

func many(c *commands.Call) bool {
	return c.Row.Cost != nil && len(c.Args) > argsFrom && !single(c.Row) && !c.Row.Keys.Any(c.Args)
}

// take takes the shards of the command's keys, or returns the lock to wait for.
func (s *session) take(h *shard.Hold, c *commands.Call, pos uint64, exclusive bool) *shard.Lock {
	h.Reset()
	k := &c.Row.Keys
	switch {
	case k.All:
		h.WantAll()
	case single(c.Row):
		h.WantAt(pos)
	default:
		k.Each(c.Args, func(i int) { h.Want(c.Args[i]) })
	}
	if k.AllIf != nil && k.AllIf(c.Args) {
		h.WantAll()
	}
	return h.Take(exclusive)
}

// heavy says whether a command, whose shards are held, must run aside: because
// it is long, or because it reads keys that it doesn't name while some key is
// locked. Of that the live keyspace may show half a write, and versions don't.
func heavy(c *commands.Call, h *shard.Hold, v *mvcc.View) bool {
	if c.Row.Cost == nil {
		return false
	}
	return c.Row.Keys.AllIf != nil && h.AllWithLocks() || tooLong(c.Row.Cost(c, v), heavyFrom)
}
