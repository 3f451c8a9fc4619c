package commands

import (
	"math"

	"firn/mvcc"
)

// Members of hashes, sets and sorted sets can expire one by one. Two dialects
// say so: KeyDB's EXPIREMEMBER, of one member of any of the three, and
// HEXPIRE, of many fields of a hash, as of Redis 7.4.
var memberCommands = []Command{
	{Name: "EXPIREMEMBER", Arity: -4, Keys: oneKey, Run: OnOwner(expireMember), Summary: "Set the time to live of a member in seconds, or in another unit"},
	{Name: "EXPIREMEMBERAT", Arity: 4, Keys: oneKey, Run: OnOwner(expireMemberAtSecond), Summary: "Set the expiration of a member as a UNIX timestamp"},
	{Name: "PEXPIREMEMBERAT", Arity: 4, Keys: oneKey, Run: OnOwner(expireMemberAtMilli), Summary: "Set the expiration of a member as a UNIX timestamp specified in milliseconds"},

	{Name: "HEXPIRE", Arity: -6, Keys: oneKey, Run: OnOwner(hexpire), Cost: membersCost, Flags: DenyOOM, Summary: "Set expiry for hash field using relative time to expire (seconds)"},
	{Name: "HPEXPIRE", Arity: -6, Keys: oneKey, Run: OnOwner(hpexpire), Cost: membersCost, Flags: DenyOOM, Summary: "Set expiry for hash field using relative time to expire (milliseconds)"},
	{Name: "HEXPIREAT", Arity: -6, Keys: oneKey, Run: OnOwner(hexpireAtSecond), Cost: membersCost, Flags: DenyOOM, Summary: "Set expiry for hash field using an absolute Unix timestamp (seconds)"},
	{Name: "HPEXPIREAT", Arity: -6, Keys: oneKey, Run: OnOwner(hexpireAtMilli), Cost: membersCost, Flags: DenyOOM, Summary: "Set expiry for hash field using an absolute Unix timestamp (milliseconds)"},
	{Name: "HTTL", Arity: -5, Keys: oneKey, Run: OnView(httl), Cost: membersCost, Summary: "Returns the TTL in seconds of a hash field."},
	{Name: "HPTTL", Arity: -5, Keys: oneKey, Run: OnView(hpttl), Cost: membersCost, Summary: "Returns the TTL in milliseconds of a hash field."},
	{Name: "HEXPIRETIME", Arity: -5, Keys: oneKey, Run: OnView(hexpireTime), Cost: membersCost, Summary: "Returns the expiration time of a hash field as a Unix timestamp, in seconds."},
	{Name: "HPEXPIRETIME", Arity: -5, Keys: oneKey, Run: OnView(hpexpireTime), Cost: membersCost, Summary: "Returns the expiration time of a hash field as a Unix timestamp, in msec."},
	{Name: "HPERSIST", Arity: -5, Keys: oneKey, Run: OnOwner(hpersist), Cost: membersCost, Summary: "Removes the expiration time for each specified field"},
}

// expiring is what the writers of hashes, sets and sorted sets have in common.
type expiring interface {
	SetExpireAt(member []byte, at int64) bool
	ExpireAt(member []byte) int64
	Len() int
	Close()
}

// A memberWriter is one of them, with the words for a member that goes.
type memberWriter struct {
	expiring
	remove        func(member []byte) bool
	class         byte
	event, effect string
}

// writeMembers opens the writer of a key of the type; false if its members
// can't expire.
func writeMembers(tx *mvcc.Tx, key []byte, t mvcc.Type) (w memberWriter, ok bool) {
	switch t {
	case mvcc.Hash:
		h := tx.WriteHash(key)
		return memberWriter{h, h.Delete, 'h', "hdel", "HDEL"}, true
	case mvcc.Set:
		s := tx.WriteSet(key)
		return memberWriter{s, s.Remove, 's', "srem", "SREM"}, true
	case mvcc.ZSet:
		z := tx.WriteZSet(key)
		return memberWriter{z, z.Remove, 'z', "zrem", "ZREM"}, true
	}
	return w, false
}

// expireMember is EXPIREMEMBER key member time [s|ms].
func expireMember(c *Call, tx *mvcc.Tx) error {
	u := seconds
	switch _, ok := ParseInt(c.Args[3]); {
	case !ok:
		return ErrNotInteger
	case len(c.Args) > 5:
		return ErrMemberArity
	case len(c.Args) == 4 || c.Is(4, "s"):
	case c.Is(4, "ms"):
		u = milliseconds
	default:
		return ErrMemberUnit
	}
	return expireOneMember(c, tx, u, c.Now)
}

