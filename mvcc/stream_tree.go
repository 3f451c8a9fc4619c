package mvcc

import "slices"

// A key of a cow orders itself.
type ordered[K any] interface{ compare(K) int }

const (
	cowMax  = 64 // keys of a node
	cowThin = 16 // a node with fewer is joined with a neighbour, if both fit into one
)

// A cow is a counted, copy-on-write B+ tree. It is a plain value: a copy of it
// shares all nodes. Who writes says which generation he is; a node of another
// generation is copied first. So of two copies that are both written, one must
// have got a generation that neither has used (stream.copy).
//
// What is added in ascending order fills the nodes completely.
type cow[K ordered[K], V any] struct{ root *cowNode[K, V] }

// cowNode is a leaf, with as many values as keys, or an inner node, whose keys
// are lower bounds of its children's.
type cowNode[K ordered[K], V any] struct {
	gen   uint64
	count int // values at or below
	keys  []K
	vals  []V
	kids  []*cowNode[K, V]
}

func (t *cow[K, V]) len() int {
	if t.root == nil {
		return 0
	}
	return t.root.count
}

// place returns where the key is or would be among those of a node.
func (n *cowNode[K, V]) place(k K) (i int, found bool) {
	if last := len(n.keys) - 1; last < 0 || n.keys[last].compare(k) < 0 {
		return len(n.keys), false
	}
	return slices.BinarySearchFunc(n.keys, k, func(a, b K) int { return a.compare(b) })
}

// child returns which child holds the key, or would.
func (n *cowNode[K, V]) child(k K) int {
	i, found := n.place(k)
	if !found {
		i--
	}
	return max(i, 0)
}

// ownNode makes the node one that the generation may write to.
func ownNode[K ordered[K], V any](p **cowNode[K, V], gen uint64) *cowNode[K, V] {
	n := *p
	if n.gen == gen {
		return n
	}
	c := &cowNode[K, V]{gen: gen, count: n.count, keys: slices.Clone(n.keys), vals: slices.Clone(n.vals), kids: slices.Clone(n.kids)}
	*p = c
	return c
}

// get returns the value at the key.
func (t *cow[K, V]) get(k K) (v V, ok bool) {
	n := t.root
	if n == nil {
		return v, false
	}
	for n.kids != nil {
		n = n.kids[n.child(k)]
	}
	if i, found := n.place(k); found {
		return n.vals[i], true
	}
	return v, false
}

// mut returns the value at the key, to be written; nil if there is none. It is
// good until the next change of the tree.
func (t *cow[K, V]) mut(gen uint64, k K) *V {
	if _, ok := t.get(k); !ok {
		return nil
	}
	n := ownNode(&t.root, gen)
	for n.kids != nil {
		n = ownNode(&n.kids[n.child(k)], gen)
	}
	i, _ := n.place(k)
	return &n.vals[i]
}

// set puts a value at the key and says whether it is a new one.
func (t *cow[K, V]) set(gen uint64, k K, v V) (added bool) {
	if t.root == nil {
		t.root = &cowNode[K, V]{gen: gen}
	}
	root := ownNode(&t.root, gen)
	right, added := root.set(gen, k, v)
	if right != nil {
		t.root = &cowNode[K, V]{gen: gen, count: root.count + right.count,
			keys: []K{root.keys[0], right.keys[0]}, kids: []*cowNode[K, V]{root, right}}
	}
	return added
}

// set writes below a node that the generation owns. If the node had to be split
// it returns the new right part.
func (n *cowNode[K, V]) set(gen uint64, k K, v V) (right *cowNode[K, V], added bool) {
	if n.kids == nil {
		return n.setLeaf(gen, k, v)
	}
	i := n.child(k)
	kid := ownNode(&n.kids[i], gen)
	split, added := kid.set(gen, k, v)
	if added {
		n.count++
	}
	n.keys[i] = kid.keys[0]
	if split == nil {
		return nil, added
	}
	n.keys = slices.Insert(n.keys, i+1, split.keys[0])
	n.kids = slices.Insert(n.kids, i+1, split)
	if len(n.kids) <= cowMax {
		return nil, added
	}
	at := len(n.kids) / 2
	if i+2 == len(n.kids) {
		at = cowMax // what is added in order leaves full nodes behind
	}
	return n.splitInner(gen, at), added
}

func (n *cowNode[K, V]) splitInner(gen uint64, at int) *cowNode[K, V] {
	right := &cowNode[K, V]{gen: gen, keys: slices.Clone(n.keys[at:]), kids: slices.Clone(n.kids[at:])}
	clear(n.keys[at:])
	clear(n.kids[at:])
	n.keys, n.kids = n.keys[:at], n.kids[:at]
	for _, k := range right.kids {
		right.count += k.count
	}
	n.count -= right.count
	return right
}

func (n *cowNode[K, V]) setLeaf(gen uint64, k K, v V) (right *cowNode[K, V], added bool) {
	i, found := n.place(k)
	if found {
		n.vals[i] = v
		return nil, false
	}
	if len(n.keys) < cowMax {
		n.insert(i, k, v)
		return nil, true
	}
	if i == cowMax {
		right = &cowNode[K, V]{gen: gen, keys: make([]K, 0, cowThin), vals: make([]V, 0, cowThin)}
		right.insert(0, k, v)
		return right, true
	}
	half := cowMax / 2
	right = &cowNode[K, V]{gen: gen, keys: slices.Clone(n.keys[half:]), vals: slices.Clone(n.vals[half:])}
	right.count = len(right.keys)
	n.keys, n.vals, n.count = slices.Clone(n.keys[:half]), slices.Clone(n.vals[:half]), half
	if i <= half {
		n.insert(i, k, v)
	} else {
		right.insert(i-half, k, v)
	}
	return right, true
}

