package server

import (
	"firn/commands"
	"firn/shard"
)

// argsFrom is the number of arguments from which a command that has a cost runs
// aside without looking: hashing so many keys is work of its own.
const argsFrom = 2 * heavyFrom

func many(c *commands.Call) bool {
	return c.Row.Cost != nil && !c.Row.Keys.All && len(c.Args) > argsFrom
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
	return h.Take(exclusive)
}
