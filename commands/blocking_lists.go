package commands

import "firn/mvcc"

func blpop(c *Call, tx *mvcc.Tx) error { return blockingPop(c, tx, true) }
func brpop(c *Call, tx *mvcc.Tx) error { return blockingPop(c, tx, false) }

// blockingPop is BLPOP and BRPOP: it pops from the first of the lists that is
// there, or from the first that comes.
func blockingPop(c *Call, tx *mvcc.Tx, left bool) error {
	last := len(c.Args) - 1
	timeout, err := parseWait(c, last)
	if err != nil {
		return err
	}
	keys := c.Args[1:last]
	for i, key := range keys {
		e, there, err := lookupList(tx, key)
		if err != nil {
			return err
		}
		if there {
			popNamed(c, tx.EditList(key, &e), key, left)
			return nil
		}
		c.pauseAt(i)
	}
	return c.blockOr(c.Out.NullArray, &Wait{
		Keys: keys, Type: mvcc.List, Timeout: timeout,
		serve: func(c *Call, tx *mvcc.Tx, i int) error {
			popNamed(c, tx.WriteList(keys[i]), keys[i], left)
			return nil
		},
	})
}

// popNamed moves an element at an end into the reply, behind its key.
func popNamed(c *Call, w *mvcc.ListWriter, key []byte, left bool) {
	c.Out.Array(2)
	c.Out.Bulk(key)
	popOne(c, w, key, left)
	name := "RPOP"
	if left {
		name = "LPOP"
	}
	c.Propagate([]byte(name), key)
}

func blmove(c *Call, tx *mvcc.Tx) error {
	from, to, err := parseSides(c)
	if err != nil {
		return err
	}
	timeout, err := parseWait(c, 5)
	if err != nil {
		return err
	}
	return blockingMove(c, tx, timeout, func(c *Call, tx *mvcc.Tx) error {
		if err := moveElement(c, tx, from, to); err != nil {
			return err
		}
		c.Propagate([]byte("LMOVE"), c.Args[1], c.Args[2], c.Args[3], c.Args[4])
		return nil
	})
}

func brpoplpush(c *Call, tx *mvcc.Tx) error {
	timeout, err := parseWait(c, 3)
	if err != nil {
		return err
	}
	return blockingMove(c, tx, timeout, func(c *Call, tx *mvcc.Tx) error {
		if err := rpoplpush(c, tx); err != nil {
			return err
		}
		c.Propagate([]byte("RPOPLPUSH"), c.Args[1], c.Args[2])
		return nil
	})
}

// blockingMove moves an element of the first key's list now or when there is one.
func blockingMove(c *Call, tx *mvcc.Tx, timeout int64, move func(c *Call, tx *mvcc.Tx) error) error {
	_, there, err := lookupList(tx, c.Args[1])
	switch {
	case err != nil:
		return err
	case there:
		return move(c, tx)
	}
	return c.blockOr(c.Out.Null, &Wait{
		Keys: c.Args[1:2], Type: mvcc.List, Dest: c.Args[2], Timeout: timeout,
		serve: func(c *Call, tx *mvcc.Tx, _ int) error { return move(c, tx) },
	})
}

// parseBlockingMpop reads BLMPOP or BZMPOP, whose ends have these names.
func parseBlockingMpop(c *Call, first, last string) (p mpopCall, timeout int64, err error) {
	if p, err = parseMpop(c, 2, first, last); err == nil {
		timeout, err = parseWait(c, 1)
	}
	return p, timeout, err
}

func blmpop(c *Call, tx *mvcc.Tx) error {
	p, timeout, err := parseBlockingMpop(c, "LEFT", "RIGHT")
	if err != nil {
		return err
	}
	if popped, err := p.popList(c, tx); popped || err != nil {
		return err
	}
	return c.blockOr(c.Out.NullArray, &Wait{
		Keys: p.keys, Type: mvcc.List, Timeout: timeout,
		serve: func(c *Call, tx *mvcc.Tx, i int) error {
			key := p.keys[i]
			p.popFrom(c, tx.WriteList(key), key)
			return nil
		},
	})
}

func blmpopCost(c *Call, v *mvcc.View) int { return mpopCost(c, v, 2) }
