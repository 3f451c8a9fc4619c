package server

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Who is served has the reply before who pushed: a client library may act on
// either as soon as it is there (bullmq counts on it).
func TestServedFirst(t *testing.T) {
	s := serve(t, "--server-threads", "1")
	pusher := s.dial()
	for range 200 {
		waiter := s.block("BLPOP k 0")
		require.Equal(t, ":1", pusher.do("RPUSH k v"))
		require.True(t, waiter.arrived(), "the pusher was told first")
		require.Equal(t, words("k", "v"), waiter.reply())
		require.NoError(t, waiter.Close())
	}
}

// arrived says whether a part of a reply is there.
func (c *testClient) arrived() (yes bool) {
	raw, err := c.Conn.(*net.TCPConn).SyscallConn()
	require.NoError(c.t, err)
	require.NoError(c.t, raw.Control(func(fd uintptr) {
		n, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		yes = err == nil && n > 0
	}))
	return yes
}
