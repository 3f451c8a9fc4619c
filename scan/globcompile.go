package scan

// This file turns a pattern into segments; glob.go matches them.

// compiler reads a pattern from its front. In folding mode a letter becomes a class of its two cases, so that the matcher
// never folds.
type compiler struct {
	rest  []byte
	fold  bool
	sets  []byteSet
	index map[byteSet]elem // so that a pattern that repeats a class holds it once
}

func compile(pattern []byte, fold bool) *Glob {
	c := compiler{rest: pattern, fold: fold}
	g := &Glob{all: len(pattern) == 1 && pattern[0] == '*'}
	g.head = c.segment()
	for len(c.rest) > 0 { // at a star
		g.star = true
		if g.tail.len() > 0 {
			g.mids = append(g.mids, g.tail)
		}
		c.rest = c.rest[1:]
		g.tail = c.segment()
	}
	g.sets = c.sets
	g.min = g.head.len() + g.tail.len()
	for i := range g.mids {
		g.min += g.mids[i].len()
	}
	g.prefix = g.head.leading()
	g.shape, g.lit = g.simplify()
	return g
}

// simplify recognises the patterns that a single search answers.
func (g *Glob) simplify() (shape, []byte) {
	if g.head.elems != nil || g.tail.elems != nil {
		return general, nil
	}
	switch head, tail := g.head.len(), g.tail.len(); {
	case !g.star:
		return exact, g.head.lit
	case len(g.mids) == 0 && tail == 0:
		return prefixed, g.head.lit
	case len(g.mids) == 0 && head == 0:
		return suffixed, g.tail.lit
	case len(g.mids) == 1 && head+tail == 0 && g.mids[0].elems == nil:
		return contains, g.mids[0].lit
	}
	return general, nil
}

// segment reads up to the next star or the end.
func (c *compiler) segment() segment {
	var seg segment
	for len(c.rest) > 0 && c.rest[0] != '*' {
		e := c.element()
		if seg.elems == nil && e < anyByte {
			seg.lit = append(seg.lit, byte(e))
			continue
		}
		if seg.elems == nil {
			seg.elems = widen(seg.lit)
			seg.lit = nil
		}
		seg.elems = append(seg.elems, e)
	}
	return seg
}

func widen(lit []byte) []elem {
	elems := make([]elem, len(lit), len(lit)+8)
	for i, b := range lit {
		elems[i] = elem(b)
	}
	return elems
}

// leading is the literal a segment begins with.
func (seg *segment) leading() []byte {
	if seg.elems == nil {
		return seg.lit
	}
	var lit []byte
	for _, e := range seg.elems {
		if e >= anyByte {
			break
		}
		lit = append(lit, byte(e))
	}
	return lit
}

// element reads one element; rest is not empty and not at a star.
func (c *compiler) element() elem {
	b := c.rest[0]
	c.rest = c.rest[1:]
	switch {
	case b == '?':
		return anyByte
	case b == '[':
		return c.class()
	case b == '\\' && len(c.rest) > 0:
		b = c.rest[0]
		c.rest = c.rest[1:]
	}
	if !c.fold || !isLetter(b) {
		return elem(b)
	}
	var both byteSet
	both.add(b)
	both.add(b ^ 0x20)
	return c.element256(both)
}

// class reads a class after its bracket. Redis' rules: the first `]` closes, even at once; the end of the pattern closes
// too; a range needs three bytes and takes its last one as it is, even `]` or `\`; an escaped byte keeps its case.
func (c *compiler) class() elem {
	var set byteSet
	not := len(c.rest) > 0 && c.rest[0] == '^'
	if not {
		c.rest = c.rest[1:]
	}
	for len(c.rest) > 0 && c.rest[0] != ']' {
		c.rest = c.rest[c.member(&set):]
	}
	if len(c.rest) > 0 {
		c.rest = c.rest[1:]
	}
	if not {
		set.invert()
	}
	return c.element256(set)
}

// member adds the member at the front of rest and tells how many bytes it took.
func (c *compiler) member(set *byteSet) int {
	p := c.rest
	switch {
	case p[0] == '\\' && len(p) >= 2:
		set.add(p[1])
		return 2
	case len(p) >= 3 && p[1] == '-':
		if c.fold {
			set.addRangeFold(p[0], p[2])
		} else {
			set.addRange(p[0], p[2])
		}
		return 3
	}
	set.add(p[0])
	if c.fold && isLetter(p[0]) {
		set.add(p[0] ^ 0x20)
	}
	return 1
}

// element256 is the cheapest element that takes the bytes of a set.
func (c *compiler) element256(set byteSet) elem {
	switch b, n := set.single(); n {
	case 1:
		return elem(b)
	case 256:
		return anyByte
	}
	if e, ok := c.index[set]; ok {
		return e
	}
	if c.index == nil {
		c.index = make(map[byteSet]elem)
	}
	c.sets = append(c.sets, set)
	e := anyByte + elem(len(c.sets))
	c.index[set] = e
	return e
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
