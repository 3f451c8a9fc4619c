package mvcc

import (
	"encoding/binary"
	"slices"
)

// ExpireDue removes at most limit keys that have expired by tx.Now, the first
// to expire first, from a store whose ownership tx has, and notes them in
// tx.Expired. Keys for which skip says true stay (a long command has them
// locked), and many of them hide what is due after them. It says whether more
// are due.
func (tx *Tx) ExpireDue(store, limit int, skip func(pos uint64) bool) (more bool) {
	for db, k := range tx.space.Stores[store].dbs {
		if k == nil {
			continue
		}
		var found []due
		looks := skipFactor * limit
		k.eachDue(tx.Now, func(d due) bool {
			if skip == nil || !skip(d.pos) {
				found = append(found, d)
			}
			looks--
			return len(found) < limit && looks > 0
		})
		k.splicing = false
		for _, d := range found {
			tx.expireAt(k, db, d)
		}
		if limit -= len(found); limit <= 0 {
			return true
		}
	}
	return false
}

// skipFactor bounds the walk over due keys that may not be removed now.
const skipFactor = 8

func (k *keyspace) eachDue(now int64, yield func(due) bool) {
	k.expires.Scan(func(d due) bool { return d.at <= now && yield(d) })
}

// expireAt removes the keys of one entry of the expiry index.
func (tx *Tx) expireAt(k *keyspace, db int, d due) {
	for {
		r, at, ok := k.dueAt(d)
		if !ok {
			return
		}
		tx.Expired = append(tx.Expired, Removed{DB: db, Key: slices.Clone(r.key())})
		k.expire(d.pos, &r, at)
	}
}

// dueAt finds a record that expires at the entry's time and position.
func (k *keyspace) dueAt(d due) (r record, at ref, ok bool) {
	got, any := k.index.Get(d.pos)
	if !any {
		return r, 0, false
	}
	if got != twinned {
		r = k.record(got)
		return r, got, r.expire == d.at
	}
	k.eachTwin(d.pos, func(tw ref) bool {
		r, at = k.record(tw), tw
		ok = r.expire == d.at
		return !ok
	})
	return r, at, ok
}

// ExpireMembers removes at most limit members that have expired by tx.Now from
// values of a store whose ownership tx has, the first to expire first, and notes
// them in tx.Expired. Keys for which skip says true are left alone. It says
// whether more are due.
func (tx *Tx) ExpireMembers(store, limit int, skip func(pos uint64) bool) (more bool) {
	home := tx.db
	defer func() { tx.db = home }()
	for db, k := range tx.space.Stores[store].dbs {
		if k == nil {
			continue
		}
		tx.db = db
		looks := skipFactor * limit
		for _, o := range k.dueObjects(tx.Now, looks, skip) {
			if limit <= 0 {
				return true
			}
			limit -= tx.expireMembers(o, limit)
		}
		if limit <= 0 {
			return true
		}
	}
	return false
}

// dueObjects returns the keys of values of which members have expired.
func (k *keyspace) dueObjects(now int64, limit int, skip func(pos uint64) bool) (keys []memberKey) {
	k.members.Scan(func(d memberDue) bool {
		if d.at > now || limit <= 0 {
			return false
		}
		limit--
		o, _ := k.objects.Get(d.id)
		if skip == nil || !skip(o.pos) {
			keys = append(keys, k.keyOf(d.id, o))
		}
		return true
	})
	return keys
}

// memberKey is a key of which members have expired.
type memberKey struct {
	key []byte
	typ Type
}

// keyOf finds the record that stands for an object.
func (k *keyspace) keyOf(id uint64, o *object) (found memberKey) {
	at, _ := k.index.Get(o.pos)
	look := func(at ref) bool {
		r := k.record(at)
		if r.encoding() == Object && binary.LittleEndian.Uint64(r.value()) == id {
			found = memberKey{slices.Clone(r.key()), r.typ()}
		}
		return found.key == nil
	}
	if at != twinned {
		look(at)
		return found
	}
	k.eachTwin(o.pos, look)
	return found
}

// expireMembers removes at most limit expired members of a key and returns how
// many.
func (tx *Tx) expireMembers(m memberKey, limit int) int {
	n := len(tx.Expired)
	changes := tx.Changes
	var w memberWriter
	w.open(tx, m.key, m.typ)
	if w.obj != nil {
		w.purge(limit)
		w.Close()
	}
	tx.Changes = changes
	return len(tx.Expired) - n
}

// A Candidate is a key that eviction may remove.
type Candidate struct {
	DB     int
	Key    []byte // alias of the record
	Pos    uint64
	Clock  uint32
	Expire int64 // unix ms, 0 if none
}

// sampleMost is how many keys one Sample yields at most.
const sampleMost = 64

// Sample yields up to n random keys of the store's database, those with an
// expiry only if volatile; rand is a source of uniform numbers. Without volatile
// they are neighbours from a random position on: positions are hashes, so
// neighbours are as random as any keys, and cost one descent.
func (s *Store) Sample(db int, volatile bool, n int, rand func() uint64, yield func(Candidate)) {
	k := s.dbs[db]
	switch {
	case k == nil:
	case volatile:
		k.sampleVolatile(db, n, rand, yield)
	case k.count > 0:
		k.neighbours(db, s.first+rand()>>(64-s.bits), min(n, sampleMost), yield)
	}
}

// neighbours yields the n keys from the position on, or fewer at the end, but
// one at least. Their records are touched together before the first is read.
func (k *keyspace) neighbours(db int, from uint64, n int, yield func(Candidate)) {
	var found [sampleMost]twin
	got, sum := 0, byte(0)
	take := func(pos uint64, at ref) bool {
		if at == twinned {
			k.eachTwin(pos, func(tw ref) bool { at = tw; return false })
		}
		found[got] = twin{pos, at}
		got++
		return got < n
	}
	if k.index.Ascend(from, take); got == 0 {
		k.index.Ascend(0, take)
	}
	for _, f := range found[:got] {
		sum += k.segs[f.ref.slot()][f.ref.off()]
	}
	k.log.ahead.sum += uint64(sum)
	for _, f := range found[:got] {
		r := k.record(f.ref)
		yield(Candidate{db, r.key(), f.pos, r.clock(), r.expire})
	}
}

func (k *keyspace) sampleVolatile(db, n int, rand func() uint64, yield func(Candidate)) {
	for range min(n, k.expires.Len()) {
		d, _ := k.expires.GetAt(int(rand() % uint64(k.expires.Len())))
		if r, _, ok := k.dueAt(d); ok {
			yield(Candidate{db, r.key(), d.pos, r.clock(), r.expire})
		}
	}
}

// Soonest returns the key of the store's database that expires first.
func (s *Store) Soonest(db int) (Candidate, bool) {
	k := s.dbs[db]
	if k == nil {
		return Candidate{}, false
	}
	d, ok := k.expires.Min()
	if !ok {
		return Candidate{}, false
	}
	r, _, ok := k.dueAt(d)
	return Candidate{db, r.key(), d.pos, r.clock(), r.expire}, ok
}
