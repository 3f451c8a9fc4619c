package server

import (
	"firn/commands"
	"firn/mvcc"
	"firn/shard"
)

// keysOf names the keys of a layout to package shard.
func keysOf(k *commands.Keys, args [][]byte) shard.Keys {
	return func(want func([]byte)) { k.Each(args, func(i int) { want(args[i]) }) }
}

// store runs a heavy storing command, on the heavy pool: its inputs are frozen,
// the keys that it writes are locked, its result is put in place. If the
// connection is killed or reset before that, nothing is written.
func (srv *Server) store(c *commands.Call) (err error) {
	c.ByResult = srv.shards.Journaled()
	srv.shards.Store(shard.Store{
		DB: c.DB, Now: c.Now, Keys: keysOf(&c.Row.Keys, c.Args), All: c.Row.Keys.Any(c.Args), Dest: keysOf(&c.Row.Dest, c.Args),
		Compute: func(cut *shard.Cut) (commit func(*shard.Hold) []shard.Effect) {
			var v mvcc.View
			v.FrozenView(cut.Space(), c.DB, c.Now, cut.Versions())
			var put func(*mvcc.Tx) error
			srv.listenTo(c, &v)
			put, err = commands.PrepareStore(c, &v)
			srv.stats.lookups(v.Hits, v.Misses)
			if put == nil {
				srv.published(c)
				return nil
			}
			return func(h *shard.Hold) []shard.Effect {
				h.Tx.Begin(srv.shards.Space, c.DB, c.Now)
				srv.listenTo(c, &h.Tx.View)
				err = commands.CommitStore(c, put, &h.Tx)
				h.CountExpired()
				srv.stats.wrote(&h.Tx)
				srv.expired(h.Tx.Expired)
				srv.published(c)
				return c.Effects(&h.Tx)
			}
		},
	})
	return err
}
