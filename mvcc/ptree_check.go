package mvcc

import (
	"bytes"
	"fmt"
)

// check verifies the structure of the tree: order, separators, counts, bytes,
// generations, and that no page or node is empty or too full.
func (t *ptree) check() error {
	c := pcheck{ptree: t}
	n, err := c.node(t.root, pbound{}, pbound{none: true}, 0)
	switch {
	case err != nil:
		return err
	case n != t.n:
		return fmt.Errorf("ptree: %d entries, counted %d", n, t.n)
	case t.size != ptreeCost+t.root.bytes():
		return fmt.Errorf("ptree: %d bytes, counted %d", ptreeCost+t.root.bytes(), t.size)
	case t.root.gen > t.gens.Load():
		return fmt.Errorf("ptree: generation %d was never given out", t.root.gen)
	}
	return t.spare.check()
}

// check verifies the account of the spare pages.
func (sp *spares) check() error {
	if sp == nil {
		return nil
	}
	bytes := int64(0)
	for i := range sp.pages {
		for _, p := range sp.pages[i] {
			bytes += int64(len(p))
			if p != nil && len(p) != i*pageStep {
				return fmt.Errorf("ptree: spare page of %d bytes among those of %d", len(p), i*pageStep)
			}
		}
	}
	if bytes != sp.bytes {
		return fmt.Errorf("ptree: spare pages of %d bytes, counted %d", bytes, sp.bytes)
	}
	return nil
}

type pcheck struct {
	*ptree
	depth int // of the leaves
}

// pbound is a separator; none is the end of all.
type pbound struct {
	order  uint64
	member []byte
	none   bool
}

func (b pbound) compare(order uint64, member []byte) int {
	switch {
	case b.none || b.order > order:
		return 1
	case b.order < order:
		return -1
	}
	return bytes.Compare(b.member, member)
}

func (p *pkids) bound(i int) pbound {
	b := pbound{order: p.seps[i].low}
	if tail := p.kids[i].tail; tail != nil {
		b.member = []byte(*tail)
	}
	return b
}

func (c *pcheck) node(nd *pnode, lo, hi pbound, depth int) (n int, err error) {
	if l := len(nd.kids); l == 0 || l >= fanout || l != len(nd.seps) || nd.kids[0].tail != nil || nd.seps[0].low != 0 {
		return 0, fmt.Errorf("ptree: node with %d kids, %d separators, or a separator too many", l, len(nd.seps))
	}
	for i := range nd.kids {
		from, to := lo, hi
		if i > 0 {
			from = nd.bound(i)
		}
		if i+1 < len(nd.kids) {
			to = nd.bound(i + 1)
		}
		count := nd.seps[i].count
		if n += count; count == 0 && c.n > 0 {
			return 0, fmt.Errorf("ptree: empty kid %d at depth %d", i, depth)
		}
		if err := c.kid(nd, i, from, to, depth); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (c *pcheck) kid(nd *pnode, i int, lo, hi pbound, depth int) error {
	k, count := &nd.kids[i], nd.seps[i].count
	if nd.bottom != (k.node == nil) || nd.bottom != (k.page != nil) {
		return fmt.Errorf("ptree: kid of the wrong kind at depth %d", depth)
	}
	if !nd.bottom {
		n, err := c.node(k.node, lo, hi, depth+1)
		if err == nil && n != count {
			err = fmt.Errorf("ptree: %d entries below a kid, counted %d", n, count)
		}
		return err
	}
	if c.depth == 0 {
		c.depth = depth + 1
	}
	if c.depth != depth+1 || k.n() != count {
		return fmt.Errorf("ptree: leaf at depth %d, not %d, with %d entries, counted %d", depth+1, c.depth, k.n(), count)
	}
	return k.check(lo, hi)
}

// check verifies a leaf whose entries are to lie in [lo, hi).
func (l *pleaf) check(lo, hi pbound) error {
	blobs := 0
	for s := range l.n() {
		order, m, v := l.entry(s)
		if c := lo.compare(order, m); c > 0 || c == 0 && s > 0 {
			return fmt.Errorf("ptree: slot %d (%x, %q) out of order", s, order, m)
		}
		if (l.slot(s) >= outOfLine) != (len(m)+len(v) > inlineMax) {
			return fmt.Errorf("ptree: slot %d lies in the wrong place", s)
		}
		if l.slot(s) >= outOfLine {
			blobs++
		}
		if size := l.end(s) - l.end(s-1); size != entrySize(m, v) {
			return fmt.Errorf("ptree: slot %d has %d bytes for %d", s, size, entrySize(m, v))
		}
		lo = pbound{order: order, member: m}
	}
	if l.n() > 0 && hi.compare(lo.order, lo.member) <= 0 {
		return fmt.Errorf("ptree: last entry (%x, %q) beyond the separator", lo.order, lo.member)
	}
	if l.heap() != l.end(l.n()-1) || l.used() > len(l.page) || len(l.page)%pageStep != 0 {
		return fmt.Errorf("ptree: page of %d with %d bytes, %d in the heap", len(l.page), l.used(), l.heap())
	}
	return l.checkBlobs(blobs)
}

func (l *pleaf) checkBlobs(n int) error {
	if l.big == nil {
		if n > 0 {
			return fmt.Errorf("ptree: %d blobs missing", n)
		}
		return nil
	}
	size := int64(blobsCost)
	for _, b := range l.big.list {
		size += int64(len(b) + blobCost)
	}
	if n != len(l.big.list) || size != l.big.bytes {
		return fmt.Errorf("ptree: %d blobs of %d bytes, counted %d of %d", n, size, len(l.big.list), l.big.bytes)
	}
	return nil
}
