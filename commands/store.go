package commands

import "firn/mvcc"

// Here is what the storing commands (OnStore) have in common: how a result gets
// under its key, and how it is told where the command line would not do.

// deleteDest returns the commit of a command whose result is empty.
func deleteDest(c *Call, key []byte) func(*mvcc.Tx) error {
	return func(tx *mvcc.Tx) error {
		if tx.Delete(key) {
			c.Notify('g', "del", key)
			if c.ByResult {
				c.Propagate([]byte("DEL"), key)
			}
		}
		c.Out.Int(0)
		return nil
	}
}

// storeString returns the commit of a command whose result is a string of that
// size, in chunks as mvcc.Tx.SetChunks wants them. It answers with the size.
func storeString(c *Call, key []byte, size int64, chunks [][]byte) func(*mvcc.Tx) error {
	if c.ByResult {
		tellString(c, key, size, chunks)
	}
	return func(tx *mvcc.Tx) error {
		tx.Expire(key)
		switch {
		case size > mvcc.ChunkSize:
			tx.SetChunks(key, size, chunks)
		case chunks[0] == nil:
			tx.SetRaw(key, make([]byte, size), 0)
		default:
			tx.SetRaw(key, chunks[0], 0)
		}
		c.Notify('$', "set", key)
		c.Out.Int(size)
		return nil
	}
}

// tellString makes the string the command's effects. SETRANGE leaves what
// SetRaw and SetChunks do: never an integer, and no memory for zeros.
func tellString(c *Call, key []byte, size int64, chunks [][]byte) {
	setrange := []byte("SETRANGE")
	c.Propagate([]byte("DEL"), key)
	for i, b := range chunks {
		if b != nil {
			c.Propagate(setrange, key, AppendInt(nil, int64(i)*mvcc.ChunkSize), b)
		}
	}
	if chunks[len(chunks)-1] == nil {
		c.Propagate(setrange, key, AppendInt(nil, size-1), []byte{0})
	}
}

// noInteger is a member that makes a hash table of an intset, which it stays
// when the member is removed.
var noInteger = []byte("table")

// storeSet puts a set under the command's first key, and answers with its size.
// Table says that noInteger has been among its members.
func storeSet(c *Call, w *mvcc.SetWriter, event string, table bool) func(*mvcc.Tx) error {
	key, n := c.Args[1], int64(w.Len())
	if n == 0 {
		return deleteDest(c, key)
	}
	if c.ByResult {
		tellSet(c, key, w.Value(), table && !w.Has(noInteger))
	}
	return func(tx *mvcc.Tx) error {
		tx.Expire(key)
		tx.PutValue(key, w, 0)
		c.Notify('s', event, key)
		c.Out.Int(n)
		return nil
	}
}

// tellSet makes the set the command's effects, and itself a hash table if told
// so.
func tellSet(c *Call, key []byte, s mvcc.SetValue, table bool) {
	c.Propagate([]byte("DEL"), key)
	sadd := []byte("SADD")
	args, i := [][]byte{sadd, key}, 0
	if table {
		args = append(args, noInteger)
	}
	s.Each(func(member []byte) bool {
		if len(args) == toldAtOnce {
			c.Propagate(args...)
			args = [][]byte{sadd, key}
		}
		args = append(args, member)
		c.pauseAt(i)
		i++
		return true
	})
	c.Propagate(args...)
	if table {
		c.Propagate([]byte("SREM"), key, noInteger)
	}
}
