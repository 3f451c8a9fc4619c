package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// block sends a command that has to wait and returns when it does.
func (s *testServer) block(line string) *testClient {
	s.t.Helper()
	c := s.dial()
	s.blockAt(c, line)
	return c
}

func (s *testServer) blockAt(c *testClient, line string) {
	s.t.Helper()
	n := s.clients.blocked.all.Load()
	c.send(line)
	s.awaitBlocked(n + 1)
}

func (s *testServer) awaitBlocked(n int64) {
	s.t.Helper()
	eventually(s.t, func() bool { return s.clients.blocked.all.Load() == n }, fmt.Sprintf("not %d clients wait", n))
}

// words is a reply of strings.
func words(all ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d", len(all))
	for _, w := range all {
		fmt.Fprintf(&b, "\r\n$%d\r\n%s", len(w), w)
	}
	return b.String()
}

// all does the lines and wants no error.
func (c *testClient) all(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		require.NotEqual(c.t, "-", c.do(line)[:1], line)
	}
}

// Clients are served in the order in which they came, before the one who pushed
// has the reply, and so nobody sees what they get.
func TestServedInOrder(t *testing.T) {
	s := serve(t)
	a := s.dial()
	var waiting []*testClient
	for range 5 {
		waiting = append(waiting, s.block("BLPOP k 0"))
	}
	a.send("RPUSH k 0 1 2", "LLEN k", "EXISTS k")
	require.Equal(t, ":3", a.reply())
	require.Equal(t, ":0", a.reply())
	require.Equal(t, ":0", a.reply())
	s.awaitBlocked(2)
	require.Equal(t, ":3", a.do("RPUSH k 3 4 5"))
	for i, c := range waiting {
		require.Equal(t, words("k", fmt.Sprint(i)), c.reply())
	}
	require.Equal(t, words("5"), a.do("LRANGE k 0 -1"))
}

func TestEveryBlockingCommand(t *testing.T) {
	s := serve(t)
	a := s.dial()
	f := func(wait, push, want string) {
		t.Helper()
		a.all("FLUSHALL")
		c := s.block(wait)
		a.all(push)
		require.Equal(t, want, c.reply(), wait)
		s.awaitBlocked(0)
	}
	f("BLPOP x k 0", "RPUSH k a b", words("k", "a"))
	f("BRPOP x k 0", "RPUSH k a b", words("k", "b"))
	f("BLMOVE k d LEFT RIGHT 0", "RPUSH k a b", "$1\r\na")
	f("BRPOPLPUSH k d 0", "RPUSH k a b", "$1\r\nb")
	f("BLMPOP 0 2 x k LEFT COUNT 2", "RPUSH k a b c", "*2\r\n$1\r\nk\r\n"+words("a", "b"))
	f("BZPOPMIN x k 0", "ZADD k 1 a 2 b", words("k", "a", "1"))
	f("BZPOPMAX x k 0", "ZADD k 1 a 2 b", words("k", "b", "2"))
	f("BZMPOP 0 2 x k MAX COUNT 9", "ZADD k 1 a 2 b", "*2\r\n$1\r\nk\r\n*2\r\n"+words("b", "2")+"\r\n"+words("a", "1"))
	f("XREAD BLOCK 0 STREAMS x k $ $", "XADD k 1-1 f v", "*1\r\n*2\r\n$1\r\nk\r\n*1\r\n*2\r\n$3\r\n1-1\r\n"+words("f", "v"))
}

// What makes a key wakes who waits for it, whichever command that is.
func TestEveryWayToWake(t *testing.T) {
	s := serve(t)
	a := s.dial()
	f := func(want string, wait string, lines ...string) {
		t.Helper()
		a.all("FLUSHALL", "SELECT 0", "RPUSH l a", "ZADD z 1 a", "SADD s a")
		dump := a.text("DUMP l")
		c := s.block(wait)
		for _, line := range lines {
			if line == "RESTORE" {
				a.write(fmt.Sprintf("*4\r\n$7\r\nRESTORE\r\n$1\r\nk\r\n$1\r\n0\r\n$%d\r\n%s\r\n", len(dump), dump))
				require.Equal(t, "+OK", a.reply())
				continue
			}
			a.all(line)
		}
		require.Equal(t, want, c.reply(), lines)
		s.awaitBlocked(0)
	}
	pop, zpop := words("k", "a"), words("k", "a", "1")
	f(pop, "BLPOP k 0", "RENAME l k")
	f(pop, "BLPOP k 0", "RENAMENX l k")
	f(pop, "BLPOP k 0", "COPY l k")
	f(pop, "BLPOP k 0", "LMOVE l k LEFT RIGHT")
	f(pop, "BLPOP k 0", "SORT s ALPHA STORE k")
	f(pop, "BLPOP k 0", "RESTORE")
	f(pop, "BLPOP k 0", "SELECT 1", "RPUSH k a", "SWAPDB 0 1")
	f(pop, "BLPOP k 0", "SELECT 1", "RPUSH k a", "MOVE k 0")
	f(zpop, "BZPOPMIN k 0", "RENAME z k")
	f(zpop, "BZPOPMIN k 0", "ZUNIONSTORE k 1 z")
	f(zpop, "BZPOPMIN k 0", "ZRANGESTORE k z 0 -1")
	f(zpop, "BZPOPMIN k 0", "ZINCRBY k 1 a")
	f(pop, "BLPOP k 0", "MULTI", "RPUSH k b", "DEL k", "RPUSH k a", "EXEC")
	f(pop, "BLPOP k 0", "EVAL \"return redis.call('rpush', KEYS[1], 'a')\" 1 k")
}

