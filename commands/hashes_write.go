package commands

import "firn/mvcc"

// checkHash says whether the command's key, which it is going to write, is a
// hash or not there.
func checkHash(c *Call, tx *mvcc.Tx) (there bool, err error) {
	_, there, err = findHash(c, tx)
	return there, err
}

// findHash looks up the hash at the command's key, which it is going to write.
func findHash(c *Call, tx *mvcc.Tx) (e mvcc.Entry, there bool, err error) {
	e, there = tx.Lookup(c.Args[1])
	if there && e.Type() != mvcc.Hash {
		return e, false, ErrWrongType
	}
	return e, there, nil
}

// openHash opens the hash at the command's key, or begins one.
func openHash(c *Call, tx *mvcc.Tx) (*mvcc.HashWriter, error) {
	e, there, err := findHash(c, tx)
	switch {
	case err != nil:
		return nil, err
	case there:
		return tx.EditHash(c.Args[1], &e), nil
	}
	return tx.WriteHash(c.Args[1]), nil
}

func hset(c *Call, tx *mvcc.Tx) error {
	created, err := setFields(c, tx)
	if err != nil {
		return err
	}
	c.Out.Int(int64(created))
	return nil
}

func hmset(c *Call, tx *mvcc.Tx) error {
	if _, err := setFields(c, tx); err != nil {
		return err
	}
	c.Out.OK()
	return nil
}

// setFields is HSET and HMSET but for the reply. Every field counts as a change,
// also one that had the value already, and it no longer expires.
func setFields(c *Call, tx *mvcc.Tx) (created int, err error) {
	if len(c.Args)%2 == 1 {
		return 0, ErrArity(c.Row.full)
	}
	w, err := openHash(c, tx)
	if err != nil {
		return 0, err
	}
	changes := tx.Changes
	h := w.Value()
	expiries := h.HasExpiries()
	for i := 2; i < len(c.Args); i += 2 {
		if w.Set(c.Args[i], c.Args[i+1]) {
			created++
		} else if expiries {
			w.SetExpireAt(c.Args[i], 0)
		}
		c.pauseAt(i / 2)
	}
	w.Close()
	tx.Changes = changes + int64(len(c.Args)/2-1)
	c.Notify('h', "hset", c.Args[1])
	return created, nil
}

func hsetnx(c *Call, tx *mvcc.Tx) error {
	w, err := openHash(c, tx)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, found := w.Get(c.Args[2]); found {
		c.Out.Int(0)
		return nil
	}
	w.Set(c.Args[2], c.Args[3])
	c.Notify('h', "hset", c.Args[1])
	c.Out.Int(1)
	return nil
}

func hdel(c *Call, tx *mvcc.Tx) error {
	e, there, err := findHash(c, tx)
	if err != nil || !there {
		c.Out.Int(0)
		return err
	}
	key := c.Args[1]
	w := tx.EditHash(key, &e)
	deleted := 0
	for i, field := range c.Args[2:] {
		if w.Delete(field) {
			deleted++
		}
		c.pauseAt(i)
	}
	emptied := w.Len() == 0
	w.Close()
	c.removed('h', "hdel", key, deleted, emptied)
	c.Out.Int(int64(deleted))
	return nil
}

// removed tells of so many members that went, and of the key, if it went with
// the last one.
func (c *Call) removed(class byte, event string, key []byte, members int, emptied bool) {
	if members == 0 {
		return
	}
	c.Notify(class, event, key)
	if emptied {
		c.Notify('g', "del", key)
	}
}

func hincrby(c *Call, tx *mvcc.Tx) error {
	by, ok := ParseInt(c.Args[3])
	if !ok {
		return ErrNotInteger
	}
	w, err := openHash(c, tx)
	if err != nil {
		return err
	}
	defer w.Close()
	n := int64(0)
	if old, found := w.Get(c.Args[2]); found {
		if n, ok = ParseInt(old); !ok {
			return ErrHashNotInteger
		}
	}
	sum := n + by
	if (by > 0) != (sum > n) && by != 0 {
		return ErrOverflow
	}
	var digits [maxIntLen]byte
	w.Set(c.Args[2], AppendInt(digits[:0], sum))
	c.Notify('h', "hincrby", c.Args[1])
	c.Out.Int(sum)
	return nil
}

func hincrbyfloat(c *Call, tx *mvcc.Tx) error {
	key, field := c.Args[1], c.Args[2]
	by, ok := ParseFloat80(c.Args[3])
	switch {
	case !ok:
		return ErrNotFloat
	case by.IsInf():
		return ErrValueNaNOrInf
	}
	w, err := openHash(c, tx)
	if err != nil {
		return err
	}
	defer w.Close()
	n := Float80{}
	if old, found := w.Get(field); found {
		if n, ok = ParseFloat80(old); !ok {
			return ErrHashNotFloat
		}
	}
	sum, ok := n.Add(by)
	if !ok {
		return ErrNaNOrInf
	}
	value := sum.Append(nil)
	w.Set(field, value)
	c.Notify('h', "hincrbyfloat", key)
	c.Out.Bulk(value)
	// Others get the result: their arithmetic might be another one.
	c.Propagate([]byte("HSET"), key, field, value)
	if at := w.ExpireAt(field); at != 0 {
		c.propagateFieldExpiry(key, at, [][]byte{field})
	}
	return nil
}

// propagateFieldExpiry tells others the instant at which fields expire.
func (c *Call) propagateFieldExpiry(key []byte, at int64, fields [][]byte) {
	line := [][]byte{[]byte("HPEXPIREAT"), key, AppendInt(nil, at), []byte("FIELDS"), AppendInt(nil, int64(len(fields)))}
	c.Propagate(append(line, fields...)...)
}
