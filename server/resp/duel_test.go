package resp

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startRedis starts the redis-server named by REDIS_SERVER or found in PATH, and returns the socket it listens on.
func startRedis(t *testing.T, options ...string) string {
	path := os.Getenv("REDIS_SERVER")
	if path == "" {
		var err error
		if path, err = exec.LookPath("redis-server"); err != nil {
			t.Skip("no redis-server: set REDIS_SERVER to run the duel")
		}
	}
	dir, err := os.MkdirTemp("", "duel") // t.TempDir is too long for the name of a socket
	require.NoError(t, err)
	socket := filepath.Join(dir, "s")
	options = append([]string{"--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir}, options...)
	cmd := exec.Command(path, options...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 10*time.Second, 5*time.Millisecond)
	return socket
}

// redisLastLine sends an input that Redis refuses, and returns the last line of the reply. Redis closes without reading
// the rest of the input, so both the write and the end of the reply may be a reset.
func redisLastLine(t *testing.T, socket, input string) string {
	c, err := net.Dial("unix", socket)
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	_, _ = c.Write([]byte(input))
	reply, err := io.ReadAll(c)
	require.False(t, os.IsTimeout(err), "not refused: %.80q", input)
	lines := strings.Split(strings.TrimSuffix(string(reply), "\r\n"), "\r\n")
	return lines[len(lines)-1]
}

func TestDuelProtocolErrors(t *testing.T) {
	duel := func(socket string, lim *Limits, inputs ...string) {
		for _, input := range inputs {
			_, err := parse(input, lim)
			require.Error(t, err, "%.80q", input)
			require.Equal(t, redisLastLine(t, socket, input), "-ERR "+err.Error(), "%.80q", input)
		}
	}
	get := "*2\r\n$3\r\nGET\r\n"
	duel(startRedis(t), nil,
		"*2147483648\r\n", "*5500000000000000000\r\n", "*x\r\n", "*\r\n", "*01\r\n", "*+1\r\n", "*-0\r\n", "*1 \r\n", // H5
		get+"$-5\r\n", get+"$-1\r\n", get+"$600000000\r\n", get+"$536870913\r\n", // H6
		"*3\r\n$3\r\nSET\r\n$5\r\nmykey\r\n$\r\n1\r\nPING\r\n", // H7
		"*1\r\n\r\n", "*1\r\n\n\r\n", "*1\r\n:\r\n", "*1\r\n\xff\r\n", // H9
		strings.Repeat("x", 70_000), "SET k \"unb\r\n", "a 'b'c\r\n", // H11
		"*3\r\n$4\r\nSET\r\n$1\r\nA\r\n$1\r\nB\r\n", // H13
		"*"+strings.Repeat("1", 70_000), "*1\r\n"+strings.Repeat("$", 70_000), "\x00"+strings.Repeat("a\n", 40_000),
		"PING\x00\r\n"+strings.Repeat("a\n", 40_000), "*1\x00\r\n"+strings.Repeat("a\r\n", 40_000),
		"*0\r\n*-1\r\n\r\n*1\rX$4\r?PINGxx*-\r\n",
	)
	duel(startRedis(t, "--requirepass", "x"), &Limits{Unauthenticated: true}, // H1
		"*11\r\n", "*2\r\n$16385\r\n", "*2147483648\r\n", "*2\r\n$600000000\r\n")
}

// Random inline requests: ECHO shows a single word, and refuses any other number of them.
func TestDuelInlineWords(t *testing.T) {
	r := testRand(t)
	socket := startRedis(t)
	pieces := []string{`"`, `"`, `'`, `\`, `\"`, `\'`, `\x41`, `\xg1`, `\n`, `\q`, " ", "\t", "\v", "\f", "a", "bc", "\xff"}
	c, err := net.Dial("unix", socket)
	require.NoError(t, err)
	in := bufio.NewReader(c)
	balanced := 0
	for range 3_000 {
		line := ""
		for range r.IntN(9) {
			line += pieces[r.IntN(len(pieces))]
		}
		words, err := SplitArgs([]byte("ECHO " + line))
		if err != nil {
			require.Equal(t, "-ERR "+err.Error(), redisLastLine(t, socket, "ECHO "+line+"\r\n"), "%q", line)
			continue
		}
		balanced++
		_, err = c.Write([]byte("ECHO " + line + "\r\n"))
		require.NoError(t, err)
		head, err := in.ReadString('\n')
		require.NoError(t, err)
		if len(words) != 2 {
			require.Equal(t, "-ERR wrong number of arguments for 'echo' command\r\n", head, "%q gives %q", line, words)
			continue
		}
		body := make([]byte, len(words[1])+2)
		_, err = io.ReadFull(in, body)
		require.NoError(t, err)
		require.Equal(t, string(words[1])+"\r\n", string(body), "%q, whose length is %s", line, head)
	}
	require.NoError(t, c.Close())
	require.Greater(t, balanced, 500)
}
