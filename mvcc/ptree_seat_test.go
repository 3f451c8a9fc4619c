package mvcc

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// seatOf finds the seat of an entry as the Warmer does.
func seatOf(t *ptree, order uint64, member string) pseat {
	k := warming{member: []byte(member), pseat: pseat{order: order}}
	k.findBottom(t)
	k.findPage()
	return k.pseat
}

// TestPtreeSeats reads and writes by seats that were found some writes and copies
// ago, and compares with a sorted slice.
func TestPtreeSeats(t *testing.T) {
	good, all := 0, 0
	for _, shape := range pshapes() {
		t.Run(shape.name, func(t *testing.T) {
			r, _ := newRand(t)
			p := ptest{T: t, r: r, shape: shape, tree: newPtree()}
			for round := range 60 {
				p.round(round%30 < 20)
				for range 10 {
					g, a := p.seats()
					good, all = good+g, all+a
				}
				require.NoError(t, p.tree.check())
				p.compare(p.tree, p.model)
				p.keep()
			}
		})
	}
	require.Greater(t, good, all/5)
	require.Less(t, good, all)
}

// seats finds some seats, changes the tree and uses them. It returns how many of
// them were good and how many there were.
func (p *ptest) seats() (good, all int) {
	var entries []pentry
	var seats []pseat
	for range 8 {
		order, member := p.pick()
		entries = append(entries, pentry{order, member, p.shape.value(p.r)})
		seats = append(seats, seatOf(p.tree, order, member))
	}
	for range p.r.IntN(8) {
		if p.r.IntN(2) == 0 {
			p.set()
		} else {
			p.delete()
		}
	}
	if p.r.IntN(3) == 0 {
		p.keep()
	}
	for i, e := range entries {
		if nd, _ := seats[i].bottomOf(p.tree); nd != nil {
			good++
		}
		p.useSeat(&seats[i], e)
	}
	return good, len(entries)
}

func (p *ptest) useSeat(seat *pseat, e pentry) {
	i, there := p.model.find(e.order, e.member)
	value, ok := p.tree.GetBy(seat, e.order, []byte(e.member))
	require.Equal(p, there, ok)
	if there {
		require.Equal(p, p.model[i].value, string(value))
	}
	p.model, there = p.model.set(e)
	require.Equal(p, there, p.tree.SetBy(seat, e.order, []byte(e.member), []byte(e.value)))
}

// TestStaleSeats refuses seats of a tree whose nodes have other kids by now: on
// another path the entry would be put out of order.
func TestStaleSeats(t *testing.T) {
	const n = 20_000
	order := func(i int) uint64 { return uint64(i) << 40 }
	member := func(i int) string { return fmt.Sprintf("%010d", i) }
	build := func() *ptree {
		tree := newPtree()
		for i := range n {
			tree.Set(order(i), []byte(member(i)), nil)
		}
		return tree
	}
	for name, change := range map[string]func(tree *ptree){
		"a split leaf": func(tree *ptree) {
			for i := range 100 {
				tree.Set(order(n/2)+uint64(i), []byte("new"), nil)
			}
		},
		"a dropped leaf": func(tree *ptree) { tree.DeleteRange(n/2-250, n/2-1) },
		"a dropped node": func(tree *ptree) { tree.DeleteRange(0, n/2-1) },
		"a lower root":   func(tree *ptree) { tree.DeleteRange(2, n) },
		"an empty tree":  func(tree *ptree) { tree.DeleteRange(0, n) },
	} {
		tree := build()
		seat := seatOf(tree, order(n/2), member(n/2))
		nd, _ := seat.bottomOf(tree)
		require.NotNil(t, nd, name)
		require.Greater(t, seat.depth, uint8(1))
		change(tree)
		nd, _ = seat.bottomOf(tree)
		require.Nil(t, nd, name)
		tree.SetBy(&seat, order(n/2), []byte(member(n/2)), []byte("v"))
		require.NoError(t, tree.check(), name)
		v, ok := tree.Get(order(n/2), []byte(member(n/2)))
		require.True(t, ok, name)
		require.Equal(t, "v", string(v), name)
	}
}

// TestSeatOfAnotherMember: two members at one position, of which the seat knows
// one, in a set whose leaves are full of members at that position.
func TestSeatOfAnotherMember(t *testing.T) {
	_, seed := newRand(t)
	s := newSpace(t, 1, 1, 4, seed)
	var tx Tx
	tx.Begin(s, 0, 1)
	w := tx.WriteSet([]byte("s"))
	for i := range 3000 {
		w.Add(fmt.Append(nil, 2*i))
	}
	w.Close()
	var warmer Warmer
	pos := s.Hash([]byte("s"))
	for i := range 3000 {
		warmer.Add(s, Place{Pos: pos, Member: fmt.Append(nil, 2*i)})
		warmer.Run()
		warmer.Seat(0, pos)
		e, _ := tx.Lookup([]byte("s"))
		w = tx.EditSet([]byte("s"), &e)
		require.True(t, w.Add(fmt.Append(nil, 2*i+1)))
		require.False(t, w.Add(fmt.Append(nil, 2*i)))
		w.Close()
		warmer.Forget()
	}
	require.NoError(t, s.Check())
}

// A frozen set keeps its members though they are written by a seat from before
// the freeze.
func TestSeatOverFreeze(t *testing.T) {
	_, seed := newRand(t)
	s := newSpace(t, 1, 1, 64, seed)
	var tx Tx
	tx.Begin(s, 0, 1)
	w := tx.WriteHash([]byte("h"))
	for i := range 3000 {
		w.Set(fmt.Append(nil, i), []byte("old"))
	}
	w.Close()
	var warmer Warmer
	pos := s.Hash([]byte("h"))
	warmer.Add(s, Place{Pos: pos, Member: []byte("7")})
	warmer.Run()
	version := s.Stores[0].Freeze(0)
	defer version.Release()
	warmer.Seat(0, pos)
	w = tx.WriteHash([]byte("h"))
	require.False(t, w.Set([]byte("7"), []byte("new")))
	w.Close()
	var v View
	for want, open := range map[string]func(){
		"new": func() { v.LiveView(s, 0, 1) },
		"old": func() { v.FrozenView(s, 0, 1, []*Version{version}) },
	} {
		open()
		e, _ := v.Get([]byte("h"))
		h := e.Hash(1)
		got, _ := h.Get([]byte("7"))
		require.Equal(t, want, string(got))
	}
	require.NoError(t, s.Check())
}