func expireMemberAtSecond(c *Call, tx *mvcc.Tx) error { return expireOneMember(c, tx, seconds, 0) }
func expireMemberAtMilli(c *Call, tx *mvcc.Tx) error {
	return expireOneMember(c, tx, milliseconds, 0)
}

// expireOneMember sets the expiry of a member; an instant that has passed
// removes it.
func expireOneMember(c *Call, tx *mvcc.Tx, u unit, base int64) error {
	at, err := expireAt(c, u, c.Args[3], base)
	if err != nil {
		return err
	}
	key, member := c.Args[1], c.Args[2]
	e, ok := tx.Lookup(key)
	if !ok {
		c.Out.Int(0)
		return nil
	}
	w, ok := writeMembers(tx, key, e.Type())
	if !ok {
		return ErrMemberType
	}
	defer w.Close()
	if at <= c.Now {
		ok = w.remove(member)
		if ok {
			c.removed(w.class, w.event, key, 1, w.Len() == 0)
			c.Propagate([]byte(w.effect), key, member)
		}
		c.Out.Int(toInt(ok))
		return nil
	}
	changes := tx.Changes
	if ok = w.SetExpireAt(member, at); ok {
		tx.Changes = changes + 1
		c.Propagate([]byte("PEXPIREMEMBERAT"), key, member, AppendInt(nil, at))
	}
	c.Out.Int(toInt(ok))
	return nil
}

// memberExpiry returns when a member expires, unix ms; 0: never, or there is no
// such member.
func memberExpiry(e *mvcc.Entry, now int64, member []byte) (at int64) {
	switch e.Type() {
	case mvcc.Hash:
		h := e.Hash(now)
		at = h.ExpireAt(member)
	case mvcc.Set:
		s := e.Set(now)
		at = s.ExpireAt(member)
	case mvcc.ZSet:
		z := e.ZSet(now)
		at = z.ExpireAt(member)
	}
	if at <= now {
		return 0
	}
	return at
}

// persistMember is PERSIST key member.
func persistMember(c *Call, tx *mvcc.Tx) error {
	key, member := c.Args[1], c.Args[2]
	done := false
	if e, ok := tx.Lookup(key); ok {
		if w, ok := writeMembers(tx, key, e.Type()); ok {
			done = w.ExpireAt(member) != 0 && w.SetExpireAt(member, 0)
			w.Close()
		}
	}
	if done {
		c.Notify('g', "persist", key)
	}
	c.Out.Int(toInt(done))
	return nil
}

// What HEXPIRE and its family say of a field.
const (
	fieldMissing   = -2
	fieldNoExpiry  = -1
	fieldUnchanged = 0
	fieldDone      = 1
	fieldDeleted   = 2
)

// maxFieldExpiry is the last instant at which a field can expire, unix ms: what
// 46 bits hold, as in Redis 7.4.
const maxFieldExpiry = math.MaxInt64 >> 17

func hexpire(c *Call, tx *mvcc.Tx) error         { return expireFields(c, tx, seconds, c.Now) }
func hpexpire(c *Call, tx *mvcc.Tx) error        { return expireFields(c, tx, milliseconds, c.Now) }
func hexpireAtSecond(c *Call, tx *mvcc.Tx) error { return expireFields(c, tx, seconds, 0) }
func hexpireAtMilli(c *Call, tx *mvcc.Tx) error  { return expireFields(c, tx, milliseconds, 0) }

// fieldExpireAt reads the time argument of HEXPIRE and its family.
func fieldExpireAt(c *Call, u unit, base int64) (int64, error) {
	t, ok := ParseInt(c.Args[2])
	switch {
	case !ok:
		return 0, ErrNotInteger
	case t < 0:
		return 0, ErrFieldExpire
	case t > maxFieldExpiry/int64(u) || t*int64(u) > maxFieldExpiry-base:
		return 0, ErrInvalidExpire(c.Row.full)
	}
	return t*int64(u) + base, nil
}

// parseFields reads FIELDS numfields field … at argument i. notPositive is the
// error for a number that is none.
func parseFields(c *Call, i int, notPositive Error) ([][]byte, error) {
	if !c.Is(i, "fields") {
		return nil, ErrFieldsMissing
	}
	n, ok := ParseInt(c.Args[i+1])
	switch {
	case !ok || n < 1:
		return nil, notPositive
	case n != int64(len(c.Args)-i-2):
		return nil, ErrFieldsCount
	}
	return c.Args[i+2:], nil
}

