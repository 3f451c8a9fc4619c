package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// events reads n notifications of a client that listens to all, as
// "event key".
func (c *testClient) events(n int) (all []string) {
	for range n {
		var channel, what string
		raw := c.reply()
		words := bulks(raw)
		require.Len(c.t, words, 4, raw)
		channel, what = words[2], words[3]
		all = append(all, channel+" "+what)
	}
	return all
}

// listener subscribes a client to everything, with these classes on.
func (s *testServer) listener(classes string) *testClient {
	require.Equal(s.t, "+OK", s.dial().do("CONFIG SET notify-keyspace-events "+classes))
	c := s.dial()
	require.Equal(s.t, changed("psubscribe", "*", 1), c.do("PSUBSCRIBE *"))
	return c
}

func TestEventsOfKeys(t *testing.T) {
	s := serve(t)
	c := s.dial()
	l := s.listener("KEA")
	c.do("SELECT 9")
	c.do("SET foo bar")
	c.do("LPUSH list a")
	c.do("DEL foo list missing")
	require.Equal(t, []string{
		"__keyspace@9__:foo set", "__keyevent@9__:set foo",
		"__keyspace@9__:list lpush", "__keyevent@9__:lpush list",
		"__keyspace@9__:foo del", "__keyevent@9__:del foo", "__keyspace@9__:list del", "__keyevent@9__:del list",
	}, l.events(8))
	l = s.listener("Kl")
	c.do("SET foo bar")
	c.do("RPUSH list a")
	require.Equal(t, []string{"__keyspace@9__:list rpush"}, l.events(1))
}

func TestEventsOfNewKeysAndMisses(t *testing.T) {
	s := serve(t)
	c := s.dial()
	l := s.listener("En$m")
	c.do("MSET a 1 b 2")
	c.do("SET a 2")
	c.do("RENAME a z")
	c.do("GET missing")
	c.do("SCAN 0") // A19 of the reports: it misses nothing
	c.do("EXISTS z missing")
	c.do("OBJECT ENCODING missing")
	c.do("RENAME z b")
	c.do("MOVE b 5")
	require.Equal(t, "+OK", s.dial().do("CONFIG SET notify-keyspace-events Ent"))
	c.do("XADD stream 1-1 a b")
	require.Equal(t, []string{
		"__keyevent@0__:new a", "__keyevent@0__:set a", "__keyevent@0__:new b", "__keyevent@0__:set b", "__keyevent@0__:set a",
		"__keyevent@0__:new z", "__keyevent@0__:keymiss missing", "__keyevent@0__:keymiss missing",
		"__keyevent@0__:new b", "__keyevent@5__:new b",
		"__keyevent@0__:new stream", "__keyevent@0__:xadd stream",
	}, l.events(12))
}

func TestEventsOfTransactions(t *testing.T) {
	s := serve(t)
	c := s.dial()
	l := s.listener("E$gn")
	c.do("MULTI")
	c.do("SET a 1")
	c.do("PUBLISH news x")
	c.do("DEL a")
	require.Equal(t, "*3\r\n+OK\r\n:1\r\n:1", c.do("EXEC"))
	require.Equal(t, []string{"__keyevent@0__:new a", "__keyevent@0__:set a", "news x", "__keyevent@0__:del a"}, l.events(4))
	c.do("MULTI")
	c.do("SUBSCRIBE news")
	c.do("SSUBSCRIBE news")
	require.Equal(t, "*2\r\n"+changed("subscribe", "news", 1)+"\r\n-ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client", c.do("EXEC"))
	require.Equal(t, ":2", s.dial().do("PUBLISH news y"))
	require.Equal(t, message("message", "news", "y"), c.reply())
}

// TestEventsOfExpiry: a key expires when somebody looks, whether to read or to
// write, or by itself.
func TestEventsOfExpiry(t *testing.T) {
	s := serve(t, "--enable-debug-command", "yes")
	c := s.dial()
	l := s.listener("Exg$m")
	require.Equal(t, "+OK", c.do("DEBUG SET-ACTIVE-EXPIRE 0"))
	c.do("SET a 1 PX 1")
	eventually(t, func() bool { return c.do("GET a") == "$-1" }, "the end of a")
	require.Equal(t, []string{"__keyevent@0__:set a", "__keyevent@0__:expire a", "__keyevent@0__:expired a", "__keyevent@0__:keymiss a"}, l.events(4))
	l = s.listener("Exs$")
	c.do("SET b 1 PX 1")
	require.Equal(t, []string{"__keyevent@0__:set b"}, l.events(1))
	eventually(t, func() bool { return c.do("SADD b 1") == ":1" }, "the end of b")
	require.Equal(t, []string{"__keyevent@0__:expired b", "__keyevent@0__:sadd b"}, l.events(2))
	c.do("SET c 1 PX 1")
	require.Equal(t, "+OK", c.do("DEBUG SET-ACTIVE-EXPIRE 1"))
	require.Equal(t, []string{"__keyevent@0__:set c", "__keyevent@0__:expired c"}, l.events(2))
}

func TestEventsOfEviction(t *testing.T) {
	s := serve(t)
	c := s.dial()
	l := s.listener("Ee")
	c.do("SET foo bar")
	c.do("CONFIG SET maxmemory 1 maxmemory-policy allkeys-lru")
	require.Equal(t, []string{"__keyevent@0__:evicted foo"}, l.events(1))
}

// TestEventsOfLongWrites: the command that waits for the long one's key tells of
// itself after it.
func TestEventsOfLongWrites(t *testing.T) {
	s := serve(t)
	c, d := s.dial(), s.dial()
	l := s.listener("Esg")
	line := "SADD set"
	for i := range 3000 {
		line += " m" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
	}
	c.send(line)
	c.send("SUNIONSTORE copy set set")
	require.Equal(t, ":3000", c.reply())
	require.Equal(t, ":1", d.do("DEL set"))
	c.reply()
	got := l.events(2)
	require.Equal(t, "__keyevent@0__:sadd set", got[0])
}

func TestNobodyListensToEvents(t *testing.T) {
	s := serve(t)
	require.Equal(t, "+OK", s.dial().do("CONFIG SET notify-keyspace-events KEA"))
	require.False(t, s.wantEvents())
	s.dial().do("SUBSCRIBE x")
	require.True(t, s.wantEvents())
}
