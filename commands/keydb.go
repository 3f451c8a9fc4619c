package commands

import "firn/mvcc"

// keydbCommands are what KeyDB adds to Redis, but for the expiry of members.
var keydbCommands = []Command{
	{Name: "KEYDB.MEXISTS", Arity: -2, Keys: allArgs, Run: OnView(mexists), Cost: keysCost, Summary: "Determine of each key if it exists"},
	{Name: "KEYDB.HRENAME", Arity: 4, Keys: oneKey, Run: OnOwner(hrename), Summary: "Rename a hash field"},
	{Name: "KEYDB.NHSET", Arity: -3, Keys: allKeys, Run: OnOwner(nhset), Flags: DenyOOM, Summary: "Set a value of a nested hash by its path"},
	{Name: "KEYDB.NHGET", Arity: -2, Keys: allKeys, Run: OnView(nhget), Summary: "Get a value, or all below it, of a nested hash by its path"},
	{Name: "LFENCE", Arity: 1, Run: OnConn(lfence), Summary: "Wait until the commands before have been done"},
}

func mexists(c *Call, v *mvcc.View) error {
	keys := c.Args[1:]
	c.Out.Array(len(keys))
	for i, key := range keys {
		_, ok := v.Get(key)
		c.Out.Bool(ok)
		c.listed(&i)
	}
	return nil
}

// hrename gives the value of a field to another, whose own is dropped. It does
// not expire.
func hrename(c *Call, tx *mvcc.Tx) error {
	there, err := checkHash(c, tx)
	if err != nil {
		return err
	}
	if !there {
		c.Out.Null()
		return nil
	}
	w := tx.WriteHash(c.Args[1])
	defer w.Close()
	value, ok := w.Get(c.Args[2])
	if !ok {
		return ErrNoField
	}
	value = append([]byte(nil), value...)
	w.Delete(c.Args[2])
	w.Delete(c.Args[3])
	w.Set(c.Args[3], value)
	c.Out.Int(1)
	return nil
}

// lfence has nothing to wait for: what a connection has been answered is done.
func lfence(c *Call) error {
	c.Out.OK()
	return nil
}
