package main

import (
	"math/bits"
	"time"
)

// subBits fixes the histogram's precision: 32 buckets for each power of two, an error below 3.2 %.
const subBits = 5

// A Histogram counts durations in log-linear buckets (the layout of HdrHistogram). Adding never allocates.
// The zero value is ready. The largest value is kept exactly, as it is the figure that matters most here.
type Histogram struct {
	counts [(64 - subBits + 1) << subBits]uint64
	n      uint64
	sum    int64
	max    int64
}

// Add counts one duration; a negative one counts as zero.
func (h *Histogram) Add(d time.Duration) {
	v := max(int64(d), 0)
	h.counts[bucketOf(v)]++
	h.n++
	h.sum += v
	h.max = max(h.max, v)
}

// Merge adds everything that o has counted.
func (h *Histogram) Merge(o *Histogram) {
	for i, c := range o.counts {
		h.counts[i] += c
	}
	h.n += o.n
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// Count is how many durations were added.
func (h *Histogram) Count() uint64 { return h.n }

// Max is the largest duration added, exactly; zero when there is none.
func (h *Histogram) Max() time.Duration { return time.Duration(h.max) }

// Quantile is the duration that the fraction q of those added does not exceed: the upper edge of its bucket,
// never more than Max. Zero when nothing was added.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := max(uint64(q*float64(h.n)+0.5), 1)
	var seen uint64
	for i, c := range h.counts {
		seen += c
		if seen >= rank {
			return time.Duration(min(bucketTop(i), h.max))
		}
	}
	return time.Duration(h.max)
}

func bucketOf(v int64) int {
	shift := bits.Len64(uint64(v)) - (subBits + 1)
	if shift <= 0 {
		return int(v)
	}
	return shift<<subBits + int(v>>shift)
}

func bucketTop(i int) int64 {
	shift := i>>subBits - 1
	if shift <= 0 {
		return int64(i)
	}
	return int64(i-shift<<subBits+1)<<shift - 1
}
