package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fillDigests makes a value of every type.
func fillDigests(c *testClient) {
	for _, line := range []string{"SET a 1", "RPUSH l a 1 -5000 b", "SADD i 1 2 70000", "SADD s a b c", "HSET h f v g 12", "ZADD z 1 a 2.5 b inf c 0.1 d",
		"ZADD z2 -0.3 " + strings.Repeat("m", 73), "XADD x 1-1 f v", "XADD x 2-0 g w h 1", "EXPIRE h 100000"} {
		c.do(line)
	}
}

// TestDigestOfTypes: the digests are those that redis-server 7.0.15 gives.
func TestDigestOfTypes(t *testing.T) {
	c := debugServer(t).dial()
	fillDigests(c)
	require.Equal(t, "+616c264c859d71dbda7f25c92ff31e3c9a31304d", c.do("DEBUG DIGEST"))
	require.Equal(t, strings.Join([]string{"*7", "+1b7e15b5b964cc7d3c5674e7f2a83c3bafe0503e", "+a987c6ebdc9d549d1b48972961620e22c2294133",
		"+593c2414786d75446e97f4ea5d4b731f3313da72", "+63b55238816b9ebfced6317eb7e41ac828dae757", "+793fa0d9e1429031fcd71ca7905acfd38baa45a4",
		"+1b288123c8666c56081cee3156181f8cdc920e39", "+cd63511040036284f5c587fd1108f544f9f9fa14"}, "\r\n"), c.do("DEBUG DIGEST-VALUE l i s h z z2 x"))
}

// TestDebugOfTypes: encodings and saved lengths are those of redis-server.
func TestDebugOfTypes(t *testing.T) {
	c := debugServer(t).dial()
	fillDigests(c)
	f := func(key, want string) {
		t.Helper()
		require.Contains(t, c.do("DEBUG OBJECT "+key), want)
	}
	f("a", "encoding:int serializedlength:2 ")
	f("l", "encoding:quicklist serializedlength:22 ")
	f("i", "encoding:intset serializedlength:21 ")
	f("s", "encoding:hashtable serializedlength:7 ")
	f("h", "encoding:listpack serializedlength:19 ")
	f("x", "encoding:stream ")
	require.Equal(t, "+Listpack structure printed on stdout", c.do("DEBUG LISTPACK h"))
	require.Equal(t, "-ERR Not a listpack encoded object.", c.do("DEBUG LISTPACK s"))
	require.Equal(t, "+Quicklist structure printed on stdout", c.do("DEBUG QUICKLIST l"))
	require.Contains(t, c.do("DEBUG HTSTATS-KEY s"), "number of elements: 3")
	require.Equal(t, "-ERR The value stored at the specified key is not represented using an hash table", c.do("DEBUG HTSTATS-KEY l"))
}

// TestReloadOfTypes: the data is the same, and a value that has become small is
// packed again, as after loading in Redis.
func TestReloadOfTypes(t *testing.T) {
	c := debugServer(t).dial()
	fillDigests(c)
	c.do("HSET big f " + strings.Repeat("v", 100))
	c.do("HSET big f v")
	c.do("SADD was a 1 2")
	c.do("SREM was a")
	c.do("ZADD zbig 1 " + strings.Repeat("m", 100) + " 2 b")
	c.do("ZREM zbig " + strings.Repeat("m", 100))
	c.do("XGROUP CREATE x g 1-1")
	c.do("XREADGROUP GROUP g c STREAMS x >")
	before, pending := c.do("DEBUG DIGEST"), c.do("XPENDING x g")
	for _, line := range []string{"DEBUG RELOAD", "DEBUG LOADAOF"} {
		require.Equal(t, "$9\r\nhashtable", c.do("OBJECT ENCODING big"))
		require.Equal(t, "+OK", c.do(line))
		require.Equal(t, before, c.do("DEBUG DIGEST"))
		require.Equal(t, pending, c.do("XPENDING x g"))
		require.Equal(t, "$8\r\nlistpack", c.do("OBJECT ENCODING big"))
		require.Equal(t, "$6\r\nintset", c.do("OBJECT ENCODING was"))
		require.Equal(t, "$8\r\nlistpack", c.do("OBJECT ENCODING zbig"))
		c.do("HSET big f " + strings.Repeat("v", 100))
		c.do("HSET big f v")
	}
}

// TestReloadOfExpiringMembers (I8): what expires below a key ends with it, and
// what is left keeps its time.
func TestReloadOfExpiringMembers(t *testing.T) {
	c := debugServer(t).dial()
	c.do("SADD t v")
	c.do("EXPIREMEMBER t v 300")
	c.do("SADD u v w")
	c.do("EXPIREMEMBER u v 300")
	c.do("PEXPIRE t 1")
	require.Equal(t, "+OK", c.do("DEBUG RELOAD"))
	eventually(t, func() bool { return c.do("EXISTS t") == ":0" }, "gone")
	require.Equal(t, "+OK", c.do("DEBUG RELOAD"))
	require.Equal(t, ":1", c.do("DBSIZE"))
	require.Regexp(t, "^:(300|29[0-9])$", c.do("TTL u v"))
	require.Equal(t, ":-1", c.do("TTL u w"))
}
