package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHistogramIsWithinItsPrecision(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	var h Histogram
	var all []time.Duration
	for range 20_000 {
		d := time.Duration(rng.ExpFloat64() * float64(time.Millisecond))
		h.Add(d)
		all = append(all, d)
	}
	slices.Sort(all)
	for _, q := range []float64{.01, .5, .9, .99, .999} {
		want := all[int(q*float64(len(all))+0.5)-1]
		require.InEpsilon(t, float64(want), float64(h.Quantile(q)), 1.0/(1<<subBits), "quantile %v, seed %d", q, seed)
		require.GreaterOrEqual(t, h.Quantile(q), want, "a quantile must not flatter")
	}
	require.Equal(t, all[len(all)-1], h.Max())
	require.Equal(t, h.Max(), h.Quantile(1))
	require.EqualValues(t, len(all), h.Count())
}

func TestHistogramBucketsJoin(t *testing.T) {
	last := -1
	for v := int64(0); v < 1<<14; v++ {
		i := bucketOf(v)
		require.Contains(t, []int{last, last + 1}, i, "value %d", v)
		require.GreaterOrEqual(t, bucketTop(i), v)
		if i > 0 {
			require.Less(t, bucketTop(i-1), v)
		}
		last = i
	}
	var h Histogram
	h.Add(1<<63 - 1)
	h.Add(-5)
	require.EqualValues(t, 1<<63-1, h.Quantile(1))
	require.Zero(t, h.Quantile(.5))
}

func TestHistogramMerge(t *testing.T) {
	var a, b, empty Histogram
	a.Add(time.Millisecond)
	b.Add(time.Second)
	a.Merge(&b)
	a.Merge(&empty)
	require.EqualValues(t, 2, a.Count())
	require.Equal(t, time.Second, a.Max())
	require.Zero(t, empty.Quantile(.99))
}
