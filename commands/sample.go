package commands

import (
	"math"
	"slices"

	"firn/mvcc"
)

// parseSampleCount reads the count of HRANDFIELD, SRANDMEMBER and ZRANDMEMBER.
func parseSampleCount(b []byte) (int64, error) {
	n, ok := ParseInt(b)
	switch {
	case !ok:
		return 0, ErrNotInteger
	case n == math.MinInt64:
		return 0, ErrRange(-math.MaxInt64, math.MaxInt64)
	}
	return n, nil
}

// sampleCost is the cost of HRANDFIELD, SRANDMEMBER, ZRANDMEMBER and SPOP: as
// many elements as are asked for, but if different ones are wanted at most the
// value's size.
func sampleCost(c *Call, v *mvcc.View) int {
	if len(c.Args) < 3 {
		return 1
	}
	n, ok := ParseInt(c.Args[2])
	switch {
	case !ok:
		return 1
	case n < 0:
		return int(min(-max(n, -math.MaxInt64), unknownCost))
	}
	return int(min(n, int64(countCost(c, v))))
}

// A sampler draws elements of a value of size elements by their index.
type sampler struct {
	c    *Call
	size int
	live func(i int) bool // nil: every element is there to be drawn
}

// drawTries is how often a sampler draws another element in place of one that
// has expired, before it counts those that have not.
const drawTries = 100

// one draws an index, all being equally likely; false if there is nothing to
// draw.
func (s *sampler) one() (int, bool) {
	if s.size == 0 {
		return 0, false
	}
	for range drawTries {
		i := s.below(s.size)
		if s.live == nil || s.live(i) {
			return i, true
		}
	}
	all := s.all()
	if len(all) == 0 {
		return 0, false
	}
	return all[s.below(len(all))], true
}

func (s *sampler) below(n int) int { return int(s.c.Rand() % uint64(n)) }

// all lists the indices of the elements that are there to be drawn.
func (s *sampler) all() []int {
	all := make([]int, 0, s.size)
	for i := range s.size {
		if s.live == nil || s.live(i) {
			all = append(all, i)
		}
		s.c.pauseAt(i)
	}
	return all
}

// some draws n different indices, in ascending order; all of them, if there are
// no more. Every choice of n is equally likely.
func (s *sampler) some(n int) []int {
	if s.live == nil {
		return s.choose(n, s.size)
	}
	all := s.all()
	chosen := s.choose(n, len(all))
	for j, i := range chosen {
		chosen[j] = all[i]
	}
	return chosen
}

// choose draws min(n, size) different numbers below size, in ascending order.
func (s *sampler) choose(n, size int) []int {
	switch {
	case n >= size:
		return s.choosePassing(size, size)
	case n > size/4:
		return s.choosePassing(n, size)
	}
	return s.chooseFloyd(n, size)
}

// choosePassing passes all numbers and takes each with the probability that is
// left for it (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S).
func (s *sampler) choosePassing(n, size int) []int {
	chosen := make([]int, 0, n)
	for i := range size {
		if s.below(size-i) < n-len(chosen) {
			chosen = append(chosen, i)
		}
		s.c.pauseAt(i)
	}
	return chosen
}

// linearUpTo is how many numbers are quicker compared than hashed.
const linearUpTo = 32

// chooseFloyd draws only as many numbers as it returns (Bentley and Floyd, "A
// sample of brilliance", 1987).
func (s *sampler) chooseFloyd(n, size int) []int {
	chosen := make([]int, 0, n)
	taken := func(i int) bool { return slices.Contains(chosen, i) }
	var seen map[int]struct{}
	if n > linearUpTo {
		seen = make(map[int]struct{}, n)
		taken = func(i int) bool { _, ok := seen[i]; return ok }
	}
	for top := size - n; top < size; top++ {
		i := s.below(top + 1)
		if taken(i) {
			i = top
		}
		chosen = append(chosen, i)
		if seen != nil {
			seen[i] = struct{}{}
		}
		s.c.pauseAt(top)
	}
	slices.Sort(chosen)
	return chosen
}
