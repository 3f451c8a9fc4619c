package commands

import (
	"cmp"
	"slices"

	"firn/mvcc"
)

var setopCommands = []Command{
	{Name: "SINTER", Arity: -2, Keys: allArgs, Run: OnView(sinter), Cost: interCost(1), Summary: "Intersect multiple sets"},
	{Name: "SINTERCARD", Arity: -3, Keys: numberedKeys(1), Run: OnView(sintercard), Cost: sintercardCost, Summary: "Intersect multiple sets and return the cardinality of the result"},
	{Name: "SUNION", Arity: -2, Keys: allArgs, Run: OnView(sunion), Cost: unionCost(1), Summary: "Add multiple sets"},
	{Name: "SDIFF", Arity: -2, Keys: allArgs, Run: OnView(sdiff), Cost: diffCost(1), Summary: "Subtract multiple sets"},

	{Name: "SINTERSTORE", Arity: -3, Keys: allArgs, Dest: oneKey, Run: OnStore(sinterstore), Cost: interCost(2), Flags: DenyOOM, Summary: "Intersect multiple sets and store the resulting set in a key"},
	{Name: "SUNIONSTORE", Arity: -3, Keys: allArgs, Dest: oneKey, Run: OnStore(sunionstore), Cost: unionCost(2), Flags: DenyOOM, Summary: "Add multiple sets and store the resulting set in a key"},
	{Name: "SDIFFSTORE", Arity: -3, Keys: allArgs, Dest: oneKey, Run: OnStore(sdiffstore), Cost: diffCost(2), Flags: DenyOOM, Summary: "Subtract multiple sets and store the resulting set in a key"},
}

// A setAlgebra is a union, an intersection or a difference of the sets at some
// keys. Its results come in the order of positions, unless they are few.
type setAlgebra struct {
	c     *Call
	run   func(a *setAlgebra, yield func(member []byte) bool)
	in    []setInput // the sets of the keys that are there
	room  [3]setInput
	total int  // of the members of all
	first bool // the first key is there
	lacks bool // some key is not there
	table bool // the first set's encoding is "hashtable"
	same  bool // the first key is there again
	steps int

	// By a merge, each member comes with its position, in their order.
	merged bool
	pos    uint64

	n, kept int // members of the result, and those of them that are in the reply
}

// A setInput is a set and how many members it has, some of which may have
// expired.
type setInput struct {
	mvcc.SetValue
	n int
}

// open looks the keys up, as reads.
func (a *setAlgebra) open(c *Call, v *mvcc.View, keys [][]byte) error {
	a.c, a.in = c, a.room[:0]
	for i, key := range keys {
		e, ok := v.Get(key)
		if !ok {
			a.lacks = true
			continue
		}
		if e.Type() != mvcc.Set {
			return ErrWrongType
		}
		if i == 0 {
			a.first, a.table = true, e.EncodingName() == "hashtable"
		}
		a.same = a.same || i > 0 && a.first && string(key) == string(keys[0])
		in := setInput{SetValue: e.Set(v.Now)}
		in.n = in.Len()
		c.ByResult = c.ByResult || in.HasExpiries() // elsewhere its members may still be there
		a.in, a.total = append(a.in, in), a.total+in.n
		c.pauseAt(i)
	}
	return nil
}

// each yields the members of the result until yield returns false.
func (a *setAlgebra) each(yield func(member []byte) bool) { a.run(a, yield) }

// step comes before each step of a loop over members.
func (a *setAlgebra) step() {
	a.c.pauseAt(a.steps)
	a.steps++
}

// tiny says whether it is cheaper to look members up in the other sets than to
// run cursors over all of them, which must put the members of small ones in
// order. So many lookups would be made, at most.
func (a *setAlgebra) tiny(lookups int) bool {
	const (
		most    = 2048 // units of a few nanoseconds
		ofTable = 16   // units of a lookup in a set of any size
	)
	for i := range a.in {
		each := ofTable
		if a.in[i].Small() {
			each = a.in[i].n
		}
		if lookups*each > most {
			return false
		}
	}
	return true
}

func (a *setAlgebra) inter(yield func(member []byte) bool) {
	if a.lacks {
		return
	}
	slices.SortStableFunc(a.in, func(x, y setInput) int { return cmp.Compare(x.n, y.n) })
	if !a.tiny(a.in[0].n) {
		a.interMerge(yield)
		return
	}
	a.in[0].Each(func(m []byte) bool {
		for i := 1; i < len(a.in); i++ {
			if !a.in[i].Has(m) {
				return true
			}
		}
		return yield(m)
	})
}

func (a *setAlgebra) union(yield func(member []byte) bool) {
	if !a.tiny(a.total) {
		a.unionMerge(yield)
		return
	}
	more := true
	for i := 0; i < len(a.in) && more; i++ {
		a.in[i].Each(func(m []byte) bool {
			more = anyHas(a.in[:i], m) || yield(m)
			return more
		})
	}
}

func (a *setAlgebra) diff(yield func(member []byte) bool) {
	switch {
	case !a.first || a.same:
		return
	case !a.tiny(a.in[0].n):
		a.diffMerge(yield)
		return
	}
	a.in[0].Each(func(m []byte) bool { return anyHas(a.in[1:], m) || yield(m) })
}

func anyHas(sets []setInput, member []byte) bool {
	for i := range sets {
		if sets[i].Has(member) {
			return true
		}
	}
	return false
}

func sinter(c *Call, v *mvcc.View) error {
	return replySets(c, v, &setAlgebra{run: (*setAlgebra).inter})
}

func sunion(c *Call, v *mvcc.View) error {
	return replySets(c, v, &setAlgebra{run: (*setAlgebra).union})
}