func (n *cowNode[K, V]) insert(i int, k K, v V) {
	n.keys = slices.Insert(n.keys, i, k)
	n.vals = slices.Insert(n.vals, i, v)
	n.count++
}

// delete takes the key out and returns its value.
func (t *cow[K, V]) delete(gen uint64, k K) (v V, ok bool) {
	if v, ok = t.get(k); !ok {
		return v, false
	}
	ownNode(&t.root, gen).delete(gen, k)
	for len(t.root.kids) == 1 {
		t.root = t.root.kids[0]
	}
	if t.root.count == 0 {
		t.root = nil
	}
	return v, true
}

// delete takes out a key that is there, below a node that the generation owns.
func (n *cowNode[K, V]) delete(gen uint64, k K) {
	n.count--
	if n.kids == nil {
		i, _ := n.place(k)
		n.keys, n.vals = slices.Delete(n.keys, i, i+1), slices.Delete(n.vals, i, i+1)
		return
	}
	i := n.child(k)
	kid := ownNode(&n.kids[i], gen)
	kid.delete(gen, k)
	if kid.count == 0 {
		n.keys, n.kids = slices.Delete(n.keys, i, i+1), slices.Delete(n.kids, i, i+1)
		return
	}
	if len(kid.keys) < cowThin && len(n.kids) > 1 {
		n.join(gen, min(i, len(n.kids)-2))
	}
}

// join makes one of children i and i+1 if they leave room in it.
func (n *cowNode[K, V]) join(gen uint64, i int) {
	b := n.kids[i+1]
	if len(n.kids[i].keys)+len(b.keys) > cowMax*3/4 {
		return
	}
	a := ownNode(&n.kids[i], gen)
	a.keys, a.vals, a.kids = append(a.keys, b.keys...), append(a.vals, b.vals...), append(a.kids, b.kids...)
	a.count += b.count
	n.keys, n.kids = slices.Delete(n.keys, i+1, i+2), slices.Delete(n.kids, i+1, i+2)
}

// floor returns the last key that is not after k.
func (t *cow[K, V]) floor(k K) (key K, v V, ok bool) {
	t.descend(k, func(found K, val V) bool {
		key, v, ok = found, val, true
		return false
	})
	return key, v, ok
}

// ceil returns the first key that is not before k.
func (t *cow[K, V]) ceil(k K) (key K, v V, ok bool) {
	t.ascend(k, func(found K, val V) bool {
		key, v, ok = found, val, true
		return false
	})
	return key, v, ok
}

// rank returns how many keys are before k.
func (t *cow[K, V]) rank(k K) (before int) {
	n := t.root
	if n == nil {
		return 0
	}
	for n.kids != nil {
		i := n.child(k)
		for _, kid := range n.kids[:i] {
			before += kid.count
		}
		n = n.kids[i]
	}
	i, _ := n.place(k)
	return before + i
}

// first returns the least key.
func (t *cow[K, V]) first() (k K, v V, ok bool) {
	n := t.root
	if n == nil {
		return k, v, false
	}
	for n.kids != nil {
		n = n.kids[0]
	}
	return n.keys[0], n.vals[0], true
}

// last returns the greatest key.
func (t *cow[K, V]) last() (k K, v V, ok bool) {
	n := t.root
	if n == nil {
		return k, v, false
	}
	for n.kids != nil {
		n = n.kids[len(n.kids)-1]
	}
	i := len(n.keys) - 1
	return n.keys[i], n.vals[i], true
}

// each calls yield for all keys in order until it returns false.
func (t *cow[K, V]) each(yield func(K, V) bool) {
	if k, _, ok := t.first(); ok {
		t.ascend(k, yield)
	}
}

// ascend calls yield for the keys from k on, in order, until it returns false.
func (t *cow[K, V]) ascend(k K, yield func(K, V) bool) {
	if t.root != nil {
		t.root.ascend(k, yield)
	}
}

func (n *cowNode[K, V]) ascend(k K, yield func(K, V) bool) bool {
	if n.kids != nil {
		for i := n.child(k); i < len(n.kids); i++ {
			if !n.kids[i].ascend(k, yield) {
				return false
			}
		}
		return true
	}
	i, _ := n.place(k)
	for ; i < len(n.keys); i++ {
		if !yield(n.keys[i], n.vals[i]) {
			return false
		}
	}
	return true
}

// descend calls yield for the keys from k down, until it returns false.
func (t *cow[K, V]) descend(k K, yield func(K, V) bool) {
	if t.root != nil {
		t.root.descend(k, yield)
	}
}

func (n *cowNode[K, V]) descend(k K, yield func(K, V) bool) bool {
	if n.kids != nil {
		for i := n.child(k); i >= 0; i-- {
			if !n.kids[i].descend(k, yield) {
				return false
			}
		}
		return true
	}
	i, found := n.place(k)
	if !found {
		i--
	}
	for ; i >= 0; i-- {
		if !yield(n.keys[i], n.vals[i]) {
			return false
		}
	}
	return true
}
