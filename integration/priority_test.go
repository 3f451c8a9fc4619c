package integration

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLoopsComeFirst looks at the threads of a server: soon after its start all
// are nicer than the event loop's and the duties', which are as nice as the
// process was.
func TestLoopsComeFirst(t *testing.T) {
	addr := startFirn(t, buildFirn(t), "--event-loops", "1")
	w, err := openWire(addr, 0)
	require.NoError(t, err)
	defer w.Close()
	_, after, ok := strings.Cut(w.must(t, "INFO", "server"), "process_id:")
	require.True(t, ok)
	pid := after[:strings.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' })]
	own := niceOf(t, "/proc/self/stat")
	require.Eventually(t, func() bool {
		first := 0
		for _, n := range niceOfThreads(t, pid) {
			if n == own {
				first++
			}
			if n < own {
				return false
			}
		}
		return first == 2
	}, 10*time.Second, 20*time.Millisecond, "exactly two threads come first")
}

func niceOfThreads(t *testing.T, pid string) (all []int) {
	stats, err := filepath.Glob(filepath.Join("/proc", pid, "task", "*", "stat"))
	require.NoError(t, err)
	require.NotEmpty(t, stats)
	for _, s := range stats {
		all = append(all, niceOf(t, s))
	}
	return all
}

// niceOf reads a stat of proc(5); a thread that has ended counts as nice.
func niceOf(t *testing.T, stat string) int {
	b, err := os.ReadFile(stat)
	if err != nil {
		return 19
	}
	_, fields, ok := strings.Cut(string(b), ") ") // the name before it may hold anything
	require.True(t, ok)
	n, err := strconv.Atoi(strings.Fields(fields)[16])
	require.NoError(t, err)
	return n
}
