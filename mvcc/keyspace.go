package mvcc

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/tidwall/btree"
)

const (
	indexCost  = 21 // bytes an index entry takes: 16, in leaves that are four fifths full
	expireCost = 24 // bytes an entry of the expiry index takes
)

// due is one entry of the expiry index. Two keys at one position that expire
// in the same millisecond share one.
type due struct {
	at  int64 // unix ms
	pos uint64
}

// memberDue is one entry of the members tree: an object of which the first
// member expires then.
type memberDue struct {
	at int64 // unix ms
	id uint64
}

func lessMemberDue(a, b memberDue) bool { return a.at < b.at || a.at == b.at && a.id < b.id }

func lessDue(a, b due) bool { return a.at < b.at || a.at == b.at && a.pos < b.pos }

// keyspace is one database of one store. Everything in it is its owner's,
// except what a Version holds a copy of, and open.
type keyspace struct {
	tables
	log     log
	expires *btree.BTreeG[due]
	members *btree.BTreeG[memberDue] // big values of which members expire
	objSize int64                    // bytes of all objects
	nextID  uint64

	epoch  uint64
	cached *Version     // the last version, while nothing was written since
	open   atomic.Int64 // pins that are held on versions of this keyspace

	versions []*pins   // of the versions made, oldest first; the released go now and then
	dropped  []dropped // segments that open versions may still see

	// before is the state that freezes see while a splice is under way: the
	// tables as they were at its start, kept up with what others write
	// meanwhile. splicing says that the writer now is the splice.
	before   *tables
	splicing bool

	marks *marks // nil: none
}

// epochs are unique in the process, so that a value moved between keyspaces
// never takes another keyspace's epoch for its own.
type epochSource struct{ n atomic.Uint64 }

func (e *epochSource) next() uint64 { return e.n.Add(1) }

func newKeyspace(h Hasher, epoch uint64) *keyspace {
	k := &keyspace{
		tables:  newTables(h),
		log:     newLog(),
		epoch:   epoch,
		expires: btree.NewBTreeGOptions(lessDue, btree.Options{NoLocks: true}),
		members: btree.NewBTreeGOptions(lessMemberDue, btree.Options{NoLocks: true}),
	}
	k.index.reuse = &reuse{k: k}
	return k
}

// used is the memory of the keyspace's data and index in bytes, without dead
// records.
func (k *keyspace) used() int64 {
	return k.log.live + k.objSize + int64(k.count)*indexCost + int64(k.expires.Len()+k.members.Len())*expireCost
}

// shadow is the second tables to write to: before, while another's splice is
// under way.
func (k *keyspace) shadow() *tables {
	if k.splicing {
		return nil
	}
	return k.before
}

// fields is what a record holds beside its value.
type fields struct {
	typ    Type
	enc    Encoding
	clock  uint32
	expire int64
}

// put gives the key a record with room for a value of vlen bytes, in place of
// the one it had, and returns the room. An object that the old record stood
// for is dropped.
func (k *keyspace) put(pos uint64, key []byte, f fields, vlen int) []byte {
	k.cached = nil
	k.touch(pos)
	size := recordSize(len(key), vlen, f.expire)
	old, at, exists := k.find(pos, key)
	if !exists {
		if k.marks != nil {
			k.marks.born(pos, f.typ)
		}
		buf, to := k.reserve(size)
		k.link(pos, to)
		if s := k.shadow(); s != nil {
			s.link(pos, to)
		}
		k.noteExpire(pos, f.expire)
		return putRecord(buf, f.typ, f.enc, f.clock, f.expire, key, vlen)
	}
	k.dropObject(&old)
	if old.expire != f.expire {
		k.forgetExpire(pos, at, old.expire)
		k.noteExpire(pos, f.expire)
	}
	if old.size() == size && old.vlen == vlen && k.private(at) {
		return putRecord(old.buf, f.typ, f.enc, f.clock, f.expire, key, vlen)
	}
	oldSize := old.size()
	buf, to := k.reserve(size)
	k.repoint(pos, at, to)
	k.kill(at, oldSize)
	return putRecord(buf, f.typ, f.enc, f.clock, f.expire, key, vlen)
}

