package server

import (
	"encoding/hex"
	"fmt"

	"firn/commands"
	"firn/mvcc"
	"firn/persistence/rdb"
	"firn/shard"
)

// debugKey shows yield the live entry of argument 2, also one that has expired
// and is not removed yet, as Redis' DEBUG does.
func (s *session) debugKey(c *commands.Call, yield func(v *mvcc.View, e *mvcc.Entry) error) error {
	h := s.hold()
	h.Reset()
	h.Want(c.Args[2])
	if l := h.Take(false); l != nil {
		return s.wait(l)
	}
	defer h.Give()
	h.View.LiveView(s.srv.shards.Space, c.DB, 0)
	e, ok := h.View.Peek(c.Args[2])
	if !ok {
		return commands.ErrNoKey
	}
	return yield(&h.View, &e)
}

// debugObject tells of a value in Redis' line. What it calls an address is the
// key's position; how long the value is when it is saved is found out aside.
func debugObject(c *commands.Call, s *session) error {
	var line string
	err := s.debugKey(c, func(v *mvcc.View, e *mvcc.Entry) error {
		a := v.Space().Access()
		line = fmt.Sprintf("Value at:%#x refcount:%d encoding:%s serializedlength:%%d lru:%d lru_seconds_idle:%d",
			v.Space().Hash(e.Key()), commands.RefCount(a, e), e.EncodingName(), e.Clock(), a.Idle(e.Clock(), c.Now)/1000)
		return nil
	})
	if err != nil || line == "" { // waits in line
		return err
	}
	return s.debugFrozen(c, func(c *commands.Call, v *mvcc.View) error {
		e, ok := v.Peek(c.Args[2])
		if !ok {
			return commands.ErrNoKey
		}
		c.Out.Simple(fmt.Sprintf(line, rdb.SavedLen(&e, c.Now, c.Compress, c.Pause)))
		return nil
	})
}

// debugFrozen shows f, aside, the keys of the arguments from the third on, also
// those that have expired and are not removed yet.
func (s *session) debugFrozen(c *commands.Call, f func(c *commands.Call, v *mvcc.View) error) error {
	h := s.hold()
	h.Reset()
	for _, key := range c.Args[2:] {
		h.Want(key)
	}
	if l := h.Take(false); l != nil {
		return s.wait(l)
	}
	cut := h.Freeze(c.DB, c.Now)
	h.Give()
	s.aside(func(c *commands.Call) error {
		defer cut.Release()
		return c.Guard(func() error {
			var v mvcc.View
			v.FrozenView(cut.Space(), c.DB, 0, cut.Versions())
			return f(c, &v)
		})
	})
	return nil
}

// debugSDSLen answers for strings that are kept as bytes. There is never room
// left behind them; the key lies in one record with a short value.
func debugSDSLen(c *commands.Call, s *session) error {
	return s.debugKey(c, func(_ *mvcc.View, e *mvcc.Entry) error {
		if e.Type() != mvcc.String || e.Encoding() == mvcc.Int {
			return commands.ErrDebugNotSDS
		}
		c.Out.Simple(fmt.Sprintf("key_sds_len:%d, key_sds_avail:0, key_zmalloc: %d, val_sds_len:%d, val_sds_avail:0, val_zmalloc: %d",
			len(e.Key()), len(e.Key()), e.Len(), e.Size()-int64(len(e.Key()))))
		return nil
	})
}

// debugEncoded answers whether the value has the encoding. It is not printed
// anywhere.
func debugEncoded(encoding, done string, none error) onSession {
	return func(c *commands.Call, s *session) error {
		return s.debugKey(c, func(_ *mvcc.View, e *mvcc.Entry) error {
			if e.EncodingName() != encoding {
				return none
			}
			c.Out.Simple(done)
			return nil
		})
	}
}

// debugHTStatsKey answers for values that are a hash table in Redis.
func debugHTStatsKey(c *commands.Call, s *session) error {
	return s.debugKey(c, func(_ *mvcc.View, e *mvcc.Entry) error {
		if name := e.EncodingName(); name != "hashtable" && name != "skiplist" {
			return commands.ErrDebugNoTable
		}
		c.Out.Verbatim("txt", tableStats(e.Count()))
		return nil
	})
}

// debugHTStats says what stands where Redis has hash tables.
func debugHTStats(c *commands.Call, s *session) error {
	db, ok := commands.ParseInt(c.Args[2])
	if !ok {
		return commands.ErrNotInteger
	}
	if db < 0 || db >= int64(s.srv.config().Databases) {
		return commands.ErrDebugDB
	}
	size := s.srv.shards.Sizes(s.hold())[db]
	c.Out.Verbatim("txt", "[Dictionary HT]\n"+tableStats(size.Keys)+"[Expires HT]\n"+tableStats(size.Expires))
	return nil
}

func tableStats(n int) string {
	if n == 0 {
		return "No stats available for empty dictionaries\n"
	}
	return fmt.Sprintf("B-trees, one a shard:\n number of elements: %d\n", n)
}

// debugDigest hashes all databases as they are at one instant.
func debugDigest(c *commands.Call, s *session) error {
	cuts := s.srv.cutAll(s.hold(), c.Now)
	s.aside(func(c *commands.Call) error {
		defer release(cuts)
		return c.Guard(func() error {
			var all commands.Digest
			for db, cut := range cuts {
				if cut != nil {
					mixDatabase(c, &all, db, cut)
				}
			}
			c.Out.Simple(hex.EncodeToString(all[:]))
			return nil
		})
	})
	return nil
}

// mixDatabase is for a database that has keys.
func mixDatabase(c *commands.Call, all *commands.Digest, db int, cut *shard.Cut) {
	all.MixNumber(db)
	n := 0
	for _, v := range cut.Versions() {
		v.Ascend(0, func(_ uint64, e mvcc.Entry) bool {
			var one commands.Digest
			one.Mix(e.Key())
			one.MixEntry(&e, c.Now, c.Pause)
			all.Xor(one[:])
			if n++; n%pauseEvery == 0 {
				c.Pause()
			}
			return true
		})
	}
}

// pauseEvery is after how many keys others have their turn.
const pauseEvery = 256

// cutAll freezes every database that has keys, all at one instant; nil where
// there are none.
func (srv *Server) cutAll(h *shard.Hold, now int64) []*shard.Cut {
	h.Reset()
	h.WantAll()
	h.Take(false)
	defer h.Give()
	cuts := make([]*shard.Cut, srv.shards.Space.Databases())
	for db := range cuts {
		keys := 0
		for _, st := range srv.shards.Space.Stores {
			n, _ := st.Len(db)
			keys += n
		}
		if keys > 0 {
			cuts[db] = h.Freeze(db, now)
		}
	}
	return cuts
}

func release(cuts []*shard.Cut) {
	for _, cut := range cuts {
		if cut != nil {
			cut.Release()
		}
	}
}

// debugDigestValue hashes values.
func debugDigestValue(c *commands.Call, s *session) error { return s.debugFrozen(c, digestValues) }

func digestValues(c *commands.Call, v *mvcc.View) error {
	c.Out.Array(len(c.Args) - 2)
	for i, key := range c.Args[2:] {
		var d commands.Digest
		if e, ok := v.Peek(key); ok {
			d.MixEntry(&e, c.Now, c.Pause)
		}
		c.Out.Simple(hex.EncodeToString(d[:]))
		if i%pauseEvery == pauseEvery-1 {
			c.Pause()
		}
	}
	return nil
}
