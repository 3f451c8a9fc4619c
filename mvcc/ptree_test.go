package mvcc

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

type pentry struct {
	order         uint64
	member, value string
}

func comparePentry(a, b pentry) int {
	if a.order != b.order {
		return 2*int(min(1, max(a.order, b.order)-b.order)) - 1
	}
	return bytes.Compare([]byte(a.member), []byte(b.member))
}

// pmodel is what a ptree is to be: a sorted slice.
type pmodel []pentry

func (m pmodel) find(order uint64, member string) (int, bool) {
	return slices.BinarySearchFunc(m, pentry{order: order, member: member}, comparePentry)
}

func (m pmodel) set(e pentry) (pmodel, bool) {
	i, ok := m.find(e.order, e.member)
	if ok {
		m = slices.Clone(m) // which copies may share
		m[i] = e
		return m, true
	}
	return slices.Insert(slices.Clone(m), i, e), false
}

func (m pmodel) cut(lo, hi int) pmodel { return slices.Delete(slices.Clone(m), lo, hi) }

// pshape makes the entries of a test.
type pshape struct {
	name   string
	order  func(r *rand.Rand) uint64
	member func(r *rand.Rand) string
	value  func(r *rand.Rand) string
}

func ppad(r *rand.Rand, n int) string {
	return string(bytes.Repeat([]byte{byte('a' + r.IntN(26))}, n))
}

func pfew(n uint64) func(*rand.Rand) uint64 {
	return func(r *rand.Rand) uint64 { return r.Uint64N(n) }
}

func pnumbered(n int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return fmt.Sprintf("member:%06d", r.IntN(n)) }
}

func pshort(r *rand.Rand) string { return ppad(r, r.IntN(4)*5) }

// plonger is mostly short, and sometimes just below or above what lies in a page.
func plonger(r *rand.Rand) string {
	if r.IntN(4) > 0 {
		return ppad(r, r.IntN(140))
	}
	return ppad(r, 380+r.IntN(400))
}

func pshapes() []pshape {
	even := func(r *rand.Rand) uint64 { return r.Uint64N(4000) * (^uint64(0) / 4000) }
	clumped := func(r *rand.Rand) uint64 { return r.Uint64N(4)<<60 + r.Uint64N(800) }
	prefixed := func(r *rand.Rand) string { return ppad(r, r.IntN(3)) + ppad(r, r.IntN(200)) }
	return []pshape{
		{"even", even, pnumbered(1), pshort},
		{"twins", even, pnumbered(2), pshort},
		{"clumped", clumped, pnumbered(2), pshort},
		{"equal orders", pfew(1), pnumbered(3000), pshort},
		{"few orders", pfew(8), prefixed, pshort},
		{"long", pfew(300), pnumbered(3), plonger},
		{"huge", pfew(600), pnumbered(1), func(r *rand.Rand) string { return ppad(r, 400+r.IntN(112)) }},
		{"blobs", even, pnumbered(1), func(r *rand.Rand) string { return ppad(r, 490+r.IntN(30)) }},
	}
}

// TestPtree runs random writes against a sorted slice, with copies that are
// compared again after every round.
func TestPtree(t *testing.T) {
	for _, shape := range pshapes() {
		t.Run(shape.name, func(t *testing.T) {
			r, _ := newRand(t)
			p := ptest{T: t, r: r, shape: shape, tree: newPtree()}
			for round := range 40 {
				p.round(round%20 < 12)
				require.NoError(t, p.tree.check())
				p.compare(p.tree, p.model)
				p.keep()
			}
		})
	}
}

type ptest struct {
	*testing.T
	r     *rand.Rand
	shape pshape
	tree  *ptree
	model pmodel
	old   []pfrozen
}

type pfrozen struct {
	tree  *ptree
	model pmodel
}

// keep copies the tree, goes on with either side, and compares the old copies.
func (p *ptest) keep() {
	c, size := p.tree.Copy(), p.tree.size
	require.Equal(p, size, c.size)
	if p.r.IntN(2) == 0 {
		c, p.tree = p.tree, c
	}
	p.old = append(p.old, pfrozen{c, p.model})
	if len(p.old) > 4 {
		p.old = p.old[1:]
	}
	for _, f := range p.old {
		require.NoError(p, f.tree.check())
		p.compare(f.tree, f.model)
	}
}

