package commands

import (
	"bytes"

	"firn/mvcc"
)

// checkSet says whether a key that is going to be written is a set or not
// there.
func checkSet(c *Call, tx *mvcc.Tx, key []byte) (there bool, err error) {
	e, ok := tx.Lookup(key)
	if ok && e.Type() != mvcc.Set {
		return false, ErrWrongType
	}
	return ok, nil
}

func sadd(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	if _, err := checkSet(c, tx, key); err != nil {
		return err
	}
	w := tx.WriteSet(key)
	added := 0
	for i, m := range c.Args[2:] {
		if w.Add(m) {
			added++
		}
		c.pauseAt(i)
	}
	w.Close()
	if added > 0 {
		c.Notify('s', "sadd", key)
	}
	c.Out.Int(int64(added))
	return nil
}

func srem(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	there, err := checkSet(c, tx, key)
	if err != nil {
		return err
	}
	if !there {
		c.Out.Int(0)
		return nil
	}
	w := tx.WriteSet(key)
	deleted := 0
	for i, m := range c.Args[2:] {
		if w.Remove(m) {
			deleted++
		}
		c.pauseAt(i)
	}
	emptied := w.Len() == 0
	w.Close()
	c.removed('s', "srem", key, deleted, emptied)
	c.Out.Int(int64(deleted))
	return nil
}

func smove(c *Call, tx *mvcc.Tx) error {
	from, to, member := c.Args[1], c.Args[2], c.Args[3]
	e, there := tx.Lookup(from)
	dest, taken := tx.Lookup(to)
	switch {
	case !there:
		c.Out.Int(0)
		return nil
	case e.Type() != mvcc.Set || taken && dest.Type() != mvcc.Set:
		return ErrWrongType
	case bytes.Equal(from, to):
		s := dest.Set(tx.Now)
		c.Out.Int(toInt(s.Has(member)))
		return nil
	}
	w := tx.WriteSet(from)
	removed, emptied := w.Remove(member), w.Len() == 0
	w.Close()
	if !removed {
		c.Out.Int(0)
		return nil
	}
	c.removed('s', "srem", from, 1, emptied)
	w = tx.WriteSet(to)
	if w.Add(member) {
		c.Notify('s', "sadd", to)
	}
	w.Close()
	c.Out.Int(1)
	return nil
}
