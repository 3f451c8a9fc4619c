package server

import (
	"fmt"
	"strings"
	"testing"

	"firn/shard"

	"github.com/stretchr/testify/require"
)

func idOf(t *testing.T, c *testClient) string {
	t.Helper()
	return strings.TrimPrefix(c.do("CLIENT ID"), ":")
}

func TestClientUnblock(t *testing.T) {
	s := serve(t)
	a := s.dial()
	for _, line := range []string{"BLPOP k j 0", "BZPOPMIN k 0", "BLMOVE k j LEFT LEFT 0", "XREAD BLOCK 0 STREAMS k $"} {
		c := s.dial()
		id := idOf(t, c)
		require.Equal(t, ":0", a.do("CLIENT UNBLOCK "+id))
		s.blockAt(c, line)
		require.Contains(t, lineWith(a.text("CLIENT LIST"), "id="+id+" "), " flags=b ")
		require.Equal(t, ":1", a.do("CLIENT UNBLOCK "+id+" TIMEOUT"))
		require.Equal(t, ":0", a.do("CLIENT UNBLOCK "+id))
		require.Equal(t, "*-1", c.reply())
		s.blockAt(c, line)
		require.Equal(t, ":1", a.do("CLIENT UNBLOCK "+id+" error"))
		require.Equal(t, "-UNBLOCKED client unblocked via CLIENT UNBLOCK", c.reply())
		require.NotContains(t, lineWith(a.text("CLIENT LIST"), "id="+id+" "), " flags=b ")
	}
	require.Equal(t, "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR", a.do("CLIENT UNBLOCK x y"))
	require.Equal(t, "-ERR value is not an integer or out of range", a.do("CLIENT UNBLOCK x"))
	require.Equal(t, "2", statOf(a.text("INFO commandstats"), "blpop", "failed_calls"))
	require.Contains(t, a.text("INFO errorstats"), "errorstat_UNBLOCKED:count=4")
	require.Equal(t, ":1", a.do("RPUSH k x"), "nobody is left")
	require.Equal(t, ":1", a.do("EXISTS k"))
}

// What comes after a client has left is not lost, however it left.
func TestLeavingWhileBlocked(t *testing.T) {
	for _, loops := range []string{"1", "2"} {
		s := serve(t, "--event-loops", loops)
		a := s.dial()
		leave := map[string]func(c *testClient, id string){
			"close": func(c *testClient, _ string) { c.Close() },
			"half":  func(c *testClient, _ string) { require.NoError(t, halfClose(c)) },
			"kill":  func(c *testClient, id string) { require.Equal(t, ":1", a.do("CLIENT KILL ID "+id)) },
			"talk":  func(c *testClient, _ string) { c.send("PING"); c.Close() },
		}
		for how, f := range leave {
			c := s.dial()
			id := idOf(t, c)
			s.blockAt(c, "BLPOP k j 0")
			f(c, id)
			s.awaitBlocked(0)
			require.Equal(t, ":1", a.do("RPUSH k x"), how)
			require.Equal(t, ":1", a.do("EXISTS k"), how)
			a.all("DEL k")
		}
		s.noLines()
	}
}