// parseFieldExpire reads what stands behind the time argument.
func parseFieldExpire(c *Call) (o expireOptions, fields [][]byte, err error) {
	i := 4
	switch {
	case c.Is(3, "nx"):
		o.nx = true
	case c.Is(3, "xx"):
		o.xx = true
	case c.Is(3, "gt"):
		o.gt = true
	case c.Is(3, "lt"):
		o.lt = true
	default:
		i = 3
	}
	fields, err = parseFields(c, i, ErrFieldsNumber)
	return o, fields, err
}

// expireFields is HEXPIRE and its family. An instant that has passed removes
// the fields.
func expireFields(c *Call, tx *mvcc.Tx, u unit, base int64) error {
	there, err := checkHash(c, tx)
	if err != nil {
		return err
	}
	at, err := fieldExpireAt(c, u, base)
	if err != nil {
		return err
	}
	o, fields, err := parseFieldExpire(c)
	if err != nil {
		return err
	}
	if !there {
		answerAll(c, len(fields), fieldMissing)
		return nil
	}
	key := c.Args[1]
	w := tx.WriteHash(key)
	defer w.Close()
	changes, changed := tx.Changes, make([][]byte, 0, len(fields))
	c.Out.Array(len(fields))
	for i, field := range fields {
		result := expireField(w, o, field, at, c.Now)
		if result > fieldUnchanged {
			changed = append(changed, field)
		}
		c.Out.Int(int64(result))
		c.pauseAt(i)
	}
	tx.Changes = changes + int64(len(changed))
	switch {
	case len(changed) == 0:
	case at <= c.Now:
		c.removed('h', "hdel", key, len(changed), w.Len() == 0)
		c.Propagate(append([][]byte{[]byte("HDEL"), key}, changed...)...)
	default:
		c.Notify('h', "hexpire", key)
		c.propagateFieldExpiry(key, at, changed)
	}
	return nil
}

func expireField(w *mvcc.HashWriter, o expireOptions, field []byte, at, now int64) int {
	if _, ok := w.Get(field); !ok {
		return fieldMissing
	}
	if !o.allow(w.ExpireAt(field), at) {
		return fieldUnchanged
	}
	if at <= now {
		w.Delete(field)
		return fieldDeleted
	}
	w.SetExpireAt(field, at)
	return fieldDone
}

// answerAll answers the same of each of n fields.
func answerAll(c *Call, n, what int) {
	c.Out.Array(n)
	for range n {
		c.Out.Int(int64(what))
	}
}

func httl(c *Call, v *mvcc.View) error         { return tellFields(c, v, seconds, v.Now) }
func hpttl(c *Call, v *mvcc.View) error        { return tellFields(c, v, milliseconds, v.Now) }
func hexpireTime(c *Call, v *mvcc.View) error  { return tellFields(c, v, seconds, 0) }
func hpexpireTime(c *Call, v *mvcc.View) error { return tellFields(c, v, milliseconds, 0) }

// tellFields says when fields expire, counted from base and rounded up.
func tellFields(c *Call, v *mvcc.View, u unit, base int64) error {
	h, there, err := hashAt(c, v)
	if err != nil {
		return err
	}
	fields, err := parseFields(c, 2, ErrFieldsPositive)
	if err != nil {
		return err
	}
	if !there {
		answerAll(c, len(fields), fieldMissing)
		return nil
	}
	c.Out.Array(len(fields))
	for i, field := range fields {
		c.Out.Int(fieldExpiry(&h, field, u, base))
		c.listed(&i)
	}
	return nil
}

func fieldExpiry(h *mvcc.HashValue, field []byte, u unit, base int64) int64 {
	if _, ok := h.Get(field); !ok {
		return fieldMissing
	}
	at := h.ExpireAt(field)
	if at == 0 {
		return fieldNoExpiry
	}
	return (at - base + int64(u) - 1) / int64(u)
}

func hpersist(c *Call, tx *mvcc.Tx) error {
	there, err := checkHash(c, tx)
	if err != nil {
		return err
	}
	fields, err := parseFields(c, 2, ErrFieldsPositive)
	if err != nil {
		return err
	}
	if !there {
		answerAll(c, len(fields), fieldMissing)
		return nil
	}
	w := tx.WriteHash(c.Args[1])
	defer w.Close()
	changes := tx.Changes
	c.Out.Array(len(fields))
	for i, field := range fields {
		c.Out.Int(int64(persistField(w, field)))
		c.pauseAt(i)
	}
	if tx.Changes > changes {
		c.Notify('h', "hpersist", c.Args[1])
	}
	return nil
}

func persistField(w *mvcc.HashWriter, field []byte) int {
	if _, ok := w.Get(field); !ok {
		return fieldMissing
	}
	if w.ExpireAt(field) == 0 {
		return fieldNoExpiry
	}
	w.SetExpireAt(field, 0)
	return fieldDone
}
