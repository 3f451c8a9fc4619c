package commands

import (
	"math"
	"slices"

	"firn/mvcc"
)

// lookupList looks up a list that is going to be written.
func lookupList(tx *mvcc.Tx, key []byte) (e mvcc.Entry, there bool, err error) {
	e, there = tx.Lookup(key)
	if there && e.Type() != mvcc.List {
		return e, false, ErrWrongType
	}
	return e, there, nil
}

func pushCost(c *Call, _ *mvcc.View) int { return (len(c.Args) - 2) / pushedAtOnce }

func lpush(c *Call, tx *mvcc.Tx) error  { return push(c, tx, true, true) }
func rpush(c *Call, tx *mvcc.Tx) error  { return push(c, tx, false, true) }
func lpushx(c *Call, tx *mvcc.Tx) error { return push(c, tx, true, false) }
func rpushx(c *Call, tx *mvcc.Tx) error { return push(c, tx, false, false) }

// push makes the list if it may.
func push(c *Call, tx *mvcc.Tx, left, makes bool) error {
	key := c.Args[1]
	e, there, err := lookupList(tx, key)
	if err != nil {
		return err
	}
	if !there && !makes {
		c.Out.Int(0)
		return nil
	}
	w := openList(tx, key, &e, there)
	for i, elem := range c.Args[2:] {
		if left {
			w.PushLeft(elem)
		} else {
			w.PushRight(elem)
		}
		c.pauseAt(i)
	}
	c.Out.Int(int64(w.Len()))
	w.Close()
	c.Notify('l', pushEvent(left), key)
	return nil
}

// openList opens the list that lookupList has looked up.
func openList(tx *mvcc.Tx, key []byte, e *mvcc.Entry, there bool) *mvcc.ListWriter {
	if there {
		return tx.EditList(key, e)
	}
	return tx.WriteList(key)
}

func pushEvent(left bool) string {
	if left {
		return "lpush"
	}
	return "rpush"
}

func lset(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	e, there, err := lookupList(tx, key)
	switch {
	case err != nil:
		return err
	case !there:
		return ErrNoKey
	}
	i, ok := ParseInt(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	w := tx.EditList(key, &e)
	at, ok := elementIndex(i, w.Len())
	if ok {
		w.Set(at, c.Args[3])
	}
	w.Close()
	if !ok {
		return ErrIndexRange
	}
	c.Notify('l', "lset", key)
	c.Out.OK()
	return nil
}

func linsert(c *Call, tx *mvcc.Tx) error {
	key, after := c.Args[1], c.Is(2, "AFTER")
	if !after && !c.Is(2, "BEFORE") {
		return ErrSyntax
	}
	e, there, err := lookupList(tx, key)
	if err != nil {
		return err
	}
	if !there {
		c.Out.Int(0)
		return nil
	}
	w := tx.EditList(key, &e)
	defer w.Close()
	v := w.Value()
	i := firstMatch(c, &v, c.Args[3])
	if i < 0 {
		c.Out.Int(-1)
		return nil
	}
	if after {
		i++
	}
	w.Insert(i, c.Args[4])
	c.Notify('l', "linsert", key)
	c.Out.Int(int64(w.Len()))
	return nil
}

// firstMatch returns the index of the first element equal to pivot, or -1.
func firstMatch(c *Call, l *mvcc.ListValue, pivot []byte) (at int) {
	i, at := 0, -1
	l.Ascend(0, func(b []byte) bool {
		if string(b) == string(pivot) {
			at = i
			return false
		}
		c.pauseAt(i)
		i++
		return true
	})
	return at
}

func ltrim(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	r, err := parseListRange(c)
	if err != nil {
		return err
	}
	e, there, err := lookupList(tx, key)
	switch {
	case err != nil:
		return err
	case there:
		w := tx.EditList(key, &e)
		size := w.Len()
		i, n := r.of(size)
		w.RemoveRange(i+n, size-i-n)
		w.RemoveRange(0, i)
		w.Close()
		c.Notify('l', "ltrim", key)
		if n == 0 {
			c.Notify('g', "del", key)
		}
	}
	c.Out.OK()
	return nil
}

func lrem(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	count, ok := ParseInt(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	e, there, err := lookupList(tx, key)
	switch {
	case err != nil:
		return err
	case !there:
		c.Out.Int(0)
		return nil
	}
	w := tx.EditList(key, &e)
	v := w.Value()
	m := listMatches{c: c, elem: c.Args[3], limit: math.MaxInt}
	if count != 0 {
		m.limit = int(max(count, -max(count, -math.MaxInt64)))
	}
	m.find(&v, count < 0)
	m.remove(w)
	emptied := w.Len() == 0
	w.Close()
	if m.n > 0 {
		c.Notify('l', "lrem", key)
	}
	if emptied {
		c.Notify('g', "del", key)
	}
	c.Out.Int(int64(m.n))
	return nil
}

// listMatches are the elements of a list that are equal to one, in runs.
type listMatches struct {
	c     *Call
	elem  []byte
	limit int // of elements
	n     int // elements
	runs  []listRun
	down  bool // the runs are in descending order
}

// listRun is n neighbours, from the at-th element on.
type listRun struct{ at, n int }

func (m *listMatches) find(l *mvcc.ListValue, down bool) {
	i, step := 0, 1
	if m.down = down; down {
		i, step = l.Len()-1, -1
	}
	look := func(b []byte) bool {
		if string(b) == string(m.elem) {
			m.add(i)
		}
		m.c.pauseAt(i)
		i += step
		return m.n < m.limit
	}
	if down {
		l.Descend(i, look)
	} else {
		l.Ascend(i, look)
	}
}

func (m *listMatches) add(i int) {
	m.n++
	if len(m.runs) > 0 {
		switch last := &m.runs[len(m.runs)-1]; i {
		case last.at + last.n:
			last.n++
			return
		case last.at - 1:
			last.at--
			last.n++
			return
		}
	}
	m.runs = append(m.runs, listRun{i, 1})
}

// remove takes the matches out: one run after the other, the last first, so that
// the others stay where they are; or all in one pass, if they are many.
func (m *listMatches) remove(w *mvcc.ListWriter) {
	if !m.down {
		slices.Reverse(m.runs)
	}
	if len(m.runs) > filterFrom && len(m.runs) > w.Len()/filterFrom {
		m.filter(w)
		return
	}
	for i, run := range m.runs {
		w.RemoveRange(run.at, run.n)
		m.c.pauseAt(i)
	}
}

// filterFrom is the number of elements that are written anew in the time that
// it takes to cut a run out of a big list.
const filterFrom = 32

// filter is remove in one pass.
func (m *listMatches) filter(w *mvcc.ListWriter) {
	next := len(m.runs) - 1
	w.Filter(func(i int) bool {
		m.c.pauseAt(i)
		if next < 0 || i < m.runs[next].at {
			return true
		}
		if i == m.runs[next].at+m.runs[next].n-1 {
			next--
		}
		return false
	})
}
