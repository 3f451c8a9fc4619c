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
