package commands

import (
	"firn/mvcc"
	"firn/scan"
)

var scanCommands = []Command{
	{Name: "KEYS", Arity: 2, Run: OnCut(keys), Cost: patternCost, Summary: "Find all keys matching the given pattern"},
	{Name: "SCAN", Arity: -2, Run: OnCut(scanKeys), Cost: scanCost, Summary: "Incrementally iterate the keys space"},
	{Name: "RANDOMKEY", Arity: 1, Keys: allKeys, Run: OnView(randomKey), Summary: "Return a random key from the keyspace"},
	{Name: "DBSIZE", Arity: 1, Keys: allKeys, Run: OnView(dbSize), Summary: "Return the number of keys in the selected database"},
}

const (
	// listHead is how much of a list of keys is kept while its length is not
	// known yet. The rest is found again in the frozen versions, so that a
	// reply of any length never stands in memory whole.
	listHead = 512 << 10

	// unknownCost is that of a walk over the whole keyspace.
	unknownCost = 1 << 20

	defaultCount = 10
)

// A keyList collects the reply to KEYS or SCAN.
type keyList struct {
	glob *scan.Glob // nil: every key
	typ  []byte     // name of the type; nil: every type

	n    int    // keys that match
	head *Reply // the first ones
	kept int    // how many they are
	last uint64 // the position of the last of these
	rest uint64 // where to look for the others
}

// newKeyList returns the list of the keys that match the pattern; nil is every
// key.
func newKeyList(c *Call, pattern []byte) keyList {
	l := keyList{head: c.head()}
	if pattern != nil {
		if g := scan.Compile(pattern); !g.All() {
			l.glob = g
		}
	}
	return l
}

// walk goes over where the keys of the list can be.
func (l *keyList) walk(c *Call, cut mvcc.Cut) scan.Walk {
	w := scan.Walk{Cut: cut, Span: scan.Everywhere(), Pause: c.Pause}
	if l.glob != nil {
		w.Span = scan.SpanOf(l.glob, cut.Space())
	}
	return w
}

func (l *keyList) matches(k *mvcc.Key) bool {
	return (l.glob == nil || l.glob.Match(k.Bytes)) && (l.typ == nil || foldEqual(l.typ, k.Type.String()))
}

// add takes in a key that the first walk found.
func (l *keyList) add(k mvcc.Key) {
	if !l.matches(&k) {
		return
	}
	switch {
	case l.n > l.kept:
	case l.head.Len() >= listHead && k.Pos != l.last:
		l.rest = k.Pos
	default:
		l.head.Bulk(k.Bytes)
		l.kept, l.last = l.kept+1, k.Pos
	}
	l.n++
}

// send appends the list to the reply; w is like the walk that filled it.
func (l *keyList) send(c *Call, w scan.Walk) {
	c.Out.Array(l.n)
	c.Out.Append(l.head)
	c.Out.Spill()
	left := l.n - l.kept
	if left == 0 {
		return
	}
	w.Span.First = l.rest
	w.Each(func(k mvcc.Key) bool {
		if l.matches(&k) {
			c.Out.Bulk(k.Bytes)
			c.Out.Spill()
			left--
		}
		return left > 0
	})
}

func keys(c *Call, cut mvcc.Cut) error {
	l := newKeyList(c, c.Args[1])
	w := l.walk(c, cut)
	if s := cut.Space(); s.StoreOf(w.Span.First) != s.StoreOf(w.Span.Last) {
		cut.All()
	}
	w.Each(func(k mvcc.Key) bool { l.add(k); return true })
	l.send(c, w)
	return nil
}

func patternCost(c *Call, _ *mvcc.View) int {
	if _, ok := scan.Compile(c.Args[1]).Literal(); ok {
		return 1
	}
	return unknownCost
}

// scanOptions are the options of SCAN.
type scanOptions struct {
	count   int64
	pattern []byte // nil: none
	typ     []byte // nil: none
	cursor  scan.Cursor
}

func parseScan(c *Call) (o scanOptions, err error) {
	o.count = defaultCount
	var ok bool
	if o.cursor, ok = scan.ParseCursor(c.Args[1]); !ok {
		return o, ErrInvalidCursor
	}
	for i := 2; i < len(c.Args); i += 2 {
		if i+1 == len(c.Args) {
			return o, ErrSyntax
		}
		value := c.Args[i+1]
		switch {
		case c.Is(i, "count"):
			o.count, err = parseCount(value)
		case c.Is(i, "match"):
			o.pattern = value
		case c.Is(i, "type"):
			o.typ = value
		default:
			err = ErrSyntax
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

func parseCount(b []byte) (int64, error) {
	n, ok := ParseInt(b)
	switch {
	case !ok:
		return 0, ErrNotInteger
	case n < 1:
		return 0, ErrSyntax
	}
	return n, nil
}

// scanKeys is SCAN. An unknown TYPE matches nothing, as in Redis, and the
// cursor still goes on to the end (reports A18).
func scanKeys(c *Call, cut mvcc.Cut) error {
	o, err := parseScan(c)
	if err != nil {
		return err
	}
	l := newKeyList(c, o.pattern)
	l.typ = o.typ
	w := l.walk(c, cut)
	next := w.Page(o.cursor, o.count, l.add)
	var digits [maxIntLen]byte
	c.Out.Array(2)
	c.Out.Bulk(next.Append(digits[:0]))
	l.send(c, w)
	return nil
}

func scanCost(c *Call, _ *mvcc.View) int {
	o, err := parseScan(c)
	if err != nil {
		return 1
	}
	return int(min(o.count, unknownCost))
}

func dbSize(c *Call, v *mvcc.View) error {
	c.Out.Int(keyCount(v))
	return nil
}

// keyCount counts the keys of the database, those included that have expired
// and were not yet removed.
func keyCount(v *mvcc.View) (n int64) {
	for i := range v.Space().Stores {
		n += int64(v.Len(i))
	}
	return n
}

// randomTries is how often RANDOMKEY draws another key in place of an expired
// one, before it looks for one that has not expired.
const randomTries = 100

func randomKey(c *Call, v *mvcc.View) error {
	total := uint64(keyCount(v))
	for try := 0; try < randomTries && total > 0; try++ {
		e, ok := v.Random(storeAt(v, c.Rand()%total), c.Rand())
		if ok && !e.Expired(v.Now) {
			c.Out.Bulk(e.Key())
			return nil
		}
	}
	if key, ok := firstKey(v); ok {
		c.Out.Bulk(key)
		return nil
	}
	c.Out.Null()
	return nil
}

// storeAt returns the store that holds the nth key of the database.
func storeAt(v *mvcc.View, n uint64) int {
	for i := range v.Space().Stores {
		keys := uint64(v.Len(i))
		if n < keys {
			return i
		}
		n -= keys
	}
	return 0
}

// firstKey returns the first key that has not expired.
func firstKey(v *mvcc.View) (key []byte, ok bool) {
	for i := range v.Space().Stores {
		v.Walk(i, func(k mvcc.Key) bool {
			key, ok = k.Bytes, !k.Expired(v.Now)
			return !ok
		})
		if ok {
			return key, true
		}
	}
	return nil, false
}
