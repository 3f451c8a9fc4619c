package server

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"firn/shard"

	"github.com/stretchr/testify/require"
)

var mixSeed = flag.Uint64("mixseed", 0, "seed of TestTransactionsAmongEverything; 0: a new one")

// mixedLine returns lines that are sent together, and what no client waits for
// longer than the test.
func mixedLine(r *rand.Rand) []string {
	key := func() string { return fmt.Sprint("k", r.IntN(6)) }
	one := func() string {
		lines := []string{
			"INCR n" + key(), "RPUSH l" + key() + " a b", "LPOP l" + key(), "SET " + key() + " v", "DEL " + key() + " l" + key(),
			"SADD s" + key() + " a b c", "SUNIONSTORE s" + key() + " s" + key() + " s" + key(), "MGET k0 k1 k2 k3", "EXPIRE n" + key() + " 0",
			"KEYS k*", "DBSIZE", "SORT sk1 BY w* ALPHA STORE lk2", "SELECT " + fmt.Sprint(r.IntN(2)), "SWAPDB 0 1", "FLUSHDB", "RANDOMKEY",
			"PUBLISH ch x", "EVAL \"redis.call('RPUSH', 'lk1', 'x') return redis.call('GET', 'k1')\" 1 k2", "BLPOP l" + key() + " 0.01",
			"BLMOVE l" + key() + " l" + key() + " LEFT RIGHT 0.01", "DEBUG RELOAD", "INFO keyspace", "CLIENT LIST", "SPOP s" + key() + " 2",
		}
		return lines[r.IntN(len(lines))]
	}
	var lines []string
	switch r.IntN(8) {
	case 0, 1:
		for range 1 + r.IntN(5) {
			lines = append(lines, one())
		}
	case 2, 3, 4:
		lines = append(lines, "MULTI")
		for range r.IntN(6) {
			lines = append(lines, one())
		}
		lines = append(lines, "EXEC")
	case 5:
		lines = append(lines, "MULTI")
		for range 2 * heavyFrom {
			lines = append(lines, "RPUSH l"+key()+" x", "INCR n"+key())
		}
		lines = append(lines, "LTRIM lk0 0 2", "LTRIM lk1 0 2", []string{"EXEC", "DISCARD"}[r.IntN(2)])
	case 6:
		lines = append(lines, "WATCH "+key()+" l"+key(), "MULTI", one(), "EXEC")
	default:
		many := "MSET"
		for i := range 3 * heavyFrom {
			many += fmt.Sprint(" k", i, " v")
		}
		lines = append(lines, many, "EVAL \"for i = 1, 20000 do redis.call('INCR', KEYS[1]) end return 1\" 1 nk1")
	}
	return lines
}

// Whatever runs beside transactions, nobody waits for ever, nothing is left
// locked, and the structure is sound.
func TestTransactionsAmongEverything(t *testing.T) {
	seed := *mixSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with -mixseed %d", seed)
	s := serve(t, "--enable-debug-command", "yes", "--event-loops", "2", "--shards", "4")
	var all sync.WaitGroup
	failed := make(chan string, 16)
	end := time.Now().Add(2 * time.Second)
	for i := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for time.Now().Before(end) {
				if what := s.mixedClient(r, end); what != "" {
					failed <- fmt.Sprint("client ", i, ": ", what)
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	for what := range failed {
		t.Error(what)
	}
	eventually(t, func() bool { return s.marks() == 0 }, "marks are left")
	c := s.dial()
	require.Equal(t, "+OK", c.do("FLUSHALL"), "something is locked")
	var err error
	require.False(t, s.splicing())
	s.shards.Reach((*shard.Hold).WantAll, func() { err = s.shards.Space.Check() })
	require.NoError(t, err)
}

// mixedClient sends lines until the end, or leaves in the middle of a
// transaction. It returns what went wrong.
func (s *testServer) mixedClient(r *rand.Rand, end time.Time) string {
	nc, err := net.Dial("tcp", s.addr)
	if err != nil {
		return err.Error()
	}
	defer nc.Close()
	_ = nc.SetDeadline(end.Add(patience))
	in := bufio.NewReader(nc)
	for time.Now().Before(end) {
		lines := mixedLine(r)
		leaves := r.IntN(40) == 0
		if leaves {
			lines = lines[:r.IntN(len(lines))+1]
		}
		if _, err := io.WriteString(nc, encode(lines...)); err != nil {
			return err.Error()
		}
		if leaves {
			return ""
		}
		for _, line := range lines {
			reply, err := readReply(in)
			if err != nil {
				return fmt.Sprintf("%.80s: %v", line, err)
			}
			if strings.HasPrefix(reply, "-ERR internal") {
				return fmt.Sprintf("%.80s: %s", line, reply)
			}
		}
	}
	return ""
}
