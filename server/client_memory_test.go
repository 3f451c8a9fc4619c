package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The client with the largest buffer goes, and no more than have to.
func TestClientEviction(t *testing.T) {
	s := serve(t, "--maxmemory-clients", "1mb")
	small, kept, big := s.dial(), s.dial(), s.dial()
	require.Equal(t, "+PONG", small.do("PING"))
	require.Equal(t, "+OK", kept.do("CLIENT NO-EVICT on"))
	unfinished := "*2\r\n$4\r\nECHO\r\n$700000\r\n" + strings.Repeat("x", 600_000)
	kept.write(unfinished)
	eventually(t, func() bool { return s.clients.memory.Load() > 600_000 }, "not counted")
	big.write(unfinished)
	require.Empty(t, big.closed())
	require.Equal(t, "+PONG", small.do("PING"))
	require.Equal(t, int64(1), s.clients.evicted.Load())
	require.True(t, s.logged("Evicting client"))
	kept.write(strings.Repeat("x", 100_000) + "\r\n")
	require.Equal(t, "$700000\r\n"+strings.Repeat("x", 700_000), kept.reply())
}

// Replies that share the memory of a value count here, as it lives for them.
func TestEvictionOfClientsThatDoNotRead(t *testing.T) {
	s := serve(t, "--maxmemory-clients", "4mb")
	small := s.dial()
	require.Equal(t, "+OK", small.do("CLIENT NO-EVICT on"))
	require.Equal(t, "+OK", small.do("SET k "+strings.Repeat("x", 3<<20)))
	for range 3 {
		s.dial().send("GET k")
	}
	eventually(t, func() bool { return s.clients.evicted.Load() > 0 }, "nobody is evicted")
	require.Equal(t, "+PONG", small.do("PING"))
	eventually(t, func() bool { return s.clients.held.Load() <= 4<<20 }, "too much stays held")
}

func TestClientsOverTheLimitThatMayStay(t *testing.T) {
	s := serve(t, "--maxmemory-clients", "128kb")
	c := s.dial()
	require.Equal(t, "+OK", c.do("CLIENT NO-EVICT on"))
	require.Equal(t, "$500000\r\n"+strings.Repeat("x", 500_000), c.do("ECHO "+strings.Repeat("x", 500_000)))
	require.Equal(t, "+PONG", c.do("PING"))
	require.Zero(t, s.clients.evicted.Load())
}