func halfClose(c *testClient) error {
	return c.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

// noLines waits until no key is marked any more.
func (s *testServer) noLines() {
	s.t.Helper()
	eventually(s.t, func() bool {
		h := s.shards.NewHold()
		h.WantAll()
		if h.Take(true) != nil {
			return false
		}
		defer h.Give()
		n := 0
		for _, st := range s.shards.Space.Stores {
			n += st.Marks()
		}
		return n == 0
	}, "keys are still marked")
}

// A shutdown does not wait for who waits.
func TestShutdownWithBlockedClients(t *testing.T) {
	s := serve(t)
	c := s.block("BLPOP k 0")
	s.block("BLPOP k 100000")
	s.Shutdown()
	require.Empty(t, c.closed())
}

// The idle timeout is not for those who wait. The commands behind one that waits
// come after it.
func TestBlockedAndIdle(t *testing.T) {
	s := serve(t, "--timeout", "1")
	idle := s.dial()
	c := s.dial()
	n := s.clients.blocked.all.Load()
	c.send("BLPOP k 0", "PING", "BLPOP k 0", "ECHO end")
	s.awaitBlocked(n + 1)
	require.Empty(t, idle.closed())
	a := s.dial()
	a.all("RPUSH k 1 2")
	require.Equal(t, words("k", "1"), c.reply())
	require.Equal(t, "+PONG", c.reply())
	require.Equal(t, words("k", "2"), c.reply())
	require.Equal(t, "$3\r\nend", c.reply())
}

// The effects of who was served stand right behind those of what they waited for.
func TestEffectsOfTheServed(t *testing.T) {
	s := serve(t)
	j := &journalLines{}
	s.shards.Subscribe(j)
	a := s.dial()
	f := func(push string, waits []string, want ...string) {
		t.Helper()
		for _, w := range waits {
			s.block(w)
		}
		j.take()
		a.all(strings.Split(push, "; ")...)
		var got []string
		for _, line := range j.take() {
			got = append(got, strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(line, "0 ["), `"`, ""), "]"))
		}
		require.Equal(t, want, got)
		a.all("FLUSHALL")
	}
	f("RPUSH k a b c", []string{"BLPOP k 0", "BLMOVE k d LEFT RIGHT 0", "BLMPOP 0 1 k RIGHT COUNT 5"},
		"RPUSH k a b c", "LPOP k", "LMOVE k d LEFT RIGHT", "rpop k 1")
	f("RPUSH k a b", []string{"BRPOPLPUSH k d 0", "BRPOP d 0"}, "RPUSH k a b", "RPOPLPUSH k d", "RPOP d")
	f("ZADD k 1 a 2 b 3 c", []string{"BZPOPMIN k 0", "BZPOPMAX k 0", "BZMPOP 0 1 k MIN COUNT 5"},
		"ZADD k 1 a 2 b 3 c", "ZPOPMIN k", "ZPOPMAX k", "ZPOPMIN k 1")
	f("XADD k 1-1 f v", []string{"XREAD BLOCK 0 STREAMS k $"}, "XADD k 1-1 f v")
}

var _ shard.Journal = (*journalLines)(nil)

// What is served is counted and shown as a command of its client, the wait is no
// part of it.
func TestStatsOfTheServed(t *testing.T) {
	s := serve(t)
	a := s.dial()
	a.all("CONFIG RESETSTAT", "CONFIG SET slowlog-log-slower-than 20000")
	c := s.block("BLPOP k 0")
	require.Equal(t, "1", statOf(a.text("INFO commandstats"), "blpop", "calls"))
	require.Equal(t, "*-1", a.do("BLPOP j 0.03")) // a wait that would be in the slow log
	a.all("RPUSH k x")
	require.Equal(t, words("k", "x"), c.reply())
	require.Equal(t, "2", statOf(a.text("INFO commandstats"), "blpop", "calls"))
	require.Equal(t, "0", statOf(a.text("INFO commandstats"), "blpop", "failed_calls"))
	require.NotContains(t, a.do("SLOWLOG GET"), "BLPOP")
	require.Contains(t, a.text("INFO stats"), "total_error_replies:0")
}

// A reply that is not wanted is kept back, and a client of RESP3 gets its null.
func TestRepliesOfTheServed(t *testing.T) {
	s := serve(t)
	a := s.dial()
	c := s.dial()
	c.all("HELLO 3")
	s.blockAt(c, "BZPOPMIN k 0")
	a.all("ZADD k 1.5 m")
	require.Equal(t, "*3\r\n$1\r\nk\r\n$1\r\nm\r\n,1.5", c.reply())
	require.Equal(t, "_", c.do("BLPOP k 0.01"))
	c.send("CLIENT REPLY SKIP", "BLPOP k 0", "PING")
	s.awaitBlocked(1)
	a.all("RPUSH k x")
	require.Equal(t, "+PONG", c.reply())
}

// More clients than a loop serves in one go get what is theirs, in order.
func TestManyAreServed(t *testing.T) {
	s := serve(t)
	a := s.dial()
	const n = 300
	var waiting []*testClient
	for range n {
		waiting = append(waiting, s.block("BLPOP k j 0"))
	}
	var push strings.Builder
	push.WriteString("RPUSH k")
	for i := range n + 1 {
		fmt.Fprintf(&push, " %d", i)
	}
	a.send(push.String(), "LLEN k")
	require.Equal(t, fmt.Sprintf(":%d", n+1), a.reply())
	require.Equal(t, ":1", a.reply(), "the one who pushed sees them served")
	for i, c := range waiting {
		require.Equal(t, words("k", fmt.Sprint(i)), c.reply())
	}
	s.noLines()
}

