package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A20: what looks at all shards inside of a transaction does not wait for itself.
func TestTransactionOverAllShards(t *testing.T) {
	s := serve(t, "--shards", "16", "--enable-debug-command", "yes")
	c, other := s.dial(), s.dial()
	for i := range 100 {
		c.do(fmt.Sprint("SET key:", i, " v"))
	}
	for _, line := range []string{"SCAN 0 MATCH key:* COUNT 1000", "KEYS *", "DBSIZE", "RANDOMKEY", "SORT s BY w* GET key:*", "DEBUG DIGEST", "INFO", "MEMORY STATS", "SWAPDB 0 1", "FLUSHDB", "FLUSHALL"} {
		c.queue("SET mine 1", line, "GET mine")
		require.Equal(t, "*3\r\n+OK", c.do("EXEC")[:7], line)
		require.Equal(t, "+PONG", other.do("PING"))
	}
	c.play("DBSIZE -> :0")
}

// C8: what would need memory is refused when it is queued, and nothing of the
// transaction is done.
func TestTransactionRefusedAtQueueing(t *testing.T) {
	s := serve(t)
	c := s.dial()
	c.play("SET b 1 -> +OK\nCONFIG SET maxmemory 1 -> +OK\nMULTI -> +OK")
	require.Equal(t, "-OOM", c.do("SET a 1")[:4])
	require.Equal(t, "-OOM", c.do("DEL b")[:4])
	c.play(`
		EXEC -> -EXECABORT Transaction discarded because of previous errors.
		EXISTS b -> :1`)
}

// E2: a key that had expired when it was watched is no change when it goes.
// E3: one that expires later is. E4: nor does SWAPDB or FLUSHALL go unnoticed.
func TestWatchReports(t *testing.T) {
	s := serve(t)
	s.shards.SetActiveExpire(false)
	c, other := s.dial(), s.dial()
	ping := func(want string) {
		t.Helper()
		c.play("MULTI -> +OK\nPING -> +QUEUED\nEXEC -> " + want)
	}
	passed := func(d time.Duration) {
		end := time.Now().Add(d)
		eventually(t, func() bool { return time.Now().After(end) }, "")
	}
	c.play("SET x 1 PX 20 -> +OK")
	passed(30 * time.Millisecond)
	c.play("WATCH x -> +OK")
	s.shards.SetActiveExpire(true)
	s.shards.Kick()
	other.do("GET x")
	ping("*1 +PONG")
	s.shards.SetActiveExpire(false)

	c.play("SET k 1 PX 30 -> +OK\nWATCH k -> +OK")
	passed(40 * time.Millisecond)
	require.Equal(t, "$-1", other.do("GET k"))
	ping("*-1")

	for _, line := range []string{"FLUSHALL", "FLUSHDB", "SWAPDB 0 1"} {
		c.play("SET k 1 -> +OK\nWATCH k -> +OK")
		require.Equal(t, "+OK", other.do(line))
		ping("*-1")
	}
}

// I8: a member's expiry does not outlive its key.
func TestTransactionOfMembersThatExpire(t *testing.T) {
	s := serve(t, "--enable-debug-command", "yes")
	c := s.dial()
	c.queue("SADD t v", "EXPIREMEMBER t v 300", "PEXPIRE t 1", "DEBUG RELOAD")
	require.Equal(t, "*4\r\n:1\r\n:1\r\n:1\r\n+OK", c.do("EXEC"))
	eventually(t, func() bool { return c.do("EXISTS t") == ":0" }, "it is there")
	eventually(t, func() bool { return s.shards.Usage(nil).Expires == 0 }, "an expiry is left")
}

// What Sentinel sends to a server that it makes the master.
func TestTransactionOfSentinel(t *testing.T) {
	s := serve(t)
	c, normal, sub := s.dial(), s.dial(), s.dial()
	normal.do("PING")
	sub.do("SUBSCRIBE ch")
	c.queue("SLAVEOF NO ONE", "CONFIG REWRITE", "CLIENT KILL TYPE normal", "CLIENT KILL TYPE pubsub")
	require.Equal(t, "*4\r\n+OK\r\n-ERR The server is running without a config file\r\n:1\r\n:1", c.do("EXEC"))
	normal.closed()
	sub.closed()
}

// F5: nothing waits inside of a transaction.
func TestTransactionDoesNotWait(t *testing.T) {
	c := serve(t).dial()
	c.queue("BLPOP nokey 0", "XREAD BLOCK 0 STREAMS nokey $", "BLMOVE a b LEFT LEFT 0", "BZPOPMIN z 0")
	require.Equal(t, "*4 *-1 *-1 $-1 *-1", strings.ReplaceAll(c.do("EXEC"), "\r\n", " "))
	for range heavyFrom {
		c.do("RPUSH l x")
	}
	var many []string
	for range 2 * heavyFrom {
		many = append(many, "BLPOP l 0")
	}
	c.queue(many...)
	reply := c.do("EXEC") // aside
	require.Equal(t, heavyFrom, strings.Count(reply, "\r\n*2\r\n"))
	require.Equal(t, heavyFrom, strings.Count(reply, "\r\n*-1"))
}
