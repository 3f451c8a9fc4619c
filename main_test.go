package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPortOf: a health check finds the port that the container's server has.
func TestPortOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "firn.conf")
	require.NoError(t, os.WriteFile(file, []byte("port 7001\n"), 0o600))
	f := func(want string, words ...string) {
		t.Helper()
		require.Equal(t, want, portOf(strings.Join(words, "\x00")+"\x00"))
	}
	f("6379", "/sbin/init")
	f("6379", "firn")
	f("7000", "firn", "--port", "7000", "--maxmemory", "1gb")
	f("7000", "/usr/local/bin/redis-server", "--port", "7000")
	f("7001", "firn", file)
	f("7002", "firn", file, "--port", "7002")
	f("6379", "firn", "--port", "0")
	f("6379", "firn", "--nonsense", "1")
	t.Setenv("FIRN_EXTRA_FLAGS", "--port 7003")
	f("7003", "firn", file)
}

// TestHealthcheck: a server that asks for a password is as healthy as one that
// doesn't; one that says something else, or nothing, isn't.
func TestHealthcheck(t *testing.T) {
	f := func(want int, reply string) {
		t.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			if c, err := l.Accept(); err == nil {
				_, _ = c.Read(make([]byte, 64))
				_, _ = c.Write([]byte(reply))
				c.Close()
			}
		}()
		port := l.Addr().(*net.TCPAddr).Port
		require.Equal(t, want, healthcheck([]string{strconv.Itoa(port)}), "%q", reply)
		<-done
		l.Close()
		require.Equal(t, 1, healthcheck([]string{strconv.Itoa(port)}), "nobody listens")
	}
	f(0, "+PONG\r\n")
	f(0, "-NOAUTH Authentication required.\r\n")
	f(1, "-LOADING Redis is loading the dataset in memory\r\n")
	f(1, "HTTP/1.1 400 Bad Request\r\n")
	f(1, "")
}