// A client may wait for many keys.
func TestWaitForManyKeys(t *testing.T) {
	s := serve(t)
	a := s.dial()
	var keys strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&keys, " key:%d", i)
	}
	for _, wake := range []string{"key:9999", "key:0", "key:5000"} {
		c := s.block("BLPOP" + keys.String() + " 0")
		a.all("RPUSH " + wake + " x")
		require.Equal(t, words(wake, "x"), c.reply())
		s.noLines()
	}
}

// Commands of so many keys run aside, where nobody can wait; then they wait after
// all.
func TestWaitAfterRunningAside(t *testing.T) {
	s := serve(t)
	a := s.dial()
	var keys, ids strings.Builder
	for i := range 2 * argsFrom {
		fmt.Fprintf(&keys, " key:%d", i)
		ids.WriteString(" $")
	}
	c := s.block(fmt.Sprintf("BLMPOP 0 %d%s LEFT", 2*argsFrom, keys.String()))
	a.all("RPUSH key:7 x")
	require.Equal(t, "*2\r\n$5\r\nkey:7\r\n*1\r\n$1\r\nx", c.reply())
	c = s.block(fmt.Sprintf("BZMPOP 0 %d%s MIN", 2*argsFrom, keys.String()))
	a.all("ZADD key:8 1 x")
	require.Contains(t, c.reply(), "key:8")
	c = s.block("XREAD BLOCK 0 STREAMS" + keys.String() + ids.String())
	a.all("XADD key:9 1-1 f v")
	require.Contains(t, c.reply(), "key:9")
	s.noLines()
}

// A client with a home of its own is missed as soon as it has left, and what it
// sent while it waited is not lost.
func TestBlockedOverTLS(t *testing.T) {
	cert := newCertificate(t)
	s := serveTLS(t, cert)
	a := s.dialTLS(cert)
	c := s.dialTLS(cert)
	s.blockAt(c, "BLPOP k 0")
	require.NoError(t, c.Close())
	s.awaitBlocked(0)
	a.all("RPUSH k x")
	require.Equal(t, ":1", a.do("LLEN k"))
	a.all("DEL k")

	c = s.dialTLS(cert)
	for _, long := range []int{1, 3000, 50_000} { // of these bytes not all are read ahead
		text := strings.Repeat("x", long)
		s.blockAt(c, "BLPOP k 0")
		c.send("ECHO "+text, "PING", "BLPOP k 0", "ECHO end")
		a.all("RPUSH k 1")
		require.Equal(t, words("k", "1"), c.reply())
		require.Equal(t, fmt.Sprintf("$%d\r\n%s", long, text), c.reply())
		require.Equal(t, "+PONG", c.reply())
		s.awaitBlocked(1)
		require.Equal(t, "*-1", a.do("BLPOP j 0.01"))
		a.all("RPUSH k 2")
		require.Equal(t, words("k", "2"), c.reply())
		require.Equal(t, "$3\r\nend", c.reply())
	}
	s.noLines()
}

// A client that waits for long keeps no buffers.
func TestBlockedClientsKeepNoBuffers(t *testing.T) {
	s := serve(t)
	a := s.dial()
	a.all("XGROUP CREATE st g $ MKSTREAM")
	lines := map[string]string{
		"BLPOP k j 0": "RPUSH j x", "BLMOVE src k LEFT LEFT 0": "RPUSH src x", "BZPOPMIN z 0": "ZADD z 1 x", "BLMPOP 0 2 a b LEFT": "RPUSH b x",
		"XREADGROUP GROUP g me BLOCK 0 STREAMS st >": "XADD st 1-1 f x", "XREAD BLOCK 0 STREAMS s1 s2 s1 $ $ $": "XADD s2 1-1 f x",
	}
	clients := map[string]*testClient{}
	for line := range lines {
		clients[line] = s.block(line)
	}
	eventually(t, func() bool {
		for _, other := range s.clients.sessions() {
			if other.info.blocked.Load() != nil && other.info.qcap.Load() > 0 {
				return false
			}
		}
		return true
	}, "a buffer is kept")
	for line, push := range lines {
		a.all(push)
		require.Contains(t, clients[line].reply(), "$1\r\nx", line)
		require.Equal(t, "+PONG", clients[line].do("PING"))
	}
	s.noLines()
}
