package commands

import "firn/mvcc"

var listCommands = []Command{
	{Name: "LLEN", Arity: 2, Keys: oneKey, Run: OnView(llen), Summary: "Get the length of a list"},
	{Name: "LINDEX", Arity: 3, Keys: oneKey, Run: OnView(lindex), Summary: "Get an element from a list by its index"},
	{Name: "LRANGE", Arity: 4, Keys: oneKey, Run: OnView(lrange), Cost: lrangeCost, Summary: "Get a range of elements from a list"},
	{Name: "LPOS", Arity: -3, Keys: oneKey, Run: OnView(lpos), Cost: lposCost, Summary: "Return the index of matching elements on a list"},

	{Name: "LPUSH", Arity: -3, Keys: oneKey, Run: OnOwner(lpush), Cost: pushCost, Flags: DenyOOM, Summary: "Prepend one or multiple elements to a list"},
	{Name: "RPUSH", Arity: -3, Keys: oneKey, Run: OnOwner(rpush), Cost: pushCost, Flags: DenyOOM, Summary: "Append one or multiple elements to a list"},
	{Name: "LPUSHX", Arity: -3, Keys: oneKey, Run: OnOwner(lpushx), Cost: pushCost, Flags: DenyOOM, Summary: "Prepend an element to a list, only if the list exists"},
	{Name: "RPUSHX", Arity: -3, Keys: oneKey, Run: OnOwner(rpushx), Cost: pushCost, Flags: DenyOOM, Summary: "Append an element to a list, only if the list exists"},
	{Name: "LPOP", Arity: -2, Keys: oneKey, Run: OnOwner(lpop), Cost: popCost, Summary: "Remove and get the first elements in a list"},
	{Name: "RPOP", Arity: -2, Keys: oneKey, Run: OnOwner(rpop), Cost: popCost, Summary: "Remove and get the last elements in a list"},
	{Name: "LMPOP", Arity: -4, Keys: numberedKeys(1), Run: OnOwner(lmpop), Cost: lmpopCost, Summary: "Pop elements from a list"},
	{Name: "LMOVE", Arity: 5, Keys: twoKeys, Run: OnOwner(lmove), Flags: DenyOOM, Summary: "Pop an element from a list, push it to another list and return it"},
	{Name: "RPOPLPUSH", Arity: 3, Keys: twoKeys, Run: OnOwner(rpoplpush), Flags: DenyOOM, Summary: "Remove the last element in a list, prepend it to another list and return it"},
	{Name: "LSET", Arity: 4, Keys: oneKey, Run: OnOwner(lset), Flags: DenyOOM, Summary: "Set the value of an element in a list by its index"},
	{Name: "LINSERT", Arity: 5, Keys: oneKey, Run: OnOwner(linsert), Cost: walkCost, Flags: DenyOOM, Summary: "Insert an element before or after another element in a list"},
	{Name: "LTRIM", Arity: 4, Keys: oneKey, Run: OnOwner(ltrim), Summary: "Trim a list to the specified range"},
	{Name: "LREM", Arity: 4, Keys: oneKey, Run: OnOwner(lrem), Cost: walkCost, Summary: "Remove elements from a list"},
}

// Elements of a list that cost about a microsecond: to put into a reply, to
// compare and to push; and bytes that do.
const (
	repliedAtOnce  = 32
	comparedAtOnce = 128
	pushedAtOnce   = 16
	bytesAtOnce    = 8 << 10
)

// elementsCost is the cost of n elements of the list at a key, so many of which
// take a microsecond unless they are long.
func elementsCost(v *mvcc.View, key []byte, n int64, atOnce int64) int {
	e, ok := v.Peek(key)
	if !ok || e.Type() != mvcc.List {
		return 1
	}
	count := int64(e.Count())
	n = min(n, count)
	return int(n/atOnce + n*(e.Size()/count)/bytesAtOnce)
}

// walkCost is that of looking at all elements.
func walkCost(c *Call, v *mvcc.View) int {
	return elementsCost(v, c.Args[1], unknownCost<<20, comparedAtOnce)
}

// listAt looks the command's key up to read it; an absent one is an empty list.
func listAt(c *Call, v *mvcc.View) (l mvcc.ListValue, ok bool, err error) {
	e, ok := v.Get(c.Args[1])
	switch {
	case !ok:
		return l, false, nil
	case e.Type() != mvcc.List:
		return l, false, ErrWrongType
	}
	return e.List(), true, nil
}

func llen(c *Call, v *mvcc.View) error {
	e, ok := v.Get(c.Args[1])
	n := 0
	switch {
	case ok && e.Type() != mvcc.List:
		return ErrWrongType
	case ok:
		n = e.Count()
	}
	c.Out.Int(int64(n))
	return nil
}