// What is gone again at the end of a transaction, or is of another type, wakes
// nobody, and who waits goes on waiting.
func TestNothingAfterAll(t *testing.T) {
	s := serve(t)
	a := s.dial()
	c := s.block("BLPOP k 0")
	z := s.block("BZPOPMIN k 0")
	a.all("MULTI", "LPUSH k a", "DEL k", "EXEC")
	a.all("MULTI", "LPUSH k a", "DEL k", "SET k v", "EXEC")
	a.all("DEL k", "SADD k m", "DEL k", "XADD k * f v", "DEL k", "SELECT 1", "RPUSH k a", "SELECT 0")
	require.EqualValues(t, 2, s.clients.blocked.all.Load())
	a.all("ZADD k 1 m")
	require.Equal(t, words("k", "m", "1"), z.reply())
	a.all("RPUSH k a")
	require.Equal(t, words("k", "a"), c.reply())
}

// Of several keys the first that has something counts, or the one that gets it
// first.
func TestWhichKey(t *testing.T) {
	s := serve(t)
	a := s.dial()
	a.all("RPUSH b 1", "RPUSH c 1")
	require.Equal(t, words("b", "1"), s.dial().do("BLPOP a b c 0"))
	a.all("DEL c")
	for _, order := range []string{"abc", "bca", "cab"} {
		c := s.block("BLPOP a b c 0")
		a.all("MULTI")
		for _, key := range order {
			a.all(fmt.Sprintf("RPUSH %c 1", key))
		}
		a.all("EXEC")
		require.Equal(t, words(order[:1], "1"), c.reply(), order)
		a.all("DEL a b c")
	}
	c := s.block("BLPOP a b 0")
	a.all("SET a v", "MULTI", "DEL a", "RPUSH b 1", "RPUSH a 1", "EXEC")
	require.Equal(t, words("b", "1"), c.reply(), "that a was deleted first does not count")
	a.all("DEL a")
	c = s.block("BLPOP k k k 0")
	a.all("RPUSH k x y")
	require.Equal(t, words("k", "x"), c.reply())
	require.Equal(t, ":1", a.do("LLEN k"))
}

// A move makes its destination ready in turn.
func TestChains(t *testing.T) {
	s := serve(t)
	a := s.dial()
	first, second := s.block("BLMOVE a b LEFT LEFT 0"), s.block("BLMOVE b c LEFT LEFT 0")
	third := s.block("BLPOP c 0")
	require.Equal(t, ":1", a.do("RPUSH a x"))
	require.Equal(t, "*0", a.do("KEYS *"))
	require.Equal(t, "$1\r\nx", first.reply())
	require.Equal(t, "$1\r\nx", second.reply())
	require.Equal(t, words("c", "x"), third.reply())

	first, second = s.block("BRPOPLPUSH a b 0"), s.block("BRPOPLPUSH b a 0") // round
	a.all("RPUSH a x")
	require.Equal(t, "$1\r\nx", first.reply())
	require.Equal(t, "$1\r\nx", second.reply())
	require.Equal(t, words("x"), a.do("LRANGE a 0 -1"))
	require.Equal(t, "*0", a.do("LRANGE b 0 -1"))

	a.all("DEL a")
	first, second = s.block("BRPOPLPUSH a a 0"), s.block("BRPOP a 0") // to itself
	a.all("RPUSH a x y")
	require.Equal(t, "$1\r\ny", first.reply())
	require.Equal(t, words("a", "x"), second.reply())
	require.Equal(t, words("y"), a.do("LRANGE a 0 -1"))
}

