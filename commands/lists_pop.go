package commands

import "firn/mvcc"

func popEvent(left bool) string {
	if left {
		return "lpop"
	}
	return "rpop"
}

func lpop(c *Call, tx *mvcc.Tx) error { return pop(c, tx, true) }
func rpop(c *Call, tx *mvcc.Tx) error { return pop(c, tx, false) }

func popCost(c *Call, v *mvcc.View) int {
	if len(c.Args) < 3 {
		return 1
	}
	n, ok := ParseInt(c.Args[2])
	if !ok || n < 0 {
		return 1
	}
	return elementsCost(v, c.Args[1], n, repliedAtOnce)
}

func pop(c *Call, tx *mvcc.Tx, left bool) error {
	count := int64(-1) // not given: the reply is one element
	switch len(c.Args) {
	case 2:
	case 3:
		n, ok := ParseInt(c.Args[2])
		if !ok || n < 0 {
			return ErrNotPositive
		}
		count = n
	default:
		return ErrArity(c.Row.FullName())
	}
	e, there, err := lookupList(tx, c.Args[1])
	switch {
	case err != nil:
		return err
	case !there && count < 0:
		c.Out.Null()
	case !there:
		c.Out.NullArray()
	case count == 0:
		c.Out.Array(0)
	case count < 0:
		popOne(c, tx.EditList(c.Args[1], &e), c.Args[1], left)
	default:
		popMany(c, tx.EditList(c.Args[1], &e), c.Args[1], left, count)
	}
	return nil
}

// popOne moves an element at an end into the reply.
func popOne(c *Call, w *mvcc.ListWriter, key []byte, left bool) {
	c.Out.BulkLasting(popElement(w, left))
	popped(c, w, key, left)
}

func popElement(w *mvcc.ListWriter, left bool) []byte {
	if left {
		return w.PopLeft()
	}
	return w.PopRight()
}

// popMany moves up to count elements into an array, and returns how many.
func popMany(c *Call, w *mvcc.ListWriter, key []byte, left bool, count int64) (n int) {
	size := w.Len()
	n = int(min(count, int64(size)))
	v := w.Value()
	if left {
		c.replyElements(&v, 0, n, false)
		w.RemoveRange(0, n)
	} else {
		c.replyElements(&v, size-1, n, true)
		w.RemoveRange(size-n, n)
	}
	popped(c, w, key, left)
	return n
}

// popped ends a pop.
func popped(c *Call, w *mvcc.ListWriter, key []byte, left bool) {
	emptied := w.Len() == 0
	w.Close()
	c.Notify('l', popEvent(left), key)
	if emptied {
		c.Notify('g', "del", key)
	}
}

// mpopCall is a parsed LMPOP or ZMPOP.
type mpopCall struct {
	keys  [][]byte
	first bool // from the end that is named first: LEFT, MIN
	count int64
}

// parseMpop reads LMPOP or ZMPOP, whose ends have these names. The number of keys
// is the argument at.
func parseMpop(c *Call, at int, first, last string) (p mpopCall, err error) {
	n, ok := ParseInt(c.Args[at])
	if !ok || n < 1 {
		return p, ErrNumKeys
	}
	if n >= int64(len(c.Args)-at-1) {
		return p, ErrSyntax
	}
	where := at + 1 + int(n)
	p.keys, p.first = c.Args[at+1:where], c.Is(where, first)
	if !p.first && !c.Is(where, last) {
		return p, ErrSyntax
	}
	for i := where + 1; i < len(c.Args); i += 2 {
		if p.count != 0 || !c.Is(i, "COUNT") || i+1 == len(c.Args) {
			return p, ErrSyntax
		}
		if p.count, ok = ParseInt(c.Args[i+1]); !ok || p.count < 1 {
			return p, ErrCountPositive
		}
	}
	p.count = max(p.count, 1)
	return p, nil
}

// parseSide reads LEFT or RIGHT.
func parseSide(c *Call, i int) (left bool, err error) {
	switch {
	case c.Is(i, "LEFT"):
		return true, nil
	case c.Is(i, "RIGHT"):
		return false, nil
	}
	return false, ErrSyntax
}

// parseSides reads from which end LMOVE takes and to which it puts.
func parseSides(c *Call) (from, to bool, err error) {
	if from, err = parseSide(c, 3); err == nil {
		to, err = parseSide(c, 4)
	}
	return from, to, err
}

func lmpop(c *Call, tx *mvcc.Tx) error {
	p, err := parseMpop(c, 1, "LEFT", "RIGHT")
	if err != nil {
		return err
	}
	if popped, err := p.popList(c, tx); popped || err != nil {
		return err
	}
	c.Out.NullArray()
	return nil
}

// popList pops from the first of the lists that is there, and says whether one
// is.
func (p *mpopCall) popList(c *Call, tx *mvcc.Tx) (popped bool, err error) {
	for i, key := range p.keys {
		e, there, err := lookupList(tx, key)
		if err != nil {
			return false, err
		}
		if there {
			p.popFrom(c, tx.EditList(key, &e), key)
			return true, nil
		}
		c.pauseAt(i)
	}
	return false, nil
}

func (p *mpopCall) popFrom(c *Call, w *mvcc.ListWriter, key []byte) {
	c.Out.Array(2)
	c.Out.Bulk(key)
	n := popMany(c, w, key, p.first, p.count)
	c.Propagate([]byte(popEvent(p.first)), key, AppendInt(nil, int64(n)))
}

func lmpopCost(c *Call, v *mvcc.View) int { return mpopCost(c, v, 1) }

func mpopCost(c *Call, v *mvcc.View, at int) int {
	p, err := parseMpop(c, at, "LEFT", "RIGHT")
	if err != nil {
		return 1
	}
	for i, key := range p.keys {
		if _, ok := v.Peek(key); ok {
			return i + elementsCost(v, key, p.count, repliedAtOnce)
		}
	}
	return len(p.keys)
}

func lmove(c *Call, tx *mvcc.Tx) error {
	from, to, err := parseSides(c)
	if err != nil {
		return err
	}
	return moveElement(c, tx, from, to)
}

func rpoplpush(c *Call, tx *mvcc.Tx) error { return moveElement(c, tx, false, true) }

// moveElement pops at one end of the first key's list and pushes at one end of
// the second's, which may be the same.
func moveElement(c *Call, tx *mvcc.Tx, fromLeft, toLeft bool) error {
	from, to := c.Args[1], c.Args[2]
	e, there, err := lookupList(tx, from)
	if err != nil {
		return err
	}
	if !there {
		c.Out.Null()
		return nil
	}
	if _, _, err := lookupList(tx, to); err != nil {
		return err
	}
	changes := tx.Changes
	w := tx.EditList(from, &e)
	var scratch [64]byte
	elem := append(scratch[:0], popElement(w, fromLeft)...)
	emptied := false
	if string(from) != string(to) {
		emptied = w.Len() == 0
		w.Close()
		w = tx.WriteList(to)
	}
	if toLeft {
		w.PushLeft(elem)
	} else {
		w.PushRight(elem)
	}
	w.Close()
	tx.Changes = changes + 1
	c.Out.Bulk(elem)
	c.Notify('l', pushEvent(toLeft), to)
	c.Notify('l', popEvent(fromLeft), from)
	if emptied {
		c.Notify('g', "del", from)
	}
	return nil
}
