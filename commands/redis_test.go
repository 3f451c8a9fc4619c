package commands

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

// findRedis returns the program of the reference, from REDIS_SERVER or PATH, or
// skips the test.
func findRedis(t *testing.T) string {
	program := os.Getenv("REDIS_SERVER")
	if program == "" {
		program = "redis-server"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("no reference to compare with: %v", err)
	}
	version, err := exec.Command(path, "--version").Output()
	require.NoError(t, err)
	if !strings.Contains(string(version), "v=7.0.15") {
		t.Skipf("not the reference: %s", version)
	}
	return path
}

// startRedis runs it on a free port, without persistence, until the test ends.
func startRedis(t *testing.T, program string, options ...string) *transcript.Remote {
	addr := freeAddr(t)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	cmd := exec.Command(program, append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(),
		"--save", "", "--appendonly", "no", "--enable-debug-command", "yes"}, options...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "Ready to accept") {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	r := &transcript.Remote{
		Dial: func() (io.ReadWriteCloser, error) {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				return nil, err
			}
			return conn, conn.SetDeadline(time.Now().Add(time.Minute))
		},
	}
	t.Cleanup(func() {
		_ = r.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return r
}

func freeAddr(t *testing.T) string {
	addr, err := transcript.FreeAddr()
	require.NoError(t, err)
	return addr
}
