package server

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"firn/shard"

	"github.com/stretchr/testify/require"
)

// batches is a journal that keeps what it is given.
type batches struct {
	mu  sync.Mutex
	all []string // "SET a 1; INCR a" for each
}

func (b *batches) Append(_ int64, effects []shard.Effect) {
	var lines []string
	for _, e := range effects {
		var words []string
		for _, a := range e.Args {
			words = append(words, string(a))
		}
		lines = append(lines, fmt.Sprint(e.DB, " ", strings.Join(words, " ")))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, strings.Join(lines, "; "))
}

func (b *batches) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.all
	b.all = nil
	return all
}

// A transaction is one batch for who must repeat it, in the order in which it
// did things and without what changed nothing; short or long.
func TestTransactionIsOneBatch(t *testing.T) {
	s := serve(t)
	var b batches
	s.shards.Subscribe(&b)
	c := s.dial()
	c.play(`
		MULTI -> +OK
		SET a 1 -> +QUEUED
		GET a -> +QUEUED
		DEL none -> +QUEUED
		SELECT 2 -> +QUEUED
		RPUSH l x y -> +QUEUED
		LPUSH l x y z BAD -> +QUEUED
		EXEC -> *6 +OK $1 1 :0 +OK :2 :6`)
	require.Equal(t, []string{"0 SET a 1; 2 RPUSH l x y; 2 LPUSH l x y z BAD"}, b.take())
	c.play(`
		MULTI -> +OK
		GET a -> +QUEUED
		EXEC -> *1 $-1`)
	require.Empty(t, b.take())

	c.do("SELECT 0")
	lines, want := []string{"MULTI"}, []string{}
	for i := range 3 * heavyFrom {
		line := fmt.Sprint("SET k", i, " ", i)
		lines, want = append(lines, line), append(want, "0 "+line)
	}
	c.send(append(lines, "EXEC")...)
	c.skip(len(lines))
	require.Equal(t, "*"+strconv.Itoa(len(want)), strings.SplitN(c.reply(), "\r\n", 2)[0])
	require.Equal(t, []string{strings.Join(want, "; ")}, b.take())
	require.EqualValues(t, 1, s.shards.Stats().LongWrites.Load())
}

// skip reads replies that don't matter.
func (c *testClient) skip(n int) {
	for range n {
		c.reply()
	}
}

// queue queues the lines.
func (c *testClient) queue(lines ...string) {
	c.send(append([]string{"MULTI"}, lines...)...)
	require.Equal(c.t, "+OK", c.reply())
	for range lines {
		require.Equal(c.t, "+QUEUED", c.reply())
	}
}

// E6: a long transaction shows nothing of itself before it is done, to commands on
// its keys, which wait, and to those that look at everything, which don't. It
// holds nobody else up.
func TestLongTransactionIsAtomic(t *testing.T) {
	s := serve(t)
	c := s.dial()
	const n = 10_000
	lines := make([]string, 0, 2*n+2)
	for i := range n {
		lines = append(lines, fmt.Sprint("SADD set m", i), fmt.Sprint("SET key:", i, " v"))
	}
	lines = append(lines, "SCARD set", "GET key:7")
	c.queue(lines...)
	p, watcher, looker := s.ping(), s.dial(), s.dial()
	c.send("EXEC")
	seen := map[string]bool{}
	eventually(t, func() bool {
		seen[looker.do("DBSIZE")] = true
		keys := looker.do("KEYS key:*")
		seen["keys "+strings.SplitN(keys, "\r\n", 2)[0]] = true
		return seen[fmt.Sprint(":", n+1)]
	}, "it does not end")
	reply := c.reply()
	require.True(t, strings.HasPrefix(reply, fmt.Sprintf("*%d\r\n:1\r\n+OK\r\n", len(lines))))
	require.True(t, strings.HasSuffix(reply, fmt.Sprintf(":%d\r\n$1\r\nv", n)))
	want := []string{":0", fmt.Sprint(":", n+1), "keys *0", fmt.Sprint("keys *", n)}
	for _, s := range slices.Sorted(maps.Keys(seen)) {
		require.Contains(t, want, s)
	}
	require.Less(t, p.end(t), unhurt)
	require.Equal(t, fmt.Sprint(":", n), watcher.do("SCARD set"))
	require.EqualValues(t, 1, s.shards.Stats().LongWrites.Load())
	require.Equal(t, "$1\r\nv", c.do("GET key:1"))
}

// A long transaction may publish; who hears of it and looks finds it done.
func TestLongTransactionPublishes(t *testing.T) {
	s := serve(t)
	c, sub, other := s.dial(), s.dial(), s.dial()
	sub.do("SUBSCRIBE ch")
	lines := []string{"SET first 1", "PUBLISH ch now"}
	for range 5_000 {
		lines = append(lines, "INCR n")
	}
	c.queue(append(lines, "SET last 1")...)
	c.send("EXEC")
	require.Contains(t, sub.reply(), "now")
	require.Equal(t, "*3\r\n$1\r\n1\r\n$4\r\n5000\r\n$1\r\n1", other.do("MGET first n last"))
	require.Contains(t, c.reply(), "+OK\r\n:1\r\n:1\r\n:2")
	require.EqualValues(t, 1, s.shards.Stats().LongWrites.Load())
}