func lindex(c *Call, v *mvcc.View) error {
	l, ok, err := listAt(c, v)
	if err != nil {
		return err
	}
	if !ok {
		c.Out.Null()
		return nil
	}
	i, ok := ParseInt(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if at, ok := elementIndex(i, l.Len()); ok {
		c.Out.BulkLasting(l.At(at))
	} else {
		c.Out.Null()
	}
	return nil
}

// elementIndex resolves an index that counts from the end if negative; false if
// there is no such element.
func elementIndex(i int64, n int) (at int, ok bool) {
	if i < 0 {
		i += int64(n)
	}
	return int(i), i >= 0 && i < int64(n)
}

// A listRange is the arguments of LRANGE and LTRIM: both ends are part of it,
// and count from the list's end if negative.
type listRange struct{ start, end int64 }

func parseListRange(c *Call) (r listRange, err error) {
	var first, second bool
	r.start, first = ParseInt(c.Args[2])
	r.end, second = ParseInt(c.Args[3])
	if !first || !second {
		return r, ErrNotInteger
	}
	return r, nil
}

// of is the part of a list of size elements: n of them, from the i-th on.
func (r listRange) of(size int) (i, n int) {
	start, end := r.start, r.end
	if start < 0 {
		start = max(start+int64(size), 0)
	}
	if end < 0 {
		end += int64(size)
	}
	end = min(end, int64(size)-1)
	if start > end {
		return 0, 0
	}
	return int(start), int(end-start) + 1
}

func lrangeCost(c *Call, v *mvcc.View) int {
	r, err := parseListRange(c)
	e, ok := v.Peek(c.Args[1])
	if err != nil || !ok || e.Type() != mvcc.List {
		return 1
	}
	_, n := r.of(e.Count())
	return elementsCost(v, c.Args[1], int64(n), repliedAtOnce)
}

func lrange(c *Call, v *mvcc.View) error {
	r, err := parseListRange(c)
	if err != nil {
		return err
	}
	l, ok, err := listAt(c, v)
	if err != nil {
		return err
	}
	i, n := 0, 0
	if ok {
		i, n = r.of(l.Len())
	}
	c.replyElements(&l, i, n, false)
	return nil
}

// replyElements appends an array of n elements from the i-th on, upwards or
// downwards.
func (c *Call) replyElements(l *mvcc.ListValue, i, n int, down bool) {
	c.Out.Array(n)
	if n == 0 {
		return
	}
	done := 0
	reply := func(b []byte) bool {
		c.Out.BulkLasting(b)
		if done++; done%spillEvery == 0 {
			c.Out.Spill()
			c.pauseAt(done - 1)
		}
		return done < n
	}
	if down {
		l.Descend(i, reply)
	} else {
		l.Ascend(i, reply)
	}
}

// spillEvery is after how many elements it is looked at whether a reply has
// become long; a divisor of pauseEvery.
const spillEvery = 32

// BulkLasting appends an element of a list; a long one, which is never written
// again (mvcc.ListValue), without copying it.
func (r *Reply) BulkLasting(b []byte) {
	if len(b) < keepFrom {
		r.Bulk(b)
		return
	}
	r.BulkHeader(int64(len(b)))
	r.Keep(b)
	r.crlf()
}

// lposCall is a parsed LPOS.
type lposCall struct {
	rank, maxlen int64
	count        int64 // -1: not given
	down         bool
}

func parseLpos(c *Call) (p lposCall, err error) {
	p = lposCall{rank: 1, count: -1}
	for i := 3; i < len(c.Args); i += 2 {
		if i+1 == len(c.Args) {
			return p, ErrSyntax
		}
		if err = p.option(c, i); err != nil {
			return p, err
		}
	}
	if p.rank < 0 {
		p.rank, p.down = -p.rank, true
	}
	return p, nil
}

func (p *lposCall) option(c *Call, i int) error {
	n, ok := ParseInt(c.Args[i+1])
	switch {
	case c.Is(i, "RANK"):
		if p.rank = n; !ok {
			return ErrNotInteger
		} else if n == 0 {
			return ErrLposRank
		}
	case c.Is(i, "COUNT"):
		if p.count = n; !ok || n < 0 {
			return ErrLposCount
		}
	case c.Is(i, "MAXLEN"):
		if p.maxlen = n; !ok || n < 0 {
			return ErrLposMaxlen
		}
	default:
		return ErrSyntax
	}
	return nil
}

func lposCost(c *Call, v *mvcc.View) int {
	p, err := parseLpos(c)
	switch {
	case err != nil:
		return 1
	case p.maxlen == 0:
		return walkCost(c, v)
	}
	return elementsCost(v, c.Args[1], p.maxlen, comparedAtOnce)
}

func lpos(c *Call, v *mvcc.View) error {
	p, err := parseLpos(c)
	if err != nil {
		return err
	}
	l, ok, err := listAt(c, v)
	if err != nil {
		return err
	}
	var found []int64
	if ok {
		found = p.find(c, &l)
	}
	switch {
	case p.count >= 0:
		c.Out.Array(len(found))
		for i, at := range found {
			c.Out.Int(at)
			c.Out.Spill()
			c.pauseAt(i)
		}
	case len(found) == 0:
		c.Out.Null()
	default:
		c.Out.Int(found[0])
	}
	return nil
}

// find returns the indexes of the matches that are asked for.
func (p *lposCall) find(c *Call, l *mvcc.ListValue) (found []int64) {
	elem := string(c.Args[2])
	index, matches := int64(0), int64(0)
	want := p.count
	if want < 0 {
		want = 1
	}
	look := func(b []byte) bool {
		if string(b) == elem {
			if matches++; matches >= p.rank {
				at := index
				if p.down {
					at = int64(l.Len()) - 1 - index
				}
				found = append(found, at)
			}
		}
		c.pauseAt(int(index))
		index++
		return index != p.maxlen && (want == 0 || int64(len(found)) < want)
	}
	if p.down {
		l.Descend(l.Len()-1, look)
	} else {
		l.Ascend(0, look)
	}
	return found
}
