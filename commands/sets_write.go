package commands

import (
	"bytes"

	"firn/mvcc"
)

// findSet looks up the set at a key that is going to be written.
func findSet(tx *mvcc.Tx, key []byte) (e mvcc.Entry, there bool, err error) {
	e, there = tx.Lookup(key)
	if there && e.Type() != mvcc.Set {
		return e, false, ErrWrongType
	}
	return e, there, nil
}

// openSet opens what findSet has found, or begins a set.
func openSet(tx *mvcc.Tx, key []byte, e *mvcc.Entry, there bool) *mvcc.SetWriter {
	if there {
		return tx.EditSet(key, e)
	}
	return tx.WriteSet(key)
}

func sadd(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	e, there, err := findSet(tx, key)
	if err != nil {
		return err
	}
	w := openSet(tx, key, &e, there)
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
	e, there, err := findSet(tx, key)
	if err != nil {
		return err
	}
	if !there {
		c.Out.Int(0)
		return nil
	}
	w := tx.EditSet(key, &e)
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
