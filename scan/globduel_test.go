package scan

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// redisConn is the least of a client that the duel needs: command in, array of bulk strings out.
type redisConn struct {
	t *testing.T
	w io.Writer
	r *bufio.Reader
}

// startRedis starts the redis-server named by REDIS_SERVER or found in PATH on a socket of its own.
func startRedis(t *testing.T) *redisConn {
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
	cmd := exec.Command(path, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", dir)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	var conn net.Conn
	require.Eventually(t, func() bool {
		conn, err = net.Dial("unix", socket)
		return err == nil
	}, 10*time.Second, 5*time.Millisecond)
	t.Cleanup(func() { _ = conn.Close() })
	return &redisConn{t, conn, bufio.NewReader(conn)}
}

func (c *redisConn) send(args ...string) {
	buf := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		buf = fmt.Appendf(buf, "$%d\r\n%s\r\n", len(a), a)
	}
	_, err := c.w.Write(buf)
	require.NoError(c.t, err)
}

// header reads a line such as `*3` or `$5` and returns its number.
func (c *redisConn) header(kind byte) int {
	line, err := c.r.ReadString('\n')
	require.NoError(c.t, err)
	require.Equal(c.t, string(kind), line[:1], line)
	n, err := strconv.Atoi(line[1 : len(line)-2])
	require.NoError(c.t, err)
	return n
}

func (c *redisConn) array() []string {
	out := make([]string, c.header('*'))
	for i := range out {
		b := make([]byte, c.header('$')+2)
		_, err := io.ReadFull(c.r, b)
		require.NoError(c.t, err)
		out[i] = string(b[:len(b)-2])
	}
	return out
}

// The keys that KEYS finds are the keys we match, for random patterns, the empty key and bytes above 127 included.
func TestGlobDuelKeys(t *testing.T) {
	r := testRand(t)
	c := startRedis(t)
	keys := []string{""}
	for len(keys) < 60 {
		keys = append(keys, string(randomBytes(r, patternBytes, 4)))
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for _, k := range keys {
		c.send("SETEX", k, "1000", "x")
		_, err := c.r.ReadString('\n')
		require.NoError(t, err)
	}
	for range 20_000 {
		p := randomBytes(r, patternBytes, 7)
		g := Compile(p)
		var want []string
		for _, k := range keys {
			if g.All() || g.MatchString(k) {
				want = append(want, k)
			}
		}
		c.send("KEYS", string(p))
		got := c.array()
		slices.Sort(got)
		require.Equal(t, want, append([]string(nil), got...), "KEYS %q", p)
	}
}

// CONFIG GET ignores case; its names are the strings, so the patterns are pieces of names made odd.
func TestGlobDuelConfigGet(t *testing.T) {
	r := testRand(t)
	c := startRedis(t)
	names := func(pattern string) []string {
		c.send("CONFIG", "GET", pattern)
		var out []string
		for i, s := range c.array() {
			if i%2 == 0 {
				out = append(out, s)
			}
		}
		slices.Sort(out)
		return out
	}
	all := names("*")
	require.Greater(t, len(all), 100)
	for range 3_000 {
		p := slices.Concat([]byte("*"), randomBytes(r, "eEsSt-[]^\\?*\x80\xff", 6), []byte("*"))
		g := CompileFold(p)
		var want []string
		for _, name := range all {
			if g.MatchString(name) {
				want = append(want, name)
			}
		}
		require.Equal(t, want, names(string(p)), "CONFIG GET %q", p)
	}
}
