package commands

import (
	"bytes"

	"firn/mvcc"
)

var keyCommands = []Command{
	{Name: "DEL", Arity: -2, Keys: allArgs, Run: OnOwner(del), Cost: keysCost, Summary: "Delete a key"},
	{Name: "UNLINK", Arity: -2, Keys: allArgs, Run: OnOwner(del), Cost: keysCost, Summary: "Delete a key asynchronously in another thread. Otherwise it is just as DEL, but non blocking."},
	{Name: "EXISTS", Arity: -2, Keys: allArgs, Run: OnView(exists), Cost: keysCost, Summary: "Determine if a key exists"},
	{Name: "TOUCH", Arity: -2, Keys: allArgs, Run: OnView(touch), Cost: keysCost, Summary: "Alters the last access time of a key(s). Returns the number of existing keys specified."},
	{Name: "TYPE", Arity: 2, Keys: oneKey, Run: OnView(typeOf), Summary: "Determine the type stored at key"},
	{Name: "RENAME", Arity: 3, Keys: twoKeys, Run: OnOwner(rename), Summary: "Rename a key"},
	{Name: "RENAMENX", Arity: 3, Keys: twoKeys, Run: OnOwner(renameNX), Summary: "Rename a key, only if the new key does not exist"},
	{Name: "COPY", Arity: -3, Keys: twoKeys, Run: OnOwner(copyKey), Flags: DenyOOM, Summary: "Copy a key"},
	{Name: "MOVE", Arity: 3, Keys: oneKey, Run: OnOwner(move), Summary: "Move a key to another database"},
}

// del is DEL and UNLINK: taking a key out is O(1), whatever its value is
// (reports D2).
func del(c *Call, tx *mvcc.Tx) error {
	c.count(&tx.View, func(key []byte) bool {
		if !tx.Delete(key) {
			return false
		}
		c.Notify('g', "del", key)
		return true
	})
	return nil
}

func exists(c *Call, v *mvcc.View) error {
	c.count(v, func(key []byte) bool {
		_, ok := v.PeekCounted(key)
		return ok
	})
	return nil
}

// touch sets access clocks even for a client that said CLIENT NO-TOUCH, but not
// when so many keys are named that it reads versions.
func touch(c *Call, v *mvcc.View) error {
	defer func(was bool) { v.NoTouch = was }(v.NoTouch)
	v.NoTouch = v.Frozen()
	c.count(v, func(key []byte) bool {
		_, ok := v.Get(key)
		return ok
	})
	return nil
}

// count answers of how many of the keys, which are all arguments, it is so.
func (c *Call) count(v *mvcc.View, so func(key []byte) bool) {
	n := int64(0)
	for i, key := range c.Args[1:] {
		c.next(v, i, key)
		if so(key) {
			n++
		}
		c.pauseAt(i)
	}
	c.Out.Int(n)
}

func typeOf(c *Call, v *mvcc.View) error {
	name := "none"
	if e, ok := v.PeekCounted(c.Args[1]); ok {
		name = e.Type().String()
	}
	c.Out.Simple(name)
	return nil
}

func rename(c *Call, tx *mvcc.Tx) error {
	if _, err := renameKey(c, tx, false); err != nil {
		return err
	}
	c.Out.OK()
	return nil
}

func renameNX(c *Call, tx *mvcc.Tx) error {
	done, err := renameKey(c, tx, true)
	if err != nil {
		return err
	}
	c.Out.Int(toInt(done))
	return nil
}

// renameKey says whether it renamed the key.
func renameKey(c *Call, tx *mvcc.Tx, nx bool) (done bool, err error) {
	from, to := c.Args[1], c.Args[2]
	if _, ok := tx.Lookup(from); !ok {
		return false, ErrNoKey
	}
	if bytes.Equal(from, to) {
		return false, nil
	}
	_, taken := tx.Lookup(to)
	if taken && nx {
		return false, nil
	}
	changes := tx.Changes
	tx.Rename(from, to)
	if taken {
		c.Notify('n', "new", to) // Redis deletes it and adds another
	}
	tx.Changes = changes + 1
	c.Notify('g', "rename_from", from)
	c.Notify('g', "rename_to", to)
	return true, nil
}

func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

type copyOptions struct {
	replace bool
	db      int
}

func parseCopy(c *Call, databases int) (o copyOptions, err error) {
	o.db = c.DB
	for i := 3; i < len(c.Args); i++ {
		switch {
		case c.Is(i, "replace"):
			o.replace = true
		case c.Is(i, "db") && i+1 < len(c.Args):
			i++
			if o.db, err = parseDB(c.Args[i], databases); err != nil {
				return o, err
			}
		default:
			return o, ErrSyntax
		}
	}
	return o, nil
}

func copyKey(c *Call, tx *mvcc.Tx) error {
	o, err := parseCopy(c, tx.Space().Databases())
	if err != nil {
		return err
	}
	from, to := c.Args[1], c.Args[2]
	if o.db == c.DB && bytes.Equal(from, to) {
		return ErrSameObject
	}
	if _, ok := tx.Get(from); !ok {
		c.Out.Int(0)
		return nil
	}
	tx.Select(o.db)
	if _, taken := tx.Lookup(to); taken && !o.replace {
		tx.Select(c.DB)
		c.Out.Int(0)
		return nil
	}
	transfer(tx, c.DB, from, o.db, to)
	c.NotifyIn(o.db, 'g', "copy_to", to)
	c.Out.Int(1)
	return nil
}

// transfer copies a key that is there from one database to another, with its
// expiry, and leaves the transaction at the first.
func transfer(tx *mvcc.Tx, db int, from []byte, toDB int, to []byte) {
	tx.Select(db)
	e, _ := tx.Peek(from)
	tx.Select(toDB)
	tx.CopyTo(to, &e, e.Expire())
	tx.Select(db)
}

func move(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	db, err := parseDB(c.Args[2], tx.Space().Databases())
	switch {
	case err != nil:
		return err
	case db == c.DB:
		return ErrSameObject
	}
	_, ok := tx.Lookup(key)
	if ok {
		tx.Select(db)
		_, taken := tx.Lookup(key)
		tx.Select(c.DB)
		ok = !taken
	}
	if ok {
		changes := tx.Changes
		transfer(tx, c.DB, key, db, key)
		tx.Delete(key)
		tx.Changes = changes + 1
		c.Notify('g', "move_from", key)
		c.NotifyIn(db, 'g', "move_to", key)
	}
	c.Out.Int(toInt(ok))
	return nil
}
