package mvcc

import (
	"cmp"
	"slices"
)

const (
	// reuseShare: an index keeps one node for so many positions at most, which is
	// some 4 bytes of the 21 that a position takes. What is over it is left to the
	// collector, as all of it is when the keyspace rests.
	reuseShare = 256
	reuseLeast = 64

	reuseLooks = 4 // nodes that a sweep looks at for each that was retired since the last one
)

// reuse takes the nodes that an index has copied before it wrote to them, and
// hands them out for its next copies when no version sees them any more. Beside
// scanners, who freeze a shard a thousand times a second, each write copies all its
// path, 5 to 8 kilobytes: the garbage of that was nearly all that there was, and a
// collection puts a loop off its core for milliseconds.
//
// A node is seen by the versions that were frozen between its birth and its
// retirement, so it need not wait for older ones: one long KEYS holds back what it
// reads and nothing else (interval-based reclamation: Wen, Izraelevitz, Cai,
// Beadle, Scott, PPoPP 2018; here only the owner retires, and versions say
// themselves when they are released). A nil *reuse keeps nothing. It is the
// owner's.
type reuse struct {
	k       *keyspace
	leaves  []*leaf // that nobody sees
	inners  []*inner
	retired []retired // from head on; a version may see them
	head    int
	since   int // retired since the last sweep
}

// retired is a node that an index no longer has, a leaf or an inner one. Versions
// of a generation between born and died see it: all that were made before it was
// replaced, those of a splice's before among them, which are ahead of the index.
type retired struct {
	leaf       *leaf
	inner      *inner
	born, died uint64
}

// copyLeaf returns a copy of the leaf for x to write to, in place of it.
func (u *reuse) copyLeaf(old *leaf, x *index) *leaf {
	c := u.leaf()
	*c = *old
	c.gen = x.gen
	u.retire(retired{leaf: old, born: old.gen}, x)
	return c
}

func (u *reuse) copyInner(old *inner, x *index) *inner {
	c := u.inner()
	*c = *old
	c.gen = x.gen
	u.retire(retired{inner: old, born: old.gen}, x)
	return c
}

// leaf returns one to be overwritten.
func (u *reuse) leaf() *leaf {
	if u == nil {
		return new(leaf)
	}
	return take(u, &u.leaves)
}

func (u *reuse) inner() *inner {
	if u == nil {
		return new(inner)
	}
	return take(u, &u.inners)
}

// take takes the last of those that nobody sees out, or makes a new one.
func take[T any](u *reuse, free *[]*T) *T {
	if len(*free) == 0 && u.since >= reuseFrom {
		u.sweep()
	}
	n := len(*free)
	if n == 0 {
		return new(T)
	}
	got := (*free)[n-1]
	(*free)[n-1] = nil
	*free = (*free)[:n-1]
	return got
}

// retire takes a node that x has replaced. During a splice the tables of before
// have it too, and what is frozen from them later.
func (u *reuse) retire(r retired, x *index) {
	if u == nil || u.k.before != nil {
		return
	}
	if len(u.leaves)+len(u.inners)+len(u.retired)-u.head >= max(reuseLeast, x.n/reuseShare) {
		if u.head == len(u.retired) {
			return
		}
		u.pop()
	}
	r.died = x.gens.Load() + 1
	u.retired = append(u.retired, r)
	u.since++
}

func (u *reuse) pop() retired {
	r := u.retired[u.head]
	u.retired[u.head] = retired{}
	if u.head++; u.head > len(u.retired)/2 {
		u.retired = slices.Delete(u.retired, 0, u.head)
		u.head = 0
	}
	return r
}

// sweep looks which of the nodes that wait longest are seen no more; the others
// go to the end of the line.
func (u *reuse) sweep() {
	u.k.forgetReleased()
	looks := min(len(u.retired)-u.head, reuseLooks*u.since)
	u.since = 0
	for range looks {
		r := u.pop()
		switch {
		case u.k.seesNode(r.born, r.died):
			u.retired = append(u.retired, r)
		case r.leaf != nil:
			scrapLeaf(r.leaf)
			u.leaves = append(u.leaves, r.leaf)
		default:
			*r.inner = inner{} // what it points to must not be kept alive
			u.inners = append(u.inners, r.inner)
		}
	}
}

// drop leaves all nodes to the collector.
func (u *reuse) drop() {
	if u != nil {
		*u = reuse{k: u.k}
	}
}

// seesNode says whether a version that was not forgotten is of a generation
// between the two.
func (k *keyspace) seesNode(born, died uint64) bool {
	i, _ := slices.BinarySearchFunc(k.versions, born, func(p *pins, born uint64) int { return cmp.Compare(p.gen, born) })
	return i < len(k.versions) && k.versions[i].gen < died
}