// A destination of another type is an error of who waits, and the element stays.
func TestMoveToAnotherType(t *testing.T) {
	s := serve(t)
	a := s.dial()
	a.all("SET d v")
	c, next := s.block("BLMOVE k d LEFT LEFT 0"), s.block("BLPOP k 0")
	a.all("RPUSH k x")
	require.Equal(t, "-WRONGTYPE Operation against a key holding the wrong kind of value", c.reply())
	require.Equal(t, words("k", "x"), next.reply())
	require.Contains(t, a.text("INFO commandstats"), "cmdstat_blmove:calls=1,")
	require.Contains(t, a.text("INFO errorstats"), "errorstat_WRONGTYPE:count=1")
	require.Equal(t, "1", statOf(a.text("INFO commandstats"), "blmove", "failed_calls"))
}

// statOf is a field of a line of INFO commandstats.
func statOf(text, command, name string) string {
	for line := range strings.Lines(text) {
		if _, fields, ok := strings.Cut(strings.TrimSpace(line), "cmdstat_"+command+":"); ok {
			for _, f := range strings.Split(fields, ",") {
				if k, v, _ := strings.Cut(f, "="); k == name {
					return v
				}
			}
		}
	}
	return ""
}

// A group's reader hears that its group or its stream is no more.
func TestGroupReadersHearOfTheEnd(t *testing.T) {
	s := serve(t)
	a := s.dial()
	const gone = "-UNBLOCKED the stream key no longer exists"
	const noGroup = "-NOGROUP the consumer group this client was blocked on no longer exists"
	f := func(want string, lines ...string) {
		t.Helper()
		a.all("FLUSHALL", "SELECT 0", "XGROUP CREATE k g $ MKSTREAM")
		other := s.block("XREAD BLOCK 0 STREAMS k $")
		c := s.block("XREADGROUP GROUP g me BLOCK 0 STREAMS k >")
		a.all(lines...)
		require.Equal(t, want, c.reply(), lines)
		s.awaitBlocked(1)
		other.Close()
		s.awaitBlocked(0)
	}
	f(gone, "DEL k")
	f(gone, "SET k v")
	f(gone, "FLUSHALL")
	f(gone, "FLUSHDB")
	f(gone, "SWAPDB 0 1")
	f(gone, "RENAME k j")
	f(gone, "MULTI", "DEL k", "RPUSH k x", "EXEC")
	f(gone, "PEXPIRE k 1")
	f(noGroup, "XGROUP DESTROY k g")
	f(noGroup, "MULTI", "DEL k", "XADD k 9-9 f v", "XDEL k 9-9", "EXEC")

	a.all("FLUSHALL", "XGROUP CREATE k g $ MKSTREAM")
	c := s.block("XREADGROUP GROUP g me BLOCK 0 STREAMS k >")
	a.all("MULTI", "DEL k", "XGROUP CREATE k g $ MKSTREAM", "EXEC")
	a.all("XADD k 9-9 f v")
	require.Contains(t, c.reply(), "9-9")
}

// One entry is one consumer's; everybody who just reads gets it. F4: an entry
// that was deleted is none.
func TestStreamsWake(t *testing.T) {
	s := serve(t)
	a := s.dial()
	a.all("XGROUP CREATE k g $ MKSTREAM", "XADD k 666 f v", "XREADGROUP GROUP g one STREAMS k >", "XADD k 667 f v", "XDEL k 667")
	require.Equal(t, "*-1", s.dial().do("XREADGROUP GROUP g one BLOCK 20 STREAMS k >"))
	one, two := s.block("XREADGROUP GROUP g one BLOCK 0 STREAMS k >"), s.block("XREADGROUP GROUP g two BLOCK 0 STREAMS k >")
	r1, r2 := s.block("XREAD BLOCK 0 STREAMS k $"), s.block("XREAD BLOCK 0 STREAMS k 668")
	a.all("MULTI", "XADD k 668 f v", "XDEL k 668", "EXEC")
	s.awaitBlocked(4)
	a.all("XADD k 669 f v")
	for _, c := range []*testClient{one, r1, r2} {
		require.Contains(t, c.reply(), "669-0")
	}
	s.awaitBlocked(1)
	a.all("XADD k 670 f v")
	require.Contains(t, two.reply(), "670-0")
	require.Equal(t, ":0", a.do("XACK k g 1"))
	require.Contains(t, a.do("XINFO GROUPS k"), "$7\r\npending\r\n:3\r\n")
}

