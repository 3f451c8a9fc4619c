package commands

import "firn/mvcc"

var expireCommands = []Command{
	{Name: "EXPIRE", Arity: -3, Keys: oneKey, Run: OnOwner(expire), Summary: "Set a key's time to live in seconds"},
	{Name: "PEXPIRE", Arity: -3, Keys: oneKey, Run: OnOwner(pexpire), Summary: "Set a key's time to live in milliseconds"},
	{Name: "EXPIREAT", Arity: -3, Keys: oneKey, Run: OnOwner(expireAtSecond), Summary: "Set the expiration for a key as a UNIX timestamp"},
	{Name: "PEXPIREAT", Arity: -3, Keys: oneKey, Run: OnOwner(expireAtMilli), Summary: "Set the expiration for a key as a UNIX timestamp specified in milliseconds"},
	{Name: "TTL", Arity: -2, Keys: oneKey, Run: OnView(ttl), Summary: "Get the time to live for a key in seconds"},
	{Name: "PTTL", Arity: -2, Keys: oneKey, Run: OnView(pttl), Summary: "Get the time to live for a key in milliseconds"},
	{Name: "EXPIRETIME", Arity: 2, Keys: oneKey, Run: OnView(expireTime), Summary: "Get the expiration Unix timestamp for a key"},
	{Name: "PEXPIRETIME", Arity: 2, Keys: oneKey, Run: OnView(pexpireTime), Summary: "Get the expiration Unix timestamp for a key in milliseconds"},
	{Name: "PERSIST", Arity: -2, Keys: oneKey, Run: OnOwner(persist), Summary: "Remove the expiration from a key"},
}

func expire(c *Call, tx *mvcc.Tx) error         { return expireKey(c, tx, seconds, c.Now) }
func pexpire(c *Call, tx *mvcc.Tx) error        { return expireKey(c, tx, milliseconds, c.Now) }
func expireAtSecond(c *Call, tx *mvcc.Tx) error { return expireKey(c, tx, seconds, 0) }
func expireAtMilli(c *Call, tx *mvcc.Tx) error  { return expireKey(c, tx, milliseconds, 0) }

// expireOptions say when an expiry may be set.
type expireOptions struct{ nx, xx, gt, lt bool }

func parseExpire(c *Call) (o expireOptions, err error) {
	for i := 3; i < len(c.Args); i++ {
		switch {
		case c.Is(i, "nx"):
			o.nx = true
		case c.Is(i, "xx"):
			o.xx = true
		case c.Is(i, "gt"):
			o.gt = true
		case c.Is(i, "lt"):
			o.lt = true
		default:
			return o, ErrExpireOption(c.Args[i])
		}
	}
	switch {
	case o.nx && (o.xx || o.gt || o.lt):
		return o, ErrExpireNX
	case o.gt && o.lt:
		return o, ErrExpireGTLT
	}
	return o, nil
}

// allow says whether the expiry may go from old (0: none, which GT and LT take
// for infinite) to at.
func (o expireOptions) allow(old, at int64) bool {
	switch {
	case o.nx && old != 0, o.xx && old == 0:
		return false
	case o.gt && (old == 0 || at <= old):
		return false
	case o.lt && old != 0 && at >= old:
		return false
	}
	return true
}

// expireKey is EXPIRE and its family. An instant that has passed removes the
// key.
func expireKey(c *Call, tx *mvcc.Tx, u unit, base int64) error {
	o, err := parseExpire(c)
	if err != nil {
		return err
	}
	at, err := expireAt(c, u, c.Args[2], base)
	if err != nil {
		return err
	}
	key := c.Args[1]
	e, ok := tx.Lookup(key)
	if !ok || !o.allow(e.Expire(), at) {
		c.Out.Int(0)
		return nil
	}
	c.Out.Int(1)
	if at <= c.Now {
		tx.Delete(key)
		c.Propagate([]byte("DEL"), key)
		c.Notify('g', "del", key)
		return nil
	}
	tx.SetExpire(key, at)
	line := append([][]byte{[]byte("PEXPIREAT"), key, AppendInt(nil, at)}, c.Args[3:]...)
	c.Propagate(line...)
	c.Notify('g', "expire", key)
	return nil
}

func ttl(c *Call, v *mvcc.View) error         { return tellTTL(c, v, seconds) }
func pttl(c *Call, v *mvcc.View) error        { return tellTTL(c, v, milliseconds) }
func expireTime(c *Call, v *mvcc.View) error  { return tellExpiry(c, v, seconds, 0) }
func pexpireTime(c *Call, v *mvcc.View) error { return tellExpiry(c, v, milliseconds, 0) }

// What TTL and its family say instead of a time.
const (
	ttlNoKey    = -2
	ttlNoExpiry = -1
)

// tellTTL is TTL and PTTL: of a key, or, as KeyDB has it, of a member. A member
// that is not there counts as one that never expires.
func tellTTL(c *Call, v *mvcc.View, u unit) error {
	switch len(c.Args) {
	case 2:
		return tellExpiry(c, v, u, v.Now)
	case 3:
	default:
		return ErrArity(c.Row.full)
	}
	e, ok := v.PeekCounted(c.Args[1])
	if !ok {
		c.Out.Int(ttlNoKey)
		return nil
	}
	at := memberExpiry(&e, v.Now, c.Args[2])
	if at == 0 {
		c.Out.Int(ttlNoExpiry)
		return nil
	}
	c.Out.Int(roundUnits(max(at-v.Now, 0), u))
	return nil
}

// tellExpiry appends when the key expires, counted from base, rounded to the
// nearest unit.
func tellExpiry(c *Call, v *mvcc.View, u unit, base int64) error {
	e, ok := v.PeekCounted(c.Args[1])
	switch {
	case !ok:
		c.Out.Int(ttlNoKey)
	case e.Expire() == 0:
		c.Out.Int(ttlNoExpiry)
	default:
		c.Out.Int(roundUnits(max(e.Expire()-base, 0), u))
	}
	return nil
}

// roundUnits rounds to the nearest unit; ms is not negative.
func roundUnits(ms int64, u unit) int64 { return int64((uint64(ms) + uint64(u)/2) / uint64(u)) }

func persist(c *Call, tx *mvcc.Tx) error {
	switch len(c.Args) {
	case 2:
	case 3:
		return persistMember(c, tx)
	default:
		return ErrArity(c.Row.full)
	}
	key := c.Args[1]
	e, ok := tx.Lookup(key)
	if !ok || e.Expire() == 0 {
		c.Out.Int(0)
		return nil
	}
	tx.SetExpire(key, 0)
	c.Notify('g', "persist", key)
	c.Out.Int(1)
	return nil
}
