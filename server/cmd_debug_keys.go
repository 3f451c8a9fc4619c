package server

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"firn/commands"
	"firn/mvcc"
	"firn/shard"
)

// debugKey shows yield the live entry of argument 2, also one that has expired
// and is not removed yet, as Redis' DEBUG does.
func (s *session) debugKey(c *commands.Call, yield func(v *mvcc.View, e *mvcc.Entry) error) error {
	h := s.home.hold()
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
// key's position; the serialized length is that without compression.
func debugObject(c *commands.Call, s *session) error {
	return s.debugKey(c, func(v *mvcc.View, e *mvcc.Entry) error {
		c.Out.Simple(fmt.Sprintf("Value at:%#x refcount:%d encoding:%s serializedlength:%d lru:%d lru_seconds_idle:%d",
			v.Space().Hash(e.Key()), commands.RefCount(v.Space().Access(), e), e.EncodingName(), savedLen(e), e.Clock(), v.Space().Access().Idle(e.Clock(), c.Now)/1000))
		return nil
	})
}

// savedLen is how many bytes a string takes in an RDB file that is not
// compressed (rdbSaveRawString of Redis' rdb.c). Of a collection, which would
// have to be walked, it is those it takes in memory.
func savedLen(e *mvcc.Entry) int64 {
	if e.Type() != mvcc.String {
		return e.Size()
	}
	n := e.Len()
	if n <= 11 {
		if i, err := strconv.ParseInt(string(e.Bytes(nil)), 10, 32); err == nil && int64(len(strconv.FormatInt(i, 10))) == n {
			switch {
			case i == int64(int8(i)):
				return 2
			case i == int64(int16(i)):
				return 3
			}
			return 5
		}
	}
	switch {
	case n < 1<<6:
		return n + 1
	case n < 1<<14:
		return n + 2
	case n <= math.MaxUint32:
		return n + 5
	}
	return n + 9
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

// debugEncoded answers the error for a key that is there, because no value has
// the encoding that is asked about.
func debugEncoded(none error) onSession {
	return func(c *commands.Call, s *session) error {
		return s.debugKey(c, func(*mvcc.View, *mvcc.Entry) error { return none })
	}
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
	size := s.srv.shards.Sizes()[db]
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
	cuts := s.srv.cutAll(s.home.hold(), c.Now)
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

// debugDigestValue hashes values, also those that have expired and are not
// removed yet.
func debugDigestValue(c *commands.Call, s *session) error {
	h := s.home.hold()
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
			digestValues(c, &v)
			return nil
		})
	})
	return nil
}

func digestValues(c *commands.Call, v *mvcc.View) {
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
}
