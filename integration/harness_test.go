package integration

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random tests; 0: a new one each")

// startTimeout is how long the server may take until it accepts connections.
const startTimeout = 10 * time.Second

// TestMain removes the built servers and fails if goroutines are left.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	builds.remove()
	if left := leaked(5 * time.Second); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines left over:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leaked waits for the goroutines of these tests to end, and returns the stacks
// of those that don't.
func leaked(patience time.Duration) string {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		buf := make([]byte, 1<<20)
		all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		left := slices.DeleteFunc(all, func(g string) bool {
			return !strings.Contains(g, "firn/") || strings.Contains(g, "integration.TestMain")
		})
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
	}
}

// testSeed returns the seed of a random test, and prints it.
func testSeed(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with: go test ./integration -run '^%s$' -seed %d", t.Name(), seed)
	return seed
}

// newRand returns source n of a seed.
func newRand(seed uint64, n int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(n))) }

// budget is how long a test of whole histories goes on when it finds nothing:
// the time given, or that of the environment (nightly: an hour).
func budget(t *testing.T, usual time.Duration) time.Duration {
	s := os.Getenv("FIRN_TEST_TIME")
	if s == "" {
		return usual
	}
	d, err := time.ParseDuration(s)
	require.NoError(t, err, "FIRN_TEST_TIME")
	return d
}

// builds keeps the programs that were built, so that each is built once.
var builds = &buildCache{programs: map[string]string{}}

type buildCache struct {
	mu       sync.Mutex
	dir      string
	programs map[string]string // by the flags of go build
}

func (b *buildCache) get(flags []string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := strings.Join(flags, " ")
	if p := b.programs[name]; p != "" {
		return p, nil
	}
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "firn-integration-")
		if err != nil {
			return "", err
		}
		b.dir = dir
	}
	program := filepath.Join(b.dir, fmt.Sprint("firn-", len(b.programs)))
	build := exec.Command("go", append(append([]string{"build"}, flags...), "-o", program, ".")...)
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", name, err, out)
	}
	b.programs[name] = program
	return program, nil
}

func (b *buildCache) remove() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir != "" {
		_ = os.RemoveAll(b.dir)
	}
}

// buildFirn returns the built program; FIRN_RACE=1 builds it with -race.
func buildFirn(t *testing.T, tags ...string) string {
	var flags []string
	if len(tags) > 0 {
		flags = append(flags, "-tags", strings.Join(tags, ","))
	}
	if os.Getenv("FIRN_RACE") != "" {
		flags = append(flags, "-race")
	}
	program, err := builds.get(flags)
	require.NoError(t, err)
	return program
}

// startFirn runs the program until the test ends, which must end it well, and
// returns its address.
func startFirn(t *testing.T, program string, options ...string) string {
	return startWith(t, program, nil, options...)
}

// faulty runs a server of the tag fault that makes the named mistake; "" is
// none.
func faulty(t *testing.T, fault string, options ...string) string {
	return startWith(t, buildFirn(t, "fault"), []string{"FIRN_FAULT=" + fault}, options...)
}

// faultyAside is faulty with every command that has a cost running aside.
func faultyAside(t *testing.T, fault string, options ...string) string {
	return startWith(t, buildFirn(t, "fault"), []string{"FIRN_FAULT=" + fault, "FIRN_ASIDE=all"}, options...)
}

// startWith runs the program with more environment.
func startWith(t *testing.T, program string, env []string, options ...string) string {
	addr := freeAddr(t)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	cmd := exec.Command(program, append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir()}, options...)...)
	cmd.Env = append(os.Environ(), env...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { endFirn(t, cmd, log) })
	awaitPort(t, addr)
	return addr
}

func endFirn(t *testing.T, cmd *exec.Cmd, log *os.File) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	err := cmd.Wait()
	if t.Failed() || err != nil {
		text, _ := os.ReadFile(log.Name())
		t.Logf("the server's log:\n%s", text)
	}
	_ = log.Close()
	require.NoError(t, err, "the server did not end well")
}

// awaitPort tries until somebody listens.
func awaitPort(t *testing.T, addr string) {
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	}, startTimeout, 5*time.Millisecond)
}

func freeAddr(t *testing.T) string {
	addr, err := transcript.FreeAddr()
	require.NoError(t, err)
	return addr
}

// dial gives a connection on which nobody waits for ever.
func dial(addr string) (net.Conn, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(time.Now().Add(time.Minute))
}

// together runs f(0) to f(n-1) at once and returns all their errors.
func together(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// requireAtRest wants nothing frozen, running or waiting when all clients are
// gone.
func requireAtRest(t *testing.T, addr string) {
	w, err := openWire(addr, 0)
	require.NoError(t, err)
	defer w.Close()
	last := ""
	require.Eventually(t, func() bool {
		last, err = w.do("INFO", "mvcc")
		return err == nil && !slices.ContainsFunc([]string{
			"mvcc_cuts_open", "mvcc_versions_open", "mvcc_pinned_bytes", "mvcc_heavy_running", "mvcc_heavy_waiting",
		}, func(name string) bool { return !strings.Contains(last, `\n`+name+`:0\r`) })
	}, 5*time.Second, 10*time.Millisecond, "INFO: %v %v", &last, &err)
}
