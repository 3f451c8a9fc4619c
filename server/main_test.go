package server

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails if goroutines of a server are left over at the end.
func TestMain(m *testing.M) {
	code := m.Run()
	// With the tag invariants a version of many keys is summed up once more
	// when it is released, which takes its time under the race detector.
	if left := leaked(time.Minute); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines left over:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leaked waits for the goroutines that run code of this module to end, and
// returns the stacks of those that don't.
func leaked(patience time.Duration) string {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		var left []string
		buf := make([]byte, 1<<20)
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "firn/") && !strings.Contains(g, "server.TestMain") {
				left = append(left, g)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
	}
}
