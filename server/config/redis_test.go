package config

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

// A redisServer is a real redis-server to compare with.
type redisServer struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

// startRedis runs redis-server 7.0.15, or skips the test where there is none.
func startRedis(t *testing.T) *redisServer {
	return startRedisWith(t, "")
}

// startRedisWith starts it with a file ("": none) and more options.
func startRedisWith(t *testing.T, file string, args ...string) *redisServer {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server in PATH")
	}
	version, err := exec.Command(path, "--version").Output()
	require.NoError(t, err)
	if !strings.Contains(string(version), "v=7.0.15") {
		t.Skipf("not the reference: %s", version)
	}
	port := freePort(t)
	args = append(slices.Clone(args), "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir())
	if file != "" {
		args = append([]string{file}, args...)
	}
	cmd := exec.Command(path, args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "Ready to accept") {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &redisServer{t, conn, bufio.NewReader(conn)}
}

func freePort(t *testing.T) string {
	addr, err := transcript.FreeAddr()
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	return port
}

// do sends one command and gives the strings of its reply; an error reply is one string with its '-'.
func (s *redisServer) do(words ...string) []string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	_, err := io.WriteString(s.conn, b.String())
	require.NoError(s.t, err)
	return s.reply()
}

func (s *redisServer) reply() []string {
	line, err := s.r.ReadString('\n')
	require.NoError(s.t, err)
	line = strings.TrimSuffix(line, "\r\n")
	if line[0] != '*' && line[0] != '$' {
		return []string{line}
	}
	n, err := strconv.Atoi(line[1:])
	require.NoError(s.t, err)
	if line[0] == '$' {
		value := make([]byte, n+2)
		_, err := io.ReadFull(s.r, value)
		require.NoError(s.t, err)
		return []string{string(value[:n])}
	}
	var all []string
	for range n {
		all = append(all, s.reply()...)
	}
	return all
}

// configGet gives CONFIG GET's pairs.
func (s *redisServer) configGet(patterns ...string) map[string]string {
	flat := s.do(append([]string{"CONFIG", "GET"}, patterns...)...)
	pairs := map[string]string{}
	for i := 0; i < len(flat); i += 2 {
		pairs[flat[i]] = flat[i+1]
	}
	return pairs
}
