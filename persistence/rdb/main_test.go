package rdb

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random tests; 0: a new one each")

// newRand returns the random source of a test; its seed is printed if the test
// fails, and -seed replays it.
func newRand(t testing.TB) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with -seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}
