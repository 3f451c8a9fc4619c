package mvcc

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random tests; 0: a new one each")

// newRand returns the random source of a test; its seed is printed if the test
// fails, and -seed replays it.
func newRand(t testing.TB) (*rand.Rand, uint64) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with -seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1)), seed
}

func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // which has goroutines of its own
	if code == 0 && !fuzzing && leaked(before) {
		code = 1
	}
	os.Exit(code)
}

// leaked says whether goroutines are left after the tests, and which.
func leaked(before int) bool {
	for end := time.Now().Add(2 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(end) {
			fmt.Fprintln(os.Stderr, "goroutines are left after the tests:")
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			return true
		}
		runtime.Gosched()
	}
	return false
}

// newSpace returns a space whose positions have that many bits, so that with
// few of them many keys stand at one position; its structure and its pins are
// checked when the test ends.
func newSpace(t testing.TB, stores, databases, bits int, seed uint64) *Space {
	h := Seed{seed, 7}.Hasher()
	s := NewSpace(stores, databases, func(k []byte) uint64 { return h(k) >> (64 - bits) << (64 - bits) })
	t.Cleanup(func() {
		require.NoError(t, s.Check())
		require.Zero(t, s.Pins())
	})
	return s
}
