package commands

// A merging is a cursor of a k-way merge.
type merging[T any] interface {
	// before says whether this cursor's element comes before the other's.
	before(T) bool
	// move goes to the next element; false at the end.
	move() bool
}

// A mergeHeap is a binary heap of cursors that stand on an element, the one that
// comes first on top.
type mergeHeap[T merging[T]] []T

// order makes a heap of cursors in whatever order.
func (h mergeHeap[T]) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// advance moves the top's cursor on, and takes it out if it has ended.
func (h mergeHeap[T]) advance() mergeHeap[T] {
	if !h[0].move() {
		last := len(h) - 1
		h[0] = h[last]
		h = h[:last]
	}
	h.sink(0)
	return h
}

// sink lets the cursor at i go down to its place.
func (h mergeHeap[T]) sink(i int) {
	for {
		least := i
		for kid := 2*i + 1; kid <= 2*i+2 && kid < len(h); kid++ {
			if h[kid].before(h[least]) {
				least = kid
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