func sdiff(c *Call, v *mvcc.View) error {
	return replySets(c, v, &setAlgebra{run: (*setAlgebra).diff})
}

// replySets answers with the result. Its length comes first: what fits into the
// head of a list is kept meanwhile, the rest is found again.
func replySets(c *Call, v *mvcc.View, a *setAlgebra) error {
	if err := a.open(c, v, c.Args[1:]); err != nil {
		return err
	}
	out, mark := c.Out, c.Out.Mark()
	a.each(func(m []byte) bool {
		if a.n == a.kept && out.Len()-mark < listHead {
			out.Bulk(m)
			a.kept++
		}
		a.n++
		return true
	})
	out.setBefore(mark, a.n)
	out.Spill()
	if a.n == a.kept {
		return nil
	}
	i := 0
	a.each(func(m []byte) bool {
		if i++; i > a.kept {
			out.Bulk(m)
			out.Spill()
		}
		return true
	})
	return nil
}

// setBefore begins a set of what was appended since the mark. Nothing of that
// may have been kept apart.
func (r *Reply) setBefore(mark, n int) {
	at, end := mark-r.keptLen, len(r.buf)
	r.Set(n)
	var header [24]byte
	size := copy(header[:], r.buf[end:])
	copy(r.buf[at+size:], r.buf[at:end])
	copy(r.buf[at:], header[:size])
}

func sintercard(c *Call, v *mvcc.View) error {
	n, ok := ParseInt(c.Args[1])
	switch {
	case !ok || n < 1:
		return ErrNumKeys
	case n > int64(len(c.Args)-2):
		return ErrTooManyKeys
	}
	limit, err := parseLimit(c, 2+int(n))
	if err != nil {
		return err
	}
	a := setAlgebra{}
	if err := a.open(c, v, c.Args[2:2+n]); err != nil {
		return err
	}
	count := int64(0)
	a.inter(func([]byte) bool {
		count++
		return count != limit
	})
	c.Out.Int(count)
	return nil
}

// parseLimit reads LIMIT, any number of times, from an argument on; 0 is no
// limit.
func parseLimit(c *Call, from int) (limit int64, err error) {
	for i := from; i < len(c.Args); i += 2 {
		if i+1 == len(c.Args) || !c.Is(i, "LIMIT") {
			return 0, ErrSyntax
		}
		n, ok := ParseInt(c.Args[i+1])
		if !ok || n < 0 {
			return 0, ErrLimitNegative
		}
		limit = n
	}
	return limit, nil
}

func sinterstore(c *Call, v *mvcc.View) (func(*mvcc.Tx) error, error) {
	return storeSets(c, v, &setAlgebra{run: (*setAlgebra).inter}, "sinterstore")
}

func sunionstore(c *Call, v *mvcc.View) (func(*mvcc.Tx) error, error) {
	return storeSets(c, v, &setAlgebra{run: (*setAlgebra).union}, "sunionstore")
}

func sdiffstore(c *Call, v *mvcc.View) (func(*mvcc.Tx) error, error) {
	return storeSets(c, v, &setAlgebra{run: (*setAlgebra).diff}, "sdiffstore")
}

func storeSets(c *Call, v *mvcc.View, a *setAlgebra, event string) (func(*mvcc.Tx) error, error) {
	if err := a.open(c, v, c.Args[2:]); err != nil {
		return nil, err
	}
	w := mvcc.NewSet(v.Space())
	table := event == "sdiffstore" && a.removesFromTable()
	if table {
		w.Add(noInteger)
		w.Remove(noInteger)
	}
	a.each(func(m []byte) bool {
		if a.merged {
			w.Append(a.pos, m)
		} else {
			w.Add(m)
		}
		return true
	})
	return storeSet(c, w, event, table), nil
}

// removesFromTable says whether Redis would find the difference by removing
// members from a copy of the first set that is a hash table, which the result
// is then too, whatever is left in it.
func (a *setAlgebra) removesFromTable() bool {
	return a.table && len(a.in)*a.in[0].n/2 > a.total
}

// stepsPerUnit is how many members a unit of cost is: a step of a merge, or a
// lookup, takes 50 to 200 ns.
const stepsPerUnit = 4

// setSizes returns the sizes of the sets at the keys, -1 where there is none.
func setSizes(v *mvcc.View, keys [][]byte, yield func(i, n int)) {
	for i, key := range keys {
		n := -1
		if e, ok := v.Peek(key); ok && e.Type() == mvcc.Set {
			n = e.Count()
		}
		yield(i, n)
	}
}

// interCost is that of looking up each member of the smallest set in the others.
func interCost(from int) Cost {
	return func(c *Call, v *mvcc.View) int { return costOfInter(v, c.Args[from:]) }
}

func costOfInter(v *mvcc.View, keys [][]byte) int {
	least := -1
	setSizes(v, keys, func(i, n int) {
		if i == 0 || n < least {
			least = n
		}
	})
	return len(keys) + max(least, 0)*len(keys)/stepsPerUnit
}

func sintercardCost(c *Call, v *mvcc.View) int {
	return costOfInter(v, c.Args[2:2+keyNumber(c.Args, 1)])
}

func unionCost(from int) Cost {
	return func(c *Call, v *mvcc.View) int {
		keys, total := c.Args[from:], 0
		setSizes(v, keys, func(_, n int) { total += max(n, 0) })
		return len(keys) + total/stepsPerUnit
	}
}

// diffCost is that of looking up each member of the first set in the others.
func diffCost(from int) Cost {
	return func(c *Call, v *mvcc.View) int {
		keys := c.Args[from:]
		first := 0
		setSizes(v, keys[:1], func(_, n int) { first = max(n, 0) })
		return len(keys) + first*len(keys)/stepsPerUnit
	}
}