func (p *ptest) round(grow bool) {
	if p.tree.spare == nil {
		p.tree.spare = new(spares) // as if it were large
	}
	for range 120 {
		switch x := p.r.IntN(100); {
		case x < 3 && len(p.model) > 0:
			lo := p.r.IntN(len(p.model))
			hi := min(lo+p.r.IntN(4), len(p.model))
			p.deleteRange(lo, hi)
		case x < 70 == grow:
			p.set()
		default:
			p.delete()
		}
	}
	if n := len(p.model); p.r.IntN(6) == 0 {
		lo := p.r.IntN(n + 1)
		p.deleteRange(lo, lo+p.r.IntN(n-lo+1))
		require.NoError(p, p.tree.check())
	}
}

func (p *ptest) deleteRange(lo, hi int) {
	p.tree.DeleteRange(lo, hi)
	p.model = p.model.cut(lo, hi)
}

// pick returns the order and member of an entry, which is mostly there.
func (p *ptest) pick() (uint64, string) {
	if p.r.IntN(4) > 0 && len(p.model) > 0 {
		e := p.model[p.r.IntN(len(p.model))]
		return e.order, e.member
	}
	return p.shape.order(p.r), p.shape.member(p.r)
}

func (p *ptest) set() {
	e := pentry{p.shape.order(p.r), p.shape.member(p.r), p.shape.value(p.r)}
	if p.r.IntN(6) == 0 {
		e.order, e.member = p.pick()
	}
	var has bool
	p.model, has = p.model.set(e)
	require.Equal(p, has, p.tree.Set(e.order, []byte(e.member), []byte(e.value)))
}

func (p *ptest) delete() {
	if n := len(p.model); n > 0 && p.r.IntN(4) == 0 {
		i := p.r.IntN(n)
		order, member := p.tree.DeleteAt(i, []byte("before "))
		require.Equal(p, p.model[i].order, order)
		require.Equal(p, "before "+p.model[i].member, string(member))
		p.model = p.model.cut(i, i+1)
		return
	}
	order, member := p.pick()
	i, has := p.model.find(order, member)
	require.Equal(p, has, p.tree.Delete(order, []byte(member)))
	if has {
		p.model = p.model.cut(i, i+1)
	}
}

// compare reads all of a tree in every way that there is.
func (p *ptest) compare(tree *ptree, m pmodel) {
	require.Equal(p, len(m), tree.Len())
	p.compareWalks(tree, m)
	for range 10 {
		order, member := p.pick()
		i, has := m.find(order, member)
		rank, found := tree.Rank(order, []byte(member))
		require.Equal(p, i, rank)
		require.Equal(p, has, found)
		value, ok := tree.Get(order, []byte(member))
		require.Equal(p, has, ok)
		if has {
			require.Equal(p, m[i].value, string(value))
		}
	}
	if n := len(m); n > 0 {
		i := p.r.IntN(n)
		order, member, value := tree.At(i)
		require.Equal(p, pentry{order, string(member), string(value)}, m[i])
	}
	p.compareSeeks(tree, m)
}

func (p *ptest) compareWalks(tree *ptree, m pmodel) {
	from := p.r.IntN(len(m) + 1)
	var up, down, next pmodel
	tree.Ascend(from, func(o uint64, k, v []byte) bool {
		up = append(up, pentry{o, string(k), string(v)})
		return true
	})
	require.True(p, slices.Equal(m[from:], up), "Ascend")
	tree.Descend(from-1, func(o uint64, k, v []byte) bool {
		down = append(down, pentry{o, string(k), string(v)})
		return true
	})
	slices.Reverse(down)
	require.True(p, slices.Equal(m[:from], down), "Descend")
	c := tree.Cursor()
	for c.Next() {
		next = append(next, pentry{c.Order(), string(c.Member()), string(c.Value())})
	}
	require.False(p, c.Next())
	require.True(p, slices.Equal(m, next), "Cursor")
	order, _ := p.pick()
	i, _ := m.find(order, "")
	tree.AscendFrom(order, func(o uint64, k, v []byte) bool {
		require.Equal(p, pentry{o, string(k), string(v)}, m[i])
		i++
		return p.r.IntN(100) > 0
	})
}

// compareSeeks runs a cursor forward by Seek and Next.
func (p *ptest) compareSeeks(tree *ptree, m pmodel) {
	c, at := tree.Cursor(), -1
	for at < len(m) {
		if p.r.IntN(3) == 0 {
			at++
			require.Equal(p, at < len(m), c.Next())
		} else {
			e := p.target(m, at)
			i, _ := m.find(e.order, e.member)
			at = max(at, i, 0)
			require.Equal(p, at < len(m), c.Seek(e.order, []byte(e.member)))
		}
		if at < len(m) {
			require.Equal(p, pentry{c.Order(), string(c.Member()), string(c.Value())}, m[at])
		}
	}
}

