package commands

// partialSort puts the elements into the places [from, to) that they have when
// all are sorted. Where elements are equal the outcome is that of Redis' pqsort,
// which decides what SORT ... LIMIT and GEOSEARCH ... COUNT return: the quicksort
// of Bentley and McIlroy, "Engineering a Sort Function" (1993), without the parts
// that lie outside.
func partialSort[T any](all []T, from, to int, compare func(a, b *T) int) {
	p := partialSorter[T]{from, to, compare}
	p.sort(all, 0)
}

type partialSorter[T any] struct {
	from, to int
	compare  func(a, b *T) int
}

const (
	insertionBelow = 7
	medianAbove    = 7  // from here on the pivot is a median of three,
	ninetherAbove  = 40 // and from here on of nine
)

// sort orders a, which begins at the place base, as far as that is needed.
func (p *partialSorter[T]) sort(a []T, base int) {
	for base < p.to && base+len(a) > p.from && len(a) > 1 {
		if len(a) < insertionBelow {
			p.insertion(a)
			return
		}
		low, high := p.partition(a)
		if low > 1 {
			p.sort(a[:low], base)
		}
		base += len(a) - high
		a = a[len(a)-high:]
	}
}

func (p *partialSorter[T]) insertion(a []T) {
	for i := 1; i < len(a); i++ {
		for k := i; k > 0 && p.compare(&a[k-1], &a[k]) > 0; k-- {
			a[k], a[k-1] = a[k-1], a[k]
		}
	}
}

// partition returns how many elements, at the front, are less than the pivot,
// and how many, at the end, are greater.
func (p *partialSorter[T]) partition(a []T) (low, high int) {
	pivot := p.pivot(a)
	a[0], a[pivot] = a[pivot], a[0]
	// Those equal to the pivot gather at both ends, up to ea and from ed+1.
	ea, b, c, ed := 1, 1, len(a)-1, len(a)-1
	for {
		for ; b <= c; b++ {
			r := p.compare(&a[b], &a[0])
			if r > 0 {
				break
			}
			if r == 0 {
				a[ea], a[b] = a[b], a[ea]
				ea++
			}
		}
		for ; b <= c; c-- {
			r := p.compare(&a[c], &a[0])
			if r < 0 {
				break
			}
			if r == 0 {
				a[c], a[ed] = a[ed], a[c]
				ed--
			}
		}
		if b > c {
			break
		}
		a[b], a[c] = a[c], a[b]
		b++
		c--
	}
	swapRanges(a, 0, b, min(ea, b-ea))
	swapRanges(a, b, len(a), min(ed-c, len(a)-1-ed))
	return b - ea, ed - c
}

// swapRanges swaps the n elements from i on with those that end before end.
func swapRanges[T any](a []T, i, end, n int) {
	for k := range n {
		a[i+k], a[end-n+k] = a[end-n+k], a[i+k]
	}
}

func (p *partialSorter[T]) pivot(a []T) int {
	n := len(a)
	low, mid, high := 0, n/2, n-1
	if n <= medianAbove {
		return mid
	}
	if n > ninetherAbove {
		d := n / 8
		low = p.median(a, low, low+d, low+2*d)
		mid = p.median(a, mid-d, mid, mid+d)
		high = p.median(a, high-2*d, high-d, high)
	}
	return p.median(a, low, mid, high)
}

func (p *partialSorter[T]) median(a []T, i, j, k int) int {
	if p.compare(&a[i], &a[j]) < 0 {
		switch {
		case p.compare(&a[j], &a[k]) < 0:
			return j
		case p.compare(&a[i], &a[k]) < 0:
			return k
		}
		return i
	}
	switch {
	case p.compare(&a[j], &a[k]) > 0:
		return j
	case p.compare(&a[i], &a[k]) < 0:
		return i
	}
	return k
}