// Commands on the keys of a long transaction wait for it, and their clients see
// their order kept.
func TestLongTransactionLocksItsKeys(t *testing.T) {
	s := serve(t)
	c, other := s.dial(), s.dial()
	var lines []string
	for i := range 12_000 {
		lines = append(lines, fmt.Sprint("RPUSH list ", i))
	}
	c.queue(lines...)
	c.send("EXEC")
	eventually(t, func() bool { return s.shards.Stats().LongWrites.Load() == 1 }, "it does not begin")
	other.send("LLEN list", "RPUSH list last", "SET other 1")
	require.Equal(t, ":12000", other.reply())
	require.Equal(t, ":12001", other.reply())
	require.Equal(t, "+OK", other.reply())
	c.reply()
}

// A long transaction looks at what it watches when its keys become its own.
func TestLongTransactionWatches(t *testing.T) {
	s := serve(t)
	c, other := s.dial(), s.dial()
	many := make([]string, 2*heavyFrom)
	for i := range many {
		many[i] = "INCR n"
	}
	for _, disturbed := range []bool{true, false} {
		require.Equal(t, "+OK", c.do("WATCH w"))
		if disturbed {
			other.do("INCR w")
		}
		c.queue(many...)
		reply := c.do("EXEC")
		require.Equal(t, disturbed, reply == "*-1", "%.40q", reply)
		require.Zero(t, s.marks())
	}
	require.Equal(t, fmt.Sprintf("$3\r\n%d", len(many)), c.do("GET n"))
}

// The database that a transaction selects stays so, and the next commands of a
// pipeline use it.
func TestLongTransactionSelects(t *testing.T) {
	s := serve(t)
	c := s.dial()
	lines := []string{"MULTI", "SET a 0", "SELECT 5"}
	for i := range 2 * heavyFrom {
		lines = append(lines, fmt.Sprint("SET a ", i))
	}
	lines = append(lines, "SELECT 4", "SET a 4", "COPY a b DB 7", "EXEC", "GET a", "SELECT 5", "GET a", "SELECT 7", "GET b")
	c.send(lines...)
	c.skip(len(lines) - 5)
	require.Equal(t, "$1\r\n4", c.reply())
	c.reply()
	require.Equal(t, fmt.Sprintf("$3\r\n%d", 2*heavyFrom-1), c.reply())
	c.reply()
	require.Equal(t, "$1\r\n4", c.reply())
	for db, keys := range map[int]int{0: 1, 4: 1, 5: 1, 7: 1, 6: 0} {
		require.Equal(t, keys, s.shards.Sizes(nil)[db].Keys, "database %d", db)
	}
	require.False(t, s.splicing())
}

// splicing says whether a long write is under way.
func (s *testServer) splicing() (yes bool) {
	s.shards.Reach((*shard.Hold).WantAll, func() {
		for _, st := range s.shards.Space.Stores {
			yes = yes || st.Splicing()
		}
	})
	return yes
}

// Money moves between accounts by transactions, short ones and long ones, with
// WATCH and without; who sums it up always finds the same.
func TestTransactionsAreIsolated(t *testing.T) {
	s := serve(t)
	const accounts, rounds = 12, 60
	var names []string
	setup := s.dial()
	for i := range accounts {
		names = append(names, fmt.Sprint("account", i))
		setup.do("SET " + names[i] + " 100")
	}
	sum := func(reply string) (n int) {
		for _, line := range strings.Split(reply, "\r\n")[1:] {
			if line[0] != '$' {
				v, err := strconv.Atoi(line)
				require.NoError(t, err)
				n += v
			}
		}
		return n
	}
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for w := range 4 {
		c := s.dial()
		writers.Go(func() {
			for r := range rounds {
				from, to := names[(w*3+r)%accounts], names[(w*5+2*r+1)%accounts]
				if w == 0 {
					c.do("WATCH " + from)
				}
				lines := []string{"MULTI", "DECRBY " + from + " 7"}
				if w == 3 {
					for range heavyFrom {
						lines = append(lines, "DECR "+from, "INCR "+to)
					}
				}
				lines = append(lines, "INCRBY "+to+" 7", "EXEC")
				c.send(lines...)
				c.skip(len(lines))
			}
		})
	}
	for _, line := range []string{"MGET " + strings.Join(names, " "), ""} {
		c := s.dial()
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				switch line {
				case "":
					c.queue("GET " + names[0])
					for _, n := range names[1:] {
						c.send("GET " + n)
						c.reply()
					}
					require.Equal(t, accounts*100, sum(c.do("EXEC")))
				default:
					if reply := c.do(line); reply != "*0" {
						require.Equal(t, accounts*100, sum(reply))
					}
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
}

// What a transaction looks at as a whole includes what it has written itself.
func TestTransactionSeesItself(t *testing.T) {
	c := serve(t, "--enable-debug-command", "yes").dial()
	c.play(`
		MULTI -> +OK
		SET a 1 -> +QUEUED
		KEYS * -> +QUEUED
		SCAN 0 COUNT 100 -> +QUEUED
		DBSIZE -> +QUEUED
		DEBUG DIGEST -> +QUEUED
		DEBUG RELOAD -> +QUEUED
		RANDOMKEY -> +QUEUED
		SORT none BY w* -> +QUEUED
		DEBUG SLEEP 0.001 -> +QUEUED
		MEMORY DOCTOR -> +QUEUED`)
	reply := c.do("EXEC")
	require.True(t, strings.HasPrefix(reply, "*10\r\n+OK\r\n*1\r\n$1\r\na\r\n*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n:1\r\n+"), reply)
	require.Contains(t, reply, "\r\n+OK\r\n$1\r\na\r\n*0\r\n+OK\r\n$")
}
