package commands

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"firn/mvcc"
	"firn/shard"
)

// A harness has a replica, which runs nothing but the effects, at another time
// and with another number of stores, as the loading of an append-only file
// does: effects must not depend on the clock. After each command the keys that
// it names must be the same there.

// replicaNow is before any expiry.
const replicaNow = 1

func otherStores(stores int) int {
	if stores == 1 {
		return 4
	}
	return 1
}

// unfit names the commands that Redis never propagates: repeated elsewhere or
// later they may do something else.
var unfit = []string{
	"EXPIRE", "PEXPIRE", "EXPIREAT", "SETEX", "PSETEX", "GETEX", "GETDEL", "GETSET", "INCRBYFLOAT", "HINCRBYFLOAT", "SPOP", "RANDOMKEY",
}

// record copies the effects, because their arguments are about to go.
func (h *harness) record(c *Call, tx *mvcc.Tx) {
	if h.replica == nil && !h.recording {
		return
	}
	for _, e := range c.Effects(tx) {
		h.effects = append(h.effects, shard.Effect{DB: e.DB, Args: cloneArgs(e.Args)})
	}
}

// follow brings the replica up to date and compares the keys of the command.
func (h *harness) follow(row *Command, line [][]byte, db int) error {
	for _, e := range h.effects {
		if err := h.replica.apply(e); err != nil {
			return fmt.Errorf("effect %.300q: %w", e.Args, err)
		}
	}
	effects := h.effects
	h.effects = nil
	var err error
	row.Keys.Each(line, func(i int) {
		if v, w := h.stored(db, line[i]), h.replica.stored(db, line[i]); v != w && err == nil {
			err = fmt.Errorf("key %.100q is %v; by the effects %.500s it is %v", line[i], v, effectsText(effects), w)
		}
	})
	return err
}

func effectsText(effects []shard.Effect) (s string) {
	for _, e := range effects {
		s += fmt.Sprintf("[db %d: %q]", e.DB, e.Args)
	}
	return s
}

func (h *harness) apply(e shard.Effect) error {
	if slices.Contains(unfit, strings.ToUpper(string(e.Args[0]))) {
		return errors.New("is not fit to be one")
	}
	h.session("journal").call.DB, h.session("journal").call.Obey = e.DB, true
	raw, err := h.Do("journal", e.Args)
	if err == nil && raw[0] == '-' {
		err = fmt.Errorf("%q", raw)
	}
	return err
}

// A storedValue is all that effects carry of a key.
type storedValue struct {
	there  bool
	typ    mvcc.Type
	expire int64
	size   int64
	head   string
	sum    uint64 // of the bytes, because there may be many
}

// newStoredValue looks at no more than the first so many bytes.
func newStoredValue(e *mvcc.Entry, most int64) storedValue {
	var sum maphash.Hash
	sum.SetSeed(storedSeed)
	if e.Type() != mvcc.String {
		return storedCollection(e)
	}
	size := e.Len()
	e.Pieces(0, min(size, most), func(p []byte) bool {
		_, _ = sum.Write(p)
		return true
	})
	return storedValue{true, e.Type(), e.Expire(), size, string(e.AppendRange(nil, 0, min(size, 100))), sum.Sum64()}
}

var storedSeed = maphash.MakeSeed()

// storedCollection knows the members, in whatever order, and when they expire; a
// list's elements in their order.
func storedCollection(e *mvcc.Entry) storedValue {
	v := storedValue{there: true, typ: e.Type(), expire: e.Expire(), size: int64(e.Count()), head: e.EncodingName()}
	add := func(parts ...any) { v.sum += maphash.Comparable(storedSeed, fmt.Sprint(parts...)) }
	switch e.Type() {
	case mvcc.List:
		l, i := e.List(), 0
		l.Ascend(0, func(b []byte) bool { add(i, b); i++; return true })
	case mvcc.Hash:
		h := e.Hash(0)
		h.Each(func(field, value []byte) bool { add(field, value, h.ExpireAt(field)); return true })
	case mvcc.Set:
		s := e.Set(0)
		s.Each(func(member []byte) bool { add(member, s.ExpireAt(member)); return true })
	case mvcc.ZSet:
		z := e.ZSet(0)
		z.Ascend(0, func(member []byte, score float64) bool { add(member, score, z.ExpireAt(member)); return true })
	case mvcc.Stream:
		storedStream(e.Stream(), add)
	}
	return v
}

func (v storedValue) String() string {
	if !v.there {
		return "not there"
	}
	return fmt.Sprintf("of type %v, expires %d, %d bytes %q, sum %x", v.typ, v.expire, v.size, v.head, v.sum)
}

// glance is how much of a value is compared after each command; all of it is at
// the end.
const glance = 1 << 20

// stored returns a key as it is, expired or not.
func (h *harness) stored(db int, key []byte) storedValue {
	var v mvcc.View
	v.LiveView(h.space, db, 0)
	if e, ok := v.Peek(key); ok {
		return newStoredValue(&e, glance)
	}
	return storedValue{}
}

// equalSpaces compares two keyspaces key by key. It returns what differs.
func equalSpaces(a, b *mvcc.Space) error {
	var all []error
	for db := range a.Databases() {
		in, out := contents(a, db), contents(b, db)
		for key, v := range in {
			if w := out[key]; v != w {
				all = append(all, fmt.Errorf("db %d key %.100q: one is %v, the other %v", db, key, v, w))
			}
			delete(out, key)
		}
		for key, w := range out {
			all = append(all, fmt.Errorf("db %d key %.100q: one is not there, the other %v", db, key, w))
		}
	}
	return errors.Join(all...)
}

// contents copies a database.
func contents(s *mvcc.Space, db int) map[string]storedValue {
	all := map[string]storedValue{}
	for _, st := range s.Stores {
		v := st.Freeze(db)
		v.Ascend(0, func(_ uint64, e mvcc.Entry) bool {
			all[string(e.Key())] = newStoredValue(&e, math.MaxInt64)
			return true
		})
		v.Release()
	}
	return all
}
