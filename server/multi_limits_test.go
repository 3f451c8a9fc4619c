package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTransactionWithoutMemory(t *testing.T) {
	s := serve(t)
	c, admin := s.dial(), s.dial()
	const oom = "-OOM command not allowed when used memory > 'maxmemory'."
	c.play("SET k 1 -> +OK\nMULTI -> +OK\nSET k 2 -> +QUEUED")
	other := s.dial()
	other.play("MULTI -> +OK\nGET k -> +QUEUED")
	third := s.dial()
	third.play("MULTI -> +OK")
	require.Equal(t, "+OK", admin.do("CONFIG SET maxmemory 1"))
	c.play("EXEC -> -EXECABORT Transaction discarded because of: " + oom[1:])
	other.play("EXEC -> *1 $1 1") // takes none
	third.play("GET k -> " + oom + "\nEXEC -> -EXECABORT Transaction discarded because of previous errors.")
	c.play("MULTI -> +OK\nPING -> " + oom + "\nDISCARD -> +OK")
	require.Equal(t, "+OK", admin.do("CONFIG SET maxmemory 0"))
	c.play("GET k -> $1 1")
}

func TestTransactionAndPause(t *testing.T) {
	s := serve(t)
	a, b, admin := s.dial(), s.dial(), s.dial()
	a.play("MULTI -> +OK\nSET k 1 -> +QUEUED")
	b.play("MULTI -> +OK\nGET k -> +QUEUED")
	require.Equal(t, "+OK", admin.do("CLIENT PAUSE 100000 WRITE"))
	a.send("EXEC")
	eventually(t, func() bool { return s.pause.length() == 1 }, "it does not wait")
	b.play("EXEC -> *1 $-1")
	require.Equal(t, "+OK", admin.do("CLIENT UNPAUSE"))
	require.Equal(t, "*1\r\n+OK", a.reply())
}

func TestTransactionInClientList(t *testing.T) {
	s := serve(t)
	c, admin := s.dial(), s.dial()
	line := func() string {
		for _, l := range strings.Split(admin.text("CLIENT LIST"), "\n") {
			if field(t, l, "cmd") != "client|list" {
				return l
			}
		}
		return ""
	}
	require.Equal(t, "+OK", c.do("MULTI"))
	require.Equal(t, "0", field(t, line(), "multi"))
	require.Equal(t, "x", field(t, line(), "flags"))
	require.Equal(t, "+QUEUED", c.do("SET key value"))
	require.Equal(t, "+QUEUED", c.do("GET key"))
	l := line()
	require.Equal(t, "2", field(t, l, "multi"))
	require.Equal(t, "17", field(t, l, "multi-mem"))
	require.Equal(t, "+QUEUED", c.do("SET key "+strings.Repeat("v", 1<<20)))
	require.Greater(t, s.clients.memory.Load(), int64(1<<20))
	require.Equal(t, "+OK", c.do("DISCARD"))
	require.Equal(t, "-1", field(t, line(), "multi"))
	require.Equal(t, "0", field(t, line(), "multi-mem"))
	require.Equal(t, "N", field(t, line(), "flags"))
}

// What is queued counts as what the client has sent and is not run.
func TestTransactionQueueIsLimited(t *testing.T) {
	s := serve(t, "--client-query-buffer-limit", "1mb")
	c := s.dial()
	require.Equal(t, "+OK", c.do("MULTI"))
	line := "SET key " + strings.Repeat("v", 100_000)
	n := 0
	for ; n < 20; n++ {
		c.send(line)
		if reply, err := readReply(c.r); err != nil || reply != "+QUEUED\r\n" {
			break
		}
	}
	require.LessOrEqual(t, n, 11)
	require.Greater(t, n, 5)
	eventually(t, func() bool { return s.stats.queryBufferClosed.Load() == 1 }, "the connection is open")
	require.Equal(t, "$-1", s.dial().do("GET key"))
}

func TestTransactionReplies(t *testing.T) {
	s := serve(t)
	c := s.dial()
	require.Equal(t, "%", c.do("HELLO 3")[:1])
	c.play("WATCH k -> +OK")
	s.dial().do("SET k 1")
	c.play("MULTI -> +OK\nGET k -> +QUEUED\nEXEC -> _")
	c.send("CLIENT REPLY SKIP", "MULTI", "SET k 2", "EXEC", "CLIENT REPLY OFF", "MULTI", "INCR k", "EXEC", "CLIENT REPLY ON", "GET k")
	require.Equal(t, "+QUEUED", c.reply())
	require.Equal(t, "*1\r\n+OK", c.reply())
	require.Equal(t, "+OK", c.reply())
	require.Equal(t, "$1\r\n3", c.reply())
}

// A queue counts for maxmemory-clients.
func TestTransactionQueueIsEvicted(t *testing.T) {
	s := serve(t, "--maxmemory-clients", "3mb")
	c, admin := s.dial(), s.dial()
	require.Equal(t, "+OK", admin.do("CLIENT NO-EVICT ON"))
	require.Equal(t, "+OK", c.do("MULTI"))
	line := "SET key " + strings.Repeat("v", 100_000)
	for range 20 {
		require.Equal(t, "+QUEUED", c.do(line))
	}
	for range 40 {
		c.send(line)
		if _, err := readReply(c.r); err != nil {
			break
		}
	}
	eventually(t, func() bool { return s.clients.evicted.Load() == 1 }, "it is not evicted")
	require.Equal(t, "$-1", admin.do("GET key"))
}