// target is something to seek: near, anywhere, or not there.
func (p *ptest) target(m pmodel, at int) (e pentry) {
	if p.r.IntN(5) == 0 || len(m) == 0 {
		e.order, e.member = p.pick()
		return e
	}
	e = m[min(max(at, 0)+p.r.IntN(1<<p.r.IntN(10)), len(m)-1)]
	switch p.r.IntN(3) {
	case 0:
		e.member += "\x00"
	case 1:
		e.order++
	}
	return e
}

// TestPtreeFill measures how full the pages are, by the order of the inserts.
func TestPtreeFill(t *testing.T) {
	r, _ := newRand(t)
	const n, each = 50_000, slotSize + 2 + 13 + 14
	for name, order := range map[string]func(i int) uint64{
		"ascending": func(i int) uint64 { return uint64(i) },
		"random":    func(int) uint64 { return r.Uint64() },
		"falling":   func(i int) uint64 { return uint64(n - i) },
	} {
		tree := newPtree()
		for i := range n {
			tree.Set(order(i), fmt.Appendf(nil, "%013d", i), make([]byte, 14))
		}
		require.NoError(t, tree.check())
		fill := float64(n*each) / float64(tree.size)
		t.Logf("%s: %.1f bytes an entry, %.0f %% full", name, float64(tree.size)/n, 100*fill)
		least := 0.82
		if name == "ascending" {
			least = 0.94
		}
		require.Greater(t, fill, least, name)
		for i := n; i > n/10; i-- {
			at := r.IntN(tree.Len())
			tree.DeleteRange(at, at+1)
		}
		require.NoError(t, tree.check())
		fill = float64(tree.Len()*each) / float64(tree.size)
		t.Logf("%s: %.0f %% full after deletes, %d entries a leaf", name, 100*fill, tree.Len()/pleaves(tree.root))
		require.Greater(t, fill, 0.55, name)
		require.Less(t, pleaves(tree.root), tree.Len()*each/(pageThin+pageThin/4), name)
	}
}

func pleaves(nd *pnode) (n int) {
	if nd.bottom {
		return len(nd.kids)
	}
	for i := range nd.kids {
		n += pleaves(nd.kids[i].node)
	}
	return n
}

// TestPtreeSplitRoom splits full pages of all kinds of entries, after which the
// longest entry must fit into either half.
func TestPtreeSplitRoom(t *testing.T) {
	r, _ := newRand(t)
	longest := make([]byte, inlineMax)
	for range 3000 {
		l, size := newLeaf(nil, pageMin, 1), 1+r.IntN(inlineMax)
		for order := uint64(0); ; order++ {
			n := r.IntN(size)
			if r.IntN(8) == 0 {
				n = inlineMax
			}
			if !l.insert(nil, r.IntN(l.n()+1), order, nil, longest[:n]) {
				break
			}
		}
		n := l.n()
		right := l.split(nil, 1)
		require.Equal(t, n, l.n()+right.n())
		require.True(t, l.insert(nil, l.n(), 1, nil, longest))
		require.True(t, right.insert(nil, 0, 1, nil, longest))
	}
}

// TestPtreeSmall holds what a tree costs that has hardly outgrown a record.
func TestPtreeSmall(t *testing.T) {
	tree := newPtree()
	require.LessOrEqual(t, tree.bytes(), int64(512))
	for i := range 30 {
		tree.Set(uint64(i)<<58, fmt.Appendf(nil, "%013d", i), make([]byte, 14))
	}
	require.LessOrEqual(t, tree.bytes(), int64(2300))
	tree.DeleteRange(0, 30)
	require.LessOrEqual(t, tree.bytes(), int64(512))
	require.Zero(t, tree.Len())
	require.NoError(t, tree.check())
}

// TestPtreeBlobsStay keeps long values over later writes.
func TestPtreeBlobsStay(t *testing.T) {
	tree := newPtree()
	long := bytes.Repeat([]byte("x"), inlineMax+1)
	tree.Set(1, []byte("m"), long)
	kept, ok := tree.Get(1, []byte("m"))
	require.True(t, ok)
	tree.Set(1, []byte("m"), bytes.Repeat([]byte("y"), inlineMax+1))
	tree.Delete(1, []byte("m"))
	require.Equal(t, long, kept)
}
