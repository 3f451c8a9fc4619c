package commands

import (
	"bytes"
	"math"

	"firn/mvcc"
)

var sortCommands = []Command{
	{Name: "SORT", Arity: -2, Keys: Keys{Find: sortKeyPlaces, AllIf: sortsByKeys}, Dest: Keys{Find: sortDestPlace}, Run: OnStore(sortStore), Cost: sortCost, Flags: DenyOOM,
		Summary: "Sort the elements in a list, set or sorted set"},
	{Name: "SORT_RO", Arity: -2, Keys: Keys{First: 1, Last: 1, Step: 1, AllIf: sortsByKeys}, Run: OnView(sortView), Cost: sortCost,
		Summary: "Sort the elements in a list, set or sorted set. Read-only variant of SORT."},
}

// A sortQuery is what a SORT asks for.
type sortQuery struct {
	by          sortPattern
	hasBy       bool // the elements are sorted by what the pattern finds
	unsorted    bool // BY a constant: the elements stay in their own order
	gets        []sortPattern
	desc, alpha bool
	start       int64
	count       int64 // negative: to the end
	dest        []byte
	destAt      int // the argument that it is
}

// parse reads the options.
func (q *sortQuery) parse(args [][]byte, readOnly bool) error {
	q.count = -1
	for i := 2; i < len(args); {
		n, err := q.option(args[i:], readOnly)
		if err != nil {
			return err
		}
		if n == 0 {
			q.dest, q.destAt, n = args[i+1], i+1, 2
		}
		i += n
	}
	return nil
}

// option reads the option at the front and returns how many arguments it takes;
// 0 for STORE, which takes two.
func (q *sortQuery) option(args [][]byte, readOnly bool) (int, error) {
	more := len(args) - 1
	switch word := args[0]; {
	case foldEqual(word, "ASC"):
		q.desc = false
	case foldEqual(word, "DESC"):
		q.desc = true
	case foldEqual(word, "ALPHA"):
		q.alpha = true
	case foldEqual(word, "LIMIT") && more >= 2:
		var ok1, ok2 bool
		q.start, ok1 = ParseInt(args[1])
		q.count, ok2 = ParseInt(args[2])
		if !ok1 || !ok2 {
			return 0, ErrNotInteger
		}
		return 3, nil
	case foldEqual(word, "STORE") && more >= 1 && !readOnly:
		return 0, nil
	case foldEqual(word, "BY") && more >= 1:
		q.by, q.hasBy = parseSortPattern(args[1]), true
		if q.by.constant { // as in Redis, also for a BY that comes later
			q.unsorted = true
		}
		return 2, nil
	case foldEqual(word, "GET") && more >= 1:
		q.gets = append(q.gets, parseSortPattern(args[1]))
		return 2, nil
	default:
		return 0, ErrSyntax
	}
	return 1, nil
}

// sortKeyPlaces are the keys that a SORT names: what it sorts, and where it
// stores that. It reads the options as the command does, up to the first error.
func sortKeyPlaces(args [][]byte) []int {
	if len(args) < 2 {
		return nil
	}
	var q sortQuery
	_ = q.parse(args, false)
	if q.destAt == 0 {
		return []int{1}
	}
	return []int{1, q.destAt}
}

func sortDestPlace(args [][]byte) []int {
	if len(args) < 2 {
		return nil
	}
	return sortKeyPlaces(args)[1:]
}

// sortsByKeys says whether a SORT may read keys that it doesn't name.
func sortsByKeys(args [][]byte) bool {
	for i := 2; i+1 < len(args); i++ {
		if (foldEqual(args[i], "BY") || foldEqual(args[i], "GET")) && !parseSortPattern(args[i+1]).constant {
			return true
		}
	}
	return false
}

// A sortPattern is what BY and GET look an element up by.
type sortPattern struct {
	self           bool // "#": the element itself
	constant       bool // nothing to put the element into
	prefix, suffix []byte
	field          []byte // of a hash at the key; nil: the key is a string's
}

