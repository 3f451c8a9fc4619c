package commands

import (
	"firn/mvcc"
	"firn/scan"
)

// A memberSource is what HSCAN, SSCAN and ZSCAN walk: a value with members in
// the order of their positions. The bytes that it yields are valid until it
// yields the next.
type memberSource struct {
	small  bool // all members are returned by one call
	values bool // a member has a value, which follows it in the reply
	each   func(yield func(member, value []byte) bool)
	from   func(pos uint64, yield func(pos uint64, member, value []byte) bool)
}

// A memberPage collects the reply to HSCAN, SSCAN or ZSCAN. Like a keyList it
// keeps only the head of a long one.
type memberPage struct {
	memberSource
	glob *scan.Glob // nil: every member
	n    int        // members that match
	head *Reply     // the first ones
	kept int        // how many they are
}

// scanEmpty is the reply for a key that is not there; its options are not read,
// as in Redis.
func scanEmpty(c *Call) error {
	c.Out.Array(2)
	c.Out.BulkString("0")
	c.Out.Array(0)
	return nil
}

// scanMembers answers HSCAN, SSCAN and ZSCAN, whose cursor is parsed before the
// key is looked up and whose options after it. A small value is walked in one
// call; where its members once were many, a call from the middle goes on behind
// the cursor, so that none is returned twice.
func scanMembers(c *Call, v *mvcc.View, cursor scan.Cursor, src memberSource) error {
	o, err := parseMemberScan(c)
	if err != nil {
		return err
	}
	p := memberPage{memberSource: src, head: c.head()}
	if o.pattern != nil {
		if g := scan.Compile(o.pattern); !g.All() {
			p.glob = g
		}
	}
	next := p.page(c, v, cursor, o.count, p.count)
	var digits [maxIntLen]byte
	c.Out.Array(2)
	c.Out.Bulk(next.Append(digits[:0]))
	p.send(c, v, cursor, o.count)
	return nil
}

// page yields the members of the call that match, and returns the next cursor.
func (p *memberPage) page(c *Call, v *mvcc.View, from scan.Cursor, count int64, yield func(member, value []byte)) scan.Cursor {
	pager, pos, ok := scan.NewPager(from, count)
	if p.small {
		p.each(func(member, value []byte) bool {
			if from == 0 || !ok || v.Space().Hash(member) >= pos {
				p.match(member, value, yield)
			}
			return true
		})
		return 0
	}
	if !ok {
		return 0
	}
	walked := 0
	p.from(pos, func(at uint64, member, value []byte) bool {
		if !pager.Take(at) {
			return false
		}
		c.pauseAt(walked)
		walked++
		p.match(member, value, yield)
		return true
	})
	return pager.Next()
}

func (p *memberPage) match(member, value []byte, yield func(member, value []byte)) {
	if p.glob == nil || p.glob.Match(member) {
		yield(member, value)
	}
}

// count takes in a member that the first walk found.
func (p *memberPage) count(member, value []byte) {
	if p.kept == p.n && p.head.Len() < listHead {
		p.put(p.head, member, value)
		p.kept++
	}
	p.n++
}

func (p *memberPage) put(out *Reply, member, value []byte) {
	out.Bulk(member)
	if p.values {
		out.Bulk(value)
	}
}

// send appends the members: the kept ones, and those that another walk finds
// behind them.
func (p *memberPage) send(c *Call, v *mvcc.View, from scan.Cursor, count int64) {
	width := 1
	if p.values {
		width = 2
	}
	c.Out.Array(p.n * width)
	c.Out.Append(p.head)
	if p.n == p.kept {
		return
	}
	at := 0
	p.page(c, v, from, count, func(member, value []byte) {
		if at++; at > p.kept {
			p.put(c.Out, member, value)
			c.Out.Spill()
		}
	})
}

// parseMemberScan reads the options behind the cursor.
func parseMemberScan(c *Call) (o scanOptions, err error) {
	o.count = defaultCount
	for i := 3; i < len(c.Args); i += 2 {
		switch {
		case i+1 == len(c.Args):
			return o, ErrSyntax
		case c.Is(i, "count"):
			if o.count, err = parseCount(c.Args[i+1]); err != nil {
				return o, err
			}
		case c.Is(i, "match"):
			o.pattern = c.Args[i+1]
		default:
			return o, ErrSyntax
		}
	}
	return o, nil
}

// scanMembersCost is the cost of a call of HSCAN, SSCAN or ZSCAN.
func scanMembersCost(c *Call, v *mvcc.View) int {
	o, err := parseMemberScan(c)
	if err != nil {
		return 1
	}
	return int(min(o.count, int64(countCost(c, v))))
}
