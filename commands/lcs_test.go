package commands

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// slowRanges is LCS with the full table, for ties the way Redis breaks them: up
// if the cell above is longer, else to the left.
func slowRanges(a, b string) (length int, all []lcsRange) {
	t := make([][]int, len(a)+1)
	t[0] = make([]int, len(b)+1)
	for i := range a {
		t[i+1] = make([]int, len(b)+1)
		for j := range b {
			t[i+1][j+1] = max(t[i][j+1], t[i+1][j])
			if a[i] == b[j] {
				t[i+1][j+1] = t[i][j] + 1
			}
		}
	}
	for i, j := len(a), len(b); i > 0 && j > 0; {
		n := 0
		for i-n > 0 && j-n > 0 && a[i-n-1] == b[j-n-1] {
			n++
		}
		switch {
		case n > 0:
			i, j = i-n, j-n
			all = append(all, lcsRange{i, j, n})
		case t[i-1][j] > t[i][j-1]:
			i--
		default:
			j--
		}
	}
	return t[len(a)][len(b)], all
}

func TestLCSAgainstFullTable(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	word := func() string {
		b := make([]byte, rng.IntN(300))
		for i := range b {
			b[i] = "abcd"[rng.IntN(4)]
		}
		return string(b)
	}
	for range 200 {
		a, b := word(), word()
		table := lcsTable{a: []byte(a), b: []byte(b)}
		table.fill(nil, true)
		length, ranges := slowRanges(a, b)
		require.Equal(t, length, table.length(), "%q %q", a, b)
		require.Equal(t, ranges, table.ranges(0), "%q %q", a, b)
		var s strings.Builder
		for i := len(ranges) - 1; i >= 0; i-- {
			s.WriteString(a[ranges[i].a:][:ranges[i].size])
		}
		require.Equal(t, s.String(), string(table.subsequence()))
	}
}

// The limits count what Redis' table would take, not ours.
func TestLCSLimits(t *testing.T) {
	r := newStringRig()
	r.do("SET a " + strings.Repeat("x", 99))
	r.do("SET b " + strings.Repeat("y", 99))
	r.c.MaxBulk = 100 * 100 * 4
	require.Equal(t, ":0", r.do("LCS a b LEN"))
	r.c.MaxBulk--
	require.Equal(t, "-"+string(ErrLCSMaxMemory), r.do("LCS a b LEN"))
	require.Equal(t, "-"+string(ErrLCSMaxMemory), r.do("LCS a b"))
	r.c.MaxBulk = 3
	require.Equal(t, "-"+string(ErrLCSMaxMemory), r.do("LCS no none"))
}

func TestLCSCostAndPause(t *testing.T) {
	r := newStringRig()
	r.do("SET a " + strings.Repeat("xyz", 3000))
	r.do("SET b " + strings.Repeat("zyx", 3000))
	r.do("LCS a b LEN")
	want := string(r.c.Out.Bytes())
	require.Equal(t, 9000*141/lcsUnitWords+18000/lcsUnitBytes, r.c.Row.Cost(&r.c, &r.tx.View))
	pauses := 0
	r.c.Pause = func() { pauses++ }
	r.c.Out.Reset()
	require.NoError(t, RunView(&r.c, &r.tx.View))
	require.Equal(t, want, string(r.c.Out.Bytes()))
	require.InDelta(t, 9000*141/lcsPause, pauses, 1)
}

func BenchmarkLCS(b *testing.B) {
	r := newStringRig()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, key := range []string{"a", "b"} {
		var s strings.Builder
		for range 10_000 {
			fmt.Fprintf(&s, "%c", "acgt"[rng.IntN(4)])
		}
		r.do("SET " + key + " " + s.String())
	}
	r.bench(b, "LCS a b IDX")
}