// parseSortPattern reads "prefix*suffix" and "prefix*suffix->field". As in
// Redis, a NUL ends the search for what is special.
func parseSortPattern(b []byte) (p sortPattern) {
	text := b
	if i := bytes.IndexByte(b, 0); i >= 0 {
		text = b[:i]
	}
	star := bytes.IndexByte(text, '*')
	if star < 0 {
		return sortPattern{self: string(text) == "#", constant: true}
	}
	p.prefix, p.suffix = b[:star], b[star+1:]
	arrow := bytes.Index(text[star+1:], []byte("->"))
	if at := star + 1 + arrow; arrow >= 0 && at+2 < len(text) {
		p.suffix, p.field = b[star+1:at], b[at+2:]
	}
	return p
}

// sortCost counts the elements, and the keys that are looked up for them.
func sortCost(c *Call, v *mvcc.View) int {
	e, ok := v.Peek(c.Args[1])
	if !ok || !sortable(e.Type()) {
		return 0
	}
	var q sortQuery
	if q.parse(c.Args, false) != nil {
		return 0
	}
	n := e.Count()
	from, to := q.window(n)
	wanted := to - from
	if q.unsorted && e.Type() != mvcc.Set {
		n = wanted
	}
	if q.hasBy && !q.unsorted {
		n *= 2
	}
	return n + wanted*len(q.gets)
}

func sortable(t mvcc.Type) bool { return t == mvcc.List || t == mvcc.Set || t == mvcc.ZSet }

// window returns the range [from, to) of n elements that LIMIT leaves.
func (q *sortQuery) window(n int) (from, to int) {
	start := min(max(q.start, 0), int64(n))
	end := int64(n)
	if q.count >= 0 {
		end = min(start+min(q.count, int64(n)), int64(n))
	}
	return int(start), int(max(start, end))
}

func sortView(c *Call, v *mvcc.View) error {
	var q sortQuery
	if err := q.parse(c.Args, true); err != nil {
		return err
	}
	s, err := q.run(c, v)
	if err != nil {
		return err
	}
	s.reply()
	return nil
}

func sortStore(c *Call, v *mvcc.View) (func(*mvcc.Tx) error, error) {
	var q sortQuery
	if err := q.parse(c.Args, false); err != nil {
		return nil, err
	}
	s, err := q.run(c, v)
	if err != nil {
		return nil, err
	}
	if q.dest == nil {
		s.reply()
		return nil, nil
	}
	return s.store(), nil
}

// run finds the elements in the order that is asked for.
func (q *sortQuery) run(c *Call, v *mvcc.View) (*sorting, error) {
	s := &sorting{q: q, c: c, v: v}
	e, ok := v.Get(c.Args[1])
	if !ok {
		return s, nil
	}
	if !sortable(e.Type()) {
		return nil, ErrWrongType
	}
	s.isList = e.Type() == mvcc.List
	if q.unsorted && e.Type() == mvcc.Set && (q.dest != nil || c.InScript) {
		q.unsorted, q.hasBy, q.alpha = false, false, true // what is stored must not depend on chance
	}
	if q.unsorted {
		from, to := q.window(e.Count())
		s.loadRange(&e, from, to)
		return s, nil
	}
	s.load(&e, e.Count())
	if err := s.rank(); err != nil {
		return nil, err
	}
	s.sort(q.window(len(s.elems))) // members that have expired were counted
	return s, nil
}

// sortNumber reads a number as strtod does: white space may stand in front, a
// NUL ends it, nothing at all is 0. What is too big or too small is refused.
func sortNumber(b []byte) (float64, bool) {
	if n, ok := ParseInt(b); ok {
		return float64(n), true
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	if len(b) == 0 {
		return 0, true
	}
	for len(b) > 0 && isCSpace(b[0]) {
		b = b[1:]
	}
	f, ok := parseScore(b)
	const leastNormal = 0x1p-1022
	return f, ok && (f == 0 || math.Abs(f) >= leastNormal)
}
