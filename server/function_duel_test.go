package server

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// redisServer runs the reference, or skips the test.
func redisServer(t *testing.T, options ...string) *testClient {
	program := os.Getenv("REDIS_SERVER")
	if program == "" {
		program = "redis-server"
	}
	version, err := exec.Command(program, "--version").Output()
	if err != nil || !strings.Contains(string(version), "v=7.0.15") {
		t.Skipf("no reference to compare with: %s, %v", version, err)
	}
	port := strconv.Itoa(freePort(t))
	cmd := exec.Command(program, append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", ""}, options...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "Ready to accept") {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	nc, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
	require.NoError(t, err)
	return client(t, nc)
}

// corpus returns the lines of a file that are commands.
func corpus(t *testing.T, name string) (lines []string) {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// The commands about functions answer what those of the reference do.
func TestFunctionsAnswerAsTheReference(t *testing.T) {
	reference := redisServer(t)
	c := serve(t).dial()
	for _, name := range []string{"functions", "fcall"} {
		require.Equal(t, "+OK", c.do("FUNCTION FLUSH"))
		require.Equal(t, "+OK", reference.do("FUNCTION FLUSH"))
		for _, line := range corpus(t, "testdata/"+name+".txt") {
			want, got := reference.do(line), c.do(line)
			if !strings.HasPrefix(line, "HELLO") && want != got {
				t.Errorf("%s\nwant %q\ngot  %q", line, want, got)
			}
		}
	}
}

// What one dumps the other restores.
func TestDumpedFunctionsGoBothWays(t *testing.T) {
	reference := redisServer(t)
	c := serve(t).dial()
	code := `#!lua name=lib` + "\n" + `redis.register_function('f', function(keys, args) return 'a text that is long, long, long, long, long enough to be packed' end)`
	load := "FUNCTION LOAD " + strconv.Quote(code)
	for _, from := range []*testClient{reference, c} {
		to := c
		if from == c {
			to = reference
		}
		require.Equal(t, "+OK", from.do("FUNCTION FLUSH"))
		require.Equal(t, "$3\r\nlib", from.do(load))
		_, payload, _ := strings.Cut(from.do("FUNCTION DUMP"), "\r\n")
		require.Equal(t, "+OK", to.do("FUNCTION RESTORE "+quoted(payload)+" FLUSH"))
		require.Equal(t, from.do("FUNCTION LIST WITHCODE"), to.do("FUNCTION LIST WITHCODE"))
	}
}

// quoted writes bytes as an argument of testClient.do.
func quoted(s string) string {
	const hex = "0123456789abcdef"
	b := []byte{'"'}
	for i := range len(s) {
		b = append(b, '\\', 'x', hex[s[i]>>4], hex[s[i]&15])
	}
	return string(append(b, '"'))
}