func (k *keyspace) repoint(pos uint64, at, to ref) {
	k.relink(pos, at, to)
	if s := k.shadow(); s != nil {
		s.relink(pos, at, to)
	}
}

// remove takes a key out.
func (k *keyspace) remove(pos uint64, r *record, at ref) {
	k.touch(pos)
	k.takeOut(pos, r, at)
}

// expire takes a key out that has expired.
func (k *keyspace) expire(pos uint64, r *record, at ref) {
	k.faded(pos)
	k.takeOut(pos, r, at)
}

func (k *keyspace) takeOut(pos uint64, r *record, at ref) {
	k.cached = nil
	k.dropObject(r)
	k.forgetExpire(pos, at, r.expire)
	k.unlink(pos, at)
	if s := k.shadow(); s != nil {
		s.unlink(pos, at)
	}
	k.kill(at, r.size())
}

// noteExpire and forgetExpire keep the expiry index in step with the records.
func (k *keyspace) noteExpire(pos uint64, at int64) {
	if at != 0 {
		k.expires.Set(due{at, pos})
	}
}

func (k *keyspace) forgetExpire(pos uint64, self ref, at int64) {
	if at == 0 {
		return
	}
	shared := false
	if got, _ := k.index.Get(pos); got == twinned {
		k.eachTwin(pos, func(tw ref) bool {
			shared = shared || tw != self && k.recordExpire(tw) == at
			return !shared
		})
	}
	if !shared {
		k.expires.Delete(due{at, pos})
	}
}

func (k *keyspace) recordExpire(at ref) int64 { r := k.record(at); return r.expire }

// addObject stores the object of the key at the position and returns its id.
func (k *keyspace) addObject(pos uint64, o *object) uint64 {
	k.nextID++
	o.pos, o.due = pos, 0
	k.setObject(k.nextID, o)
	k.objSize += o.bytes()
	k.noteDue(k.nextID, o, o.nextDue())
	return k.nextID
}

func (k *keyspace) setObject(id uint64, o *object) {
	k.objects.Set(id, o)
	if s := k.shadow(); s != nil {
		s.objects.Set(id, o)
	}
}

// object returns the object of a stub record.
func (k *keyspace) object(r *record) (id uint64, o *object) {
	id = binary.LittleEndian.Uint64(r.value())
	o, _ = k.objects.Get(id)
	return id, o
}

// dropObject lets go of the record's object: one pointer, whatever its size.
func (k *keyspace) dropObject(r *record) {
	if r.encoding() != Object {
		return
	}
	id, o := k.object(r)
	k.objSize -= o.bytes()
	k.noteDue(id, o, 0)
	k.objects.Delete(id)
	if s := k.shadow(); s != nil {
		s.objects.Delete(id)
	}
}

// noteDue keeps the members tree in step with when the first member of the
// object expires (unix ms; 0: never).
func (k *keyspace) noteDue(id uint64, o *object, at int64) {
	if o.due == at {
		return
	}
	if o.due != 0 {
		k.members.Delete(memberDue{o.due, id})
	}
	if o.due = at; at != 0 {
		k.members.Set(memberDue{at, id})
	}
}

// edit runs f on the record's object as its only holder, and keeps account.
func (k *keyspace) edit(r *record, f func(*object)) {
	k.cached = nil
	id, o := k.object(r)
	k.touch(o.pos)
	k.objSize -= o.bytes()
	if m := o.mutable(k.epoch); m != o {
		o = m
		k.setObject(id, o)
	}
	f(o)
	k.objSize += o.bytes()
}

// raise starts a new epoch: whatever exists now is frozen.
func (k *keyspace) raise(epoch uint64) {
	k.epoch = epoch
	k.markFrozen()
}
