package commands

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func testSampler(r *rand.Rand, size int) *sampler {
	return &sampler{c: &Call{Rand: r.Uint64}, size: size}
}

// TestSampleIsFair: each number is chosen equally often, whatever the method;
// Pearson's chi-square stays below the value that one run in a million exceeds.
func TestSampleIsFair(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 5))
	for _, c := range []struct{ n, size int }{{1, 50}, {10, 50}, {12, 50}, {13, 50}, {49, 50}, {40, 400}, {200, 400}} {
		counts := make([]int, c.size)
		const rounds = 20_000
		s := testSampler(r, c.size)
		for range rounds {
			chosen := s.some(c.n)
			require.Len(t, chosen, c.n)
			require.True(t, slices.IsSorted(chosen))
			require.Len(t, slices.Compact(chosen), c.n)
			for _, i := range chosen {
				counts[i]++
			}
		}
		require.Less(t, chiSquare(counts, rounds*c.n), chiLimit(c.size-1), "%d of %d", c.n, c.size)
	}
}

func chiSquare(counts []int, total int) (sum float64) {
	want := float64(total) / float64(len(counts))
	for _, n := range counts {
		sum += (float64(n) - want) * (float64(n) - want) / want
	}
	return sum
}

// chiLimit is about the 1 - 10^-6 quantile (Wilson and Hilferty).
func chiLimit(freedom int) float64 {
	k := float64(freedom)
	return k * math.Pow(1-2/(9*k)+4.75*math.Sqrt(2/(9*k)), 3)
}

// TestSampleOfExpired: those that are not there are never chosen, however many
// they are.
func TestSampleOfExpired(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 6))
	s := testSampler(r, 1000)
	s.live = func(i int) bool { return i == 7 || i == 990 }
	counts := map[int]int{}
	for range 2000 {
		i, ok := s.one()
		require.True(t, ok)
		counts[i]++
	}
	require.Len(t, counts, 2)
	require.Greater(t, counts[7], 800)
	require.Greater(t, counts[990], 800)
	require.Equal(t, []int{7, 990}, s.some(10))
	s.live = func(int) bool { return false }
	_, ok := s.one()
	require.False(t, ok)
	require.Empty(t, s.some(10))
	_, ok = testSampler(r, 0).one()
	require.False(t, ok)
}

// TestRandomMembersAreFair picks from sets and hashes, small and big.
func TestRandomMembersAreFair(t *testing.T) {
	h := bareHarness(1, testSeed(t))
	for _, size := range []int{10, 500} {
		set, hash := fmt.Sprint("s", size), fmt.Sprint("h", size)
		for i := range size {
			do(t, h, "SADD", set, strconv.Itoa(i))
			do(t, h, "HSET", hash, strconv.Itoa(i), "v")
		}
		for _, line := range [][]string{
			{"SRANDMEMBER", set, "-1000"}, {"SRANDMEMBER", set, "3"}, {"SRANDMEMBER", set, strconv.Itoa(size / 2)},
			{"HRANDFIELD", hash, "-1000"}, {"HRANDFIELD", hash, "3"},
		} {
			counts, total := make([]int, size), 0
			for total < 50*size || total < 20_000 {
				for _, e := range do(t, h, line...).Elems {
					i, err := strconv.Atoi(e.Text)
					require.NoError(t, err)
					counts[i]++
					total++
				}
			}
			require.Less(t, chiSquare(counts, total), chiLimit(size-1), "%q", line)
		}
	}
}

// addNumbers makes a set of the numbers below n.
func addNumbers(t *testing.T, h *harness, key string, n int) {
	line := []string{"SADD", key}
	for i := range n {
		line = append(line, strconv.Itoa(i))
	}
	do(t, h, line...)
}

// TestSpopMany: what is popped was there, is different and is gone; others are
// told in commands of bounded length.
func TestSpopMany(t *testing.T) {
	for _, n := range []int{1, 100, 1024, 2500, 4999, 5000} {
		h := newHarness(4, testSeed(t))
		addNumbers(t, h, "s", 5000)
		popped := map[string]bool{}
		for _, e := range do(t, h, "SPOP", "s", strconv.Itoa(n)).Elems {
			popped[e.Text] = true
		}
		require.Len(t, popped, n)
		require.Equal(t, strconv.Itoa(5000-n), do(t, h, "SCARD", "s").Text)
		for _, e := range do(t, h, "SMEMBERS", "s").Elems {
			require.False(t, popped[e.Text])
		}
		require.NoError(t, h.verify())
	}
}

// TestSpopEffects: SREM in parts, or DEL.
func TestSpopEffects(t *testing.T) {
	f := func(n string, want ...int) {
		t.Helper()
		h := bareHarness(1, 1)
		addNumbers(t, h, "s", 3000)
		h.recording = true
		do(t, h, "SPOP", "s", n)
		var got []int
		for _, e := range h.effects {
			got = append(got, len(e.Args))
		}
		require.Equal(t, want, got)
	}
	f("1", 3)
	f("2500", 1026, 1026, 454)
	f("3000", 2)
	f("9999", 2)
}
