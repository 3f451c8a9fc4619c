package mvcc

import "encoding/binary"

// memberTTL holds when members of one collection expire. It is copied with its
// collection, in O(1).
type memberTTL struct {
	at  *ptree // (position, member) -> unix ms, 8 bytes
	due *ptree // (unix ms, member), for who expires first
}

func newMemberTTL() *memberTTL { return &memberTTL{newPtree(), newPtree()} }

func (t *memberTTL) clone() *memberTTL {
	if t == nil {
		return nil
	}
	return &memberTTL{t.at.Copy(), t.due.Copy()}
}

func (t *memberTTL) bytes() int64 {
	if t == nil {
		return 0
	}
	return t.at.bytes() + t.due.bytes()
}

// get returns when the member expires, unix ms; 0: never.
func (t *memberTTL) get(pos uint64, member []byte) int64 {
	if t == nil {
		return 0
	}
	v, ok := t.at.Get(pos, member)
	if !ok {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(v))
}

// gone says whether the member has expired at now (unix ms).
func (t *memberTTL) gone(pos uint64, member []byte, now int64) bool {
	at := t.get(pos, member)
	return at != 0 && at <= now
}

// set makes the member expire at (unix ms; 0: never).
func (t *memberTTL) set(pos uint64, member []byte, at int64) {
	if old := t.get(pos, member); old != 0 {
		t.due.Delete(uint64(old), member)
		if at == 0 {
			t.at.Delete(pos, member)
			return
		}
	}
	if at != 0 {
		t.at.Set(pos, member, binary.LittleEndian.AppendUint64(nil, uint64(at)))
		t.due.Set(uint64(at), member, nil)
	}
}

// next is when the first member expires; 0 if none does.
func (t *memberTTL) next() int64 {
	if t == nil || t.due.Len() == 0 {
		return 0
	}
	at, _, _ := t.due.At(0)
	return int64(at)
}
