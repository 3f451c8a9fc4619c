package server

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"firn/commands"

	"github.com/stretchr/testify/require"
)

func TestMaxClients(t *testing.T) {
	s := serve(t, "--maxclients", "3")
	var in []*testClient
	for range 3 {
		c := s.dial()
		require.Equal(t, "+PONG", c.do("PING"))
		in = append(in, c)
	}
	require.Equal(t, "-ERR max number of clients reached\r\n", s.dial().closed())
	require.Equal(t, int64(1), s.stats.rejectedConns.Load())
	require.Equal(t, int64(3), s.stats.connections.Load())
	require.NoError(t, in[0].Close())
	eventually(t, func() bool { return s.clients.count.Load() == 2 }, "its place is not free")
	require.Equal(t, "+PONG", s.dial().do("PING"))
}

// L9
func TestMaxClientsAboveTheFileLimit(t *testing.T) {
	s := serve(t)
	denied := errors.New("denied")
	limit := func(have, most uint64) fileLimit {
		return fileLimit{
			get: func() (uint64, error) { return have, nil },
			set: func(n uint64) error {
				if n > most {
					return denied
				}
				return nil
			},
		}
	}
	fit := func(l fileLimit, want, got int, e error) {
		t.Helper()
		n, err := l.fit(want)
		require.Equal(t, got, n)
		require.Equal(t, e, err)
	}
	fit(limit(1024, 1024), 10_000, 1024-32, denied)
	fit(limit(1024, 4096), 10_000, 4096-32, denied)
	fit(limit(1024, 1<<20), 10_000, 10_000, nil)
	fit(limit(20_000, 0), 10_000, 10_000, nil)
	fit(limit(32, 32), 10_000, 0, denied)

	require.NoError(t, s.fitClients(limit(1024, 1024)))
	require.Equal(t, 992, s.config().MaxClients)
	require.True(t, s.logged("maxclients has been reduced to 992"))
	require.Error(t, s.fitClients(limit(10, 10)))
	require.Equal(t, 992, s.config().MaxClients)
	require.Equal(t, "+PONG", s.dial().do("PING"))
}

func TestIdleClientsAreClosed(t *testing.T) {
	s := serve(t, "--timeout", "1")
	idle, busy := s.dial(), s.dial()
	start := time.Now()
	require.Equal(t, "+PONG", idle.do("PING"))
	closed := make(chan string, 1)
	go func() { closed <- idle.closed() }()
	for {
		select {
		case rest := <-closed:
			require.Empty(t, rest)
			require.GreaterOrEqual(t, time.Since(start), time.Second)
			require.Equal(t, "+PONG", busy.do("PING"))
			return
		default:
			require.Equal(t, "+PONG", busy.do("PING"))
		}
	}
}

func TestProtectedMode(t *testing.T) {
	s := serve(t)
	require.Equal(t, commands.ErrProtected, s.admit(&peerInfo{}))
	require.NoError(t, s.admit(&peerInfo{local: true}))
	open := serve(t, "--protected-mode", "no")
	require.NoError(t, open.admit(&peerInfo{}))
	secret := serve(t, "--requirepass", "x")
	require.NoError(t, secret.admit(&peerInfo{}))
}

// What would go over the limit goes unanswered.
func TestHardOutputLimit(t *testing.T) {
	s := serve(t, "--client-output-buffer-limit", "normal 100000 0 0")
	c := s.dial()
	require.Equal(t, "+OK", c.do("SET k "+strings.Repeat("x", 10_000)))
	c.send("MGET" + strings.Repeat(" k", 15))
	require.Empty(t, c.closed())
	require.Equal(t, int64(1), s.stats.outputClosed.Load())
	require.True(t, s.logged("overcoming of output buffer limits"))
}

// A long reply counts in full, though it is sent as it is made.
func TestHardOutputLimitOfAStreamedReply(t *testing.T) {
	s := serve(t, "--client-output-buffer-limit", "normal 100000 0 0")
	c := s.dial()
	for i := range 1000 {
		require.Equal(t, "+OK", c.do("SET "+strconv.Itoa(i)+strings.Repeat("-", 120)+" v"))
	}
	c.send("KEYS *")
	require.Less(t, len(c.closed()), 120_000)
	require.Equal(t, int64(1), s.stats.outputClosed.Load())
}

func TestSoftOutputLimit(t *testing.T) {
	s := serve(t, "--client-output-buffer-limit", "normal 0 50000 1")
	c, slow := s.dial(), s.dial()
	require.Equal(t, "+OK", c.do("SET k "+strings.Repeat("x", 1<<20)))
	start := time.Now()
	slow.write(strings.Repeat(encode("GET k"), 30))
	eventually(t, func() bool { return s.stats.outputClosed.Load() == 1 }, "never cut off")
	require.GreaterOrEqual(t, time.Since(start), time.Second)
	require.Equal(t, "+PONG", c.do("PING"))
}

func TestQueryBufferLimit(t *testing.T) {
	s := serve(t, "--client-query-buffer-limit", "1mb")
	c := s.dial()
	_, _ = c.Write([]byte(encode("SET k " + strings.Repeat("x", 2<<20))))
	eventually(t, func() bool { return s.stats.queryBufferClosed.Load() == 1 }, "not closed")
	require.Equal(t, "$-1", s.dial().do("GET k"))
}

func TestKeepAlive(t *testing.T) {
	s := serve(t, "--tcp-keepalive", "77")
	c := s.dial()
	require.Equal(t, "+PONG", c.do("PING"))
	fd, err := strconv.Atoi(field(t, c.text("CLIENT INFO"), "fd"))
	require.NoError(t, err)
	require.Equal(t, 77, socketOption(t, fd, "idle"))
	require.Equal(t, 1, socketOption(t, fd, "on"))
	require.Equal(t, 1, socketOption(t, fd, "nodelay"))
}

func TestUnixSocket(t *testing.T) {
	path := socketPath(t)
	s := serveWith(t, "--port", "0", "--unixsocket", path, "--unixsocketperm", "700", "--save", "")
	nc, err := net.Dial("unix", path)
	require.NoError(t, err)
	c := client(t, nc)
	info := c.text("CLIENT INFO")
	require.Equal(t, path+":0", field(t, info, "addr"))
	require.Equal(t, path+":0", field(t, info, "laddr"))
	require.Equal(t, "U", field(t, info, "flags"))
	require.Equal(t, "srwx------", fileMode(t, path))
	require.Len(t, s.Addrs(), 1)
	require.Equal(t, "+OK", c.do("CLIENT KILL "+path+":0"))
	require.Empty(t, c.closed())
}
