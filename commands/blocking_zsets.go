package commands

import "firn/mvcc"

func bzpopmin(c *Call, tx *mvcc.Tx) error { return blockingZPop(c, tx, false) }
func bzpopmax(c *Call, tx *mvcc.Tx) error { return blockingZPop(c, tx, true) }

// blockingZPop is BZPOPMIN and BZPOPMAX: it pops from the first of the sorted
// sets that is there, or from the first that comes.
func blockingZPop(c *Call, tx *mvcc.Tx, most bool) error {
	last := len(c.Args) - 1
	timeout, err := parseWait(c, last)
	if err != nil {
		return err
	}
	keys := c.Args[1:last]
	for i, key := range keys {
		e, ok := tx.Lookup(key)
		if ok && e.Type() != mvcc.ZSet {
			return ErrWrongType
		}
		if ok {
			zpopNamed(c, tx, &e, key, most)
			return nil
		}
		c.pauseAt(i)
	}
	return c.blockOr(c.Out.NullArray, &Wait{
		Keys: keys, Type: mvcc.ZSet, Timeout: timeout,
		serve: func(c *Call, tx *mvcc.Tx, i int) error {
			e, _ := tx.Lookup(keys[i])
			zpopNamed(c, tx, &e, keys[i], most)
			return nil
		},
	})
}

// zpopNamed moves a member and its score into the reply, behind their key.
func zpopNamed(c *Call, tx *mvcc.Tx, e *mvcc.Entry, key []byte, most bool) {
	p := zpopping{key: key, count: 1, most: most}
	p.open(tx, e)
	c.Out.Array(3)
	c.Out.Bulk(key)
	p.pop(c, tx)
	name := "ZPOPMIN"
	if most {
		name = "ZPOPMAX"
	}
	c.Propagate([]byte(name), key)
}

func bzmpop(c *Call, tx *mvcc.Tx) error {
	p, timeout, err := parseBlockingMpop(c, "MIN", "MAX")
	if err != nil {
		return err
	}
	if popped, err := p.popZSet(c, tx); popped || err != nil {
		return err
	}
	return c.blockOr(c.Out.NullArray, &Wait{
		Keys: p.keys, Type: mvcc.ZSet, Timeout: timeout,
		serve: func(c *Call, tx *mvcc.Tx, i int) error {
			e, _ := tx.Lookup(p.keys[i])
			zmpopFrom(c, tx, &e, p.keys[i], &p)
			return nil
		},
	})
}

func bzmpopCost(c *Call, v *mvcc.View) int { return zmpopCostAt(c, v, 2) }
