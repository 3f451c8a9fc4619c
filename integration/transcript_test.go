package integration

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

// startTimeout is how long the server may take until it accepts connections.
const startTimeout = 10 * time.Second

// TestTranscripts runs the corpus over TCP on the built server, a new one for
// each file. Files whose clock must be moved are left to package commands.
func TestTranscripts(t *testing.T) {
	firn := buildFirn(t)
	paths, err := filepath.Glob("../commands/testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		if strings.HasSuffix(name, "_clock") {
			continue
		}
		t.Run(name, func(t *testing.T) { playOn(t, path, startFirn(t, firn)) })
	}
}

func playOn(t *testing.T, path string, addr string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := transcript.Parse(path, text)
	require.NoError(t, err)
	r := &transcript.Remote{Dial: func() (io.ReadWriteCloser, error) { return dial(addr) }}
	defer r.Close()
	err = f.Play(r, func(s *transcript.Step, _ []byte, v transcript.Reply) error {
		if err := s.Compare(v); err != nil {
			t.Errorf("%s:%d:\n%v", path, s.Line, err)
		}
		return nil
	})
	require.NoError(t, err)
}

// dial gives a connection on which nobody waits for ever.
func dial(addr string) (net.Conn, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(time.Now().Add(time.Minute))
}

// buildFirn builds the program, or skips the test while there is none.
func buildFirn(t *testing.T) string {
	if _, err := os.Stat("../main.go"); err != nil {
		t.Skip("there is no main.go yet")
	}
	program := filepath.Join(t.TempDir(), "firn")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// startFirn runs the program until the test ends, which must end it well, and
// returns its address.
func startFirn(t *testing.T, program string, options ...string) string {
	addr := freeAddr(t)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	cmd := exec.Command(program, append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir()}, options...)...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		err := cmd.Wait()
		if t.Failed() || err != nil {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the server's log:\n%s", text)
		}
		_ = log.Close()
		require.NoError(t, err, "the server did not end well")
	})
	awaitPort(t, addr)
	return addr
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}
