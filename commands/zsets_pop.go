package commands

import "firn/mvcc"

func zpopmin(c *Call, tx *mvcc.Tx) error { return zpop(c, tx, false) }

func zpopmax(c *Call, tx *mvcc.Tx) error { return zpop(c, tx, true) }

// zpop is ZPOPMIN and ZPOPMAX. In RESP3 an element is a pair of its own only if
// a count was given.
func zpop(c *Call, tx *mvcc.Tx, most bool) error {
	count, err := parseZpop(c)
	if err != nil {
		return err
	}
	e, ok := tx.Lookup(c.Args[1])
	if ok && e.Type() != mvcc.ZSet {
		return ErrWrongType
	}
	if !ok || count == 0 {
		c.Out.Array(0)
		return nil
	}
	p := zpopping{key: c.Args[1], count: count, most: most, nested: c.Out.Proto() == RESP3 && len(c.Args) == 3}
	p.open(tx, &e)
	if p.nested {
		c.Out.Array(p.n)
	} else {
		c.Out.Array(2 * p.n)
	}
	p.pop(c, tx)
	return nil
}

func parseZpop(c *Call) (count int64, err error) {
	switch len(c.Args) {
	case 2:
		return 1, nil
	case 3:
		if n, ok := ParseInt(c.Args[2]); ok && n >= 0 {
			return n, nil
		}
		return 0, ErrNotPositive
	}
	return 0, ErrSyntax
}

// A zpopping takes elements from one end of a sorted set.
type zpopping struct {
	key    []byte
	count  int64 // at most so many
	most   bool  // those with the greatest scores
	nested bool  // each is an array of its own in the reply

	w *mvcc.ZSetWriter
	n int // how many there are to take
}

func (p *zpopping) open(tx *mvcc.Tx, e *mvcc.Entry) {
	p.w = tx.EditZSet(p.key, e)
	p.n = int(min(p.count, int64(p.w.Len())))
}

// pop replies the elements and takes them out.
func (p *zpopping) pop(c *Call, tx *mvcc.Tx) {
	i := 0
	each := func(member []byte, score float64) bool {
		if p.nested {
			c.Out.Array(2)
		}
		c.Out.Bulk(member)
		c.Out.Double(score)
		c.pauseAt(i)
		i++
		return i < p.n
	}
	z, size := p.w.Value(), p.w.Len()
	lo, event := 0, "zpopmin"
	if p.most {
		lo, event = size-p.n, "zpopmax"
		z.Descend(size-1, each)
	} else {
		z.Ascend(0, each)
	}
	removeRanks(c, tx, p.w, p.key, lo, lo+p.n)
	c.notifyRemoval(event, p.key, size-p.n)
}

func zpopCost(c *Call, v *mvcc.View) int {
	if len(c.Args) < 3 {
		return 1
	}
	count, err := parseZpop(c)
	if err != nil {
		return 1
	}
	return int(min(count, zsize(v, c.Args[1])))
}

// zsize is the size of the sorted set at a key; 0 if there is none.
func zsize(v *mvcc.View, key []byte) int64 {
	if e, ok := v.Peek(key); ok && e.Type() == mvcc.ZSet {
		return int64(e.Count())
	}
	return 0
}

func zmpop(c *Call, tx *mvcc.Tx) error {
	p, err := parseMpop(c, 1, "MIN", "MAX")
	if err != nil {
		return err
	}
	if popped, err := p.popZSet(c, tx); popped || err != nil {
		return err
	}
	c.Out.NullArray()
	return nil
}

// popZSet pops from the first of the sorted sets that is there, and says whether
// one is.
func (p *mpopCall) popZSet(c *Call, tx *mvcc.Tx) (popped bool, err error) {
	for _, key := range p.keys {
		e, ok := tx.Lookup(key)
		if ok && e.Type() != mvcc.ZSet {
			return false, ErrWrongType
		}
		if ok {
			zmpopFrom(c, tx, &e, key, p)
			return true, nil
		}
	}
	return false, nil
}

// zmpopFrom pops from the key, which is there.
func zmpopFrom(c *Call, tx *mvcc.Tx, e *mvcc.Entry, key []byte, p *mpopCall) {
	name := "ZPOPMIN"
	if !p.first {
		name = "ZPOPMAX"
	}
	taker := zpopping{key: key, count: p.count, most: !p.first, nested: true}
	taker.open(tx, e)
	c.Out.Array(2)
	c.Out.Bulk(key)
	c.Out.Array(taker.n)
	taker.pop(c, tx)
	c.Propagate([]byte(name), key, AppendInt(nil, int64(taker.n)))
}

func zmpopCost(c *Call, v *mvcc.View) int { return zmpopCostAt(c, v, 1) }

func zmpopCostAt(c *Call, v *mvcc.View, at int) int {
	p, err := parseMpop(c, at, "MIN", "MAX")
	if err != nil {
		return 1
	}
	for _, key := range p.keys {
		if n := zsize(v, key); n > 0 {
			return len(p.keys) + int(min(n, p.count))
		}
	}
	return len(p.keys)
}
