package commands

import (
	"math"

	"firn/mvcc"
)

var flushCommands = []Command{
	{Name: "FLUSHDB", Arity: -1, Keys: allKeys, Run: OnOwner(flushDB), Summary: "Remove all keys from the current database"},
	{Name: "FLUSHALL", Arity: -1, Keys: allKeys, Run: OnOwner(flushAll), Summary: "Remove all keys from all databases"},
	{Name: "SWAPDB", Arity: 3, Keys: allKeys, Run: OnOwner(swapDB), Summary: "Swaps two Redis databases"},
	{Name: "WAIT", Arity: 3, Run: OnConn(wait), Flags: NoScript, Summary: "Wait for the synchronous replication of all the write commands sent in the context of the current connection"},
	{Name: "WAITAOF", Arity: 4, Run: OnConn(waitAOF), Flags: NoScript, Summary: "Blocks until all of the preceding write commands sent by the connection are written to the append-only file of the master and/or replicas."},
}

// isFlushMode says whether argument i is ASYNC or SYNC. To us they are one: a
// flush only lets go of the keyspace.
func isFlushMode(c *Call, i int) bool { return c.Is(i, "async") || c.Is(i, "sync") }

func checkFlushArgs(c *Call) error {
	if len(c.Args) > 2 || len(c.Args) == 2 && !isFlushMode(c, 1) {
		return ErrSyntax
	}
	return nil
}

// A flush is an effect even if there was nothing to remove, as in Redis.
func flushDB(c *Call, tx *mvcc.Tx) error {
	if err := checkFlushArgs(c); err != nil {
		return err
	}
	flush(tx, c.DB)
	c.Propagate(c.Args...)
	c.Out.OK()
	return nil
}

func flushAll(c *Call, tx *mvcc.Tx) error {
	if err := checkFlushArgs(c); err != nil {
		return err
	}
	for db := range tx.Space().Databases() {
		flush(tx, db)
	}
	c.Propagate(c.Args...)
	c.Out.OK()
	return nil
}

func flush(tx *mvcc.Tx, db int) {
	for _, s := range tx.Space().Stores {
		keys, _ := s.Len(db)
		tx.Changes += int64(keys)
		s.Flush(db)
	}
}

func swapDB(c *Call, tx *mvcc.Tx) error {
	a, ok := parseInt32(c.Args[1])
	if !ok {
		return ErrFirstDB
	}
	b, ok := parseInt32(c.Args[2])
	if !ok {
		return ErrSecondDB
	}
	if n := int64(tx.Space().Databases()); a < 0 || a >= n || b < 0 || b >= n {
		return ErrDBIndex
	}
	for _, s := range tx.Space().Stores {
		s.Swap(int(a), int(b), tx.Now)
	}
	tx.Changes++
	c.Out.OK()
	return nil
}

// parseInt32 reads an argument that Redis keeps in an int.
func parseInt32(b []byte) (int64, bool) {
	n, ok := ParseInt(b)
	return n, ok && n >= math.MinInt32 && n <= math.MaxInt32
}

// parseDB reads the number of a database.
func parseDB(b []byte, databases int) (int, error) {
	n, ok := ParseInt(b)
	switch {
	case !ok:
		return 0, ErrNotInteger
	case n < math.MinInt32 || n > math.MaxInt32:
		return 0, ErrRange(math.MinInt32, math.MaxInt32)
	case n < 0 || n >= int64(databases):
		return 0, ErrDBIndex
	}
	return int(n), nil
}

// wait is WAIT. There are no replicas, and none can come while it waits, so it
// says so at once where Redis would let the timeout pass.
func wait(c *Call) error {
	if _, ok := ParseInt(c.Args[1]); !ok {
		return ErrNotInteger
	}
	if err := checkTimeout(c.Args[2]); err != nil {
		return err
	}
	c.Out.Int(0)
	return nil
}

// waitAOF is WAITAOF of Redis 7.2, on a server without an append-only file.
func waitAOF(c *Call) error {
	local, ok := ParseInt(c.Args[1])
	if !ok {
		return ErrNotInteger
	}
	if local < 0 || local > 1 {
		return ErrRange(0, 1)
	}
	replicas, ok := ParseInt(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if replicas < 0 {
		return ErrNotPositive
	}
	if err := checkTimeout(c.Args[3]); err != nil {
		return err
	}
	if local > 0 {
		return ErrWaitAOF
	}
	c.Out.Array(2)
	c.Out.Int(0)
	c.Out.Int(0)
	return nil
}

// checkTimeout checks a timeout in milliseconds.
func checkTimeout(b []byte) error {
	n, ok := ParseInt(b)
	switch {
	case !ok:
		return ErrTimeout
	case n < 0:
		return ErrTimeoutNeg
	}
	return nil
}