func TestTimeouts(t *testing.T) {
	s := serve(t)
	a := s.dial()
	start := time.Now()
	c := s.block("BLPOP k 0.15")
	require.Contains(t, a.text("INFO clients"), "blocked_clients:1\r\n")
	require.Contains(t, a.text("INFO clients"), "clients_in_timeout_table:1\r\n")
	require.Equal(t, "*-1", c.reply())
	require.GreaterOrEqual(t, time.Since(start), 150*time.Millisecond)
	require.Contains(t, a.text("INFO clients"), "clients_in_timeout_table:0\r\n")
	for _, line := range []string{"BLPOP k 0.001", "BLMOVE k k LEFT LEFT 0.0001", "BRPOPLPUSH k k 1e-9", "BLMPOP 0.001 1 k LEFT", "BZPOPMIN k 0.001", "XREAD BLOCK 1 STREAMS k 0"} {
		require.Equal(t, "*-1", a.do(line), line)
	}
	for line, want := range map[string]string{
		"BLPOP k -1":                      "-ERR timeout is negative",
		"BLPOP k nan":                     "-ERR timeout is not a float or out of range",
		"BLPOP k inf":                     "-ERR timeout is out of range",
		"BLPOP k 1e300":                   "-ERR timeout is out of range",
		"BLPOP k 9223372036854775":        "-ERR timeout is out of range",
		"BZPOPMIN k -0.1":                 "-ERR timeout is negative",
		"XREAD BLOCK -1 STREAMS k $":      "-ERR timeout is negative",
		"XREAD BLOCK 1.5 STREAMS k $":     "-ERR timeout is not an integer or out of range",
		"XREAD BLOCK 0x10 STREAMS k $":    "-ERR timeout is not an integer or out of range",
		"BLMOVE k k LEFT LEFT notanumber": "-ERR timeout is not a float or out of range",
	} {
		require.Equal(t, want, a.do(line), line)
	}
	s.block("XREAD BLOCK 9223372036854775807 STREAMS k $")
	s.block("BLPOP k 9000000000000")
}

// In a transaction nobody waits. F5
func TestNoWaitInATransaction(t *testing.T) {
	s := serve(t)
	a := s.dial()
	a.send("MULTI", "BLPOP k 0", "BLMOVE k j LEFT LEFT 0", "BZMPOP 0 1 k MIN", "XREAD BLOCK 0 STREAMS k $", "RPUSH k x", "BLPOP k 0", "EXEC")
	for range 7 {
		a.reply()
	}
	require.Equal(t, "*6\r\n*-1\r\n$-1\r\n*-1\r\n*-1\r\n:1\r\n"+words("k", "x"), a.reply())
	require.Equal(t, "-ERR xread command is not allowed with BLOCK option from scripts", strings.Split(a.do("EVAL \"return redis.call('xread', 'BLOCK', 0, 'STREAMS', 'k', '$')\" 1 k"), " script:")[0])
	require.Equal(t, "*-1", s.dial().do("BLPOP k 0.01"), "outside one waits again")
}

// What runs aside in slices wakes at its end: a long transaction, a script that
// takes its time, a command that writes much, one that computes what it stores.
func TestLongWorkWakes(t *testing.T) {
	s := serve(t)
	a := s.dial()
	pop := func(lines ...string) {
		t.Helper()
		a.all("DEL k")
		c, z := s.block("BLPOP k 0"), s.block("BZPOPMIN k 0")
		a.all(lines...)
		if strings.HasPrefix(lines[len(lines)-1], "ZUNION") {
			c, z = z, c
		}
		require.Contains(t, c.reply(), "$1\r\nk\r\n")
		s.awaitBlocked(1)
		z.Close()
		s.awaitBlocked(0)
	}
	lines := []string{"MULTI", "RPUSH k first"}
	for i := range 2 * heavyFrom {
		lines = append(lines, fmt.Sprintf("SET key:%d x", i))
	}
	pop(append(lines, "EXEC")...)
	pop("EVAL \"redis.call('rpush', KEYS[1], 'x') for i = 1, 200000 do redis.call('incr', KEYS[2]) end\" 2 k n")
	pop("RPUSH k" + strings.Repeat(" x", 20_000))
	require.Equal(t, ":19999", a.do("LLEN k"))
	var add strings.Builder
	add.WriteString("ZADD z")
	for i := range 5000 {
		fmt.Fprintf(&add, " %d m%d", i, i)
	}
	a.all(add.String())
	pop("ZUNIONSTORE k 1 z")
	require.Equal(t, ":4999", a.do("ZCARD k"))
	s.noLines()
}
