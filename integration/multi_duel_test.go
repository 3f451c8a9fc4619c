package integration

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// redisServer starts the real thing, of the version that we are compared with.
func redisServer(t *testing.T, options ...string) (addr string) {
	program := os.Getenv("REDIS_SERVER")
	if program == "" {
		var err error
		if program, err = exec.LookPath("redis-server"); err != nil {
			t.Skip("no redis-server: set REDIS_SERVER to run the duel")
		}
	}
	addr = startWith(t, program, nil, options...)
	w, err := openWire(addr, 0)
	require.NoError(t, err)
	defer w.Close()
	if info, err := w.do("INFO", "server"); err != nil || !strings.Contains(info, "redis_version:7.0.") {
		t.Skipf("the duel is with Redis 7.0 (%v)", err)
	}
	return addr
}

// transactionLine returns a command line of a client that may be in a
// transaction.
func transactionLine(r *rand.Rand) string {
	key := func() string { return fmt.Sprint("k", r.IntN(4)) }
	switch r.IntN(46) {
	case 0, 1, 2, 3:
		return "MULTI"
	case 4, 5, 6, 7, 8:
		return "EXEC"
	case 9:
		return "DISCARD"
	case 10, 11, 12:
		return "WATCH " + key() + " " + key()
	case 13:
		return "UNWATCH"
	case 14:
		return "NOSUCH x"
	case 15:
		return "GET"
	case 16:
		return "SELECT " + fmt.Sprint(r.IntN(3))
	case 17:
		return []string{"FLUSHDB", "FLUSHALL", "SWAPDB 0 1", "SWAPDB 1 2", "SWAPDB 1 99"}[r.IntN(5)]
	case 18:
		return "MOVE " + key() + " " + fmt.Sprint(r.IntN(4))
	case 19:
		return "COPY " + key() + " " + key() + " DB " + fmt.Sprint(r.IntN(3)) + " REPLACE"
	case 20:
		return "RENAME " + key() + " " + key()
	case 21:
		return "EXPIRE " + key() + " " + []string{"1000", "0", "-1"}[r.IntN(3)]
	case 22:
		return "DBSIZE"
	case 23:
		return "KEYS k1"
	case 24:
		return []string{"RESET", "EXEC x", "WATCH", "CLIENT GETNAME", "ECHO x", "SHUTDOWN NOSAVE X", "CONFIG GET port-x", "PERSIST k1"}[r.IntN(8)]
	case 25:
		return "SADD s" + key() + " a b"
	case 26:
		return "SREM s" + key() + " a"
	case 27:
		return "SMOVE s" + key() + " s" + key() + " a"
	case 28:
		return "SORT s" + key() + " ALPHA STORE " + key()
	case 29:
		return "SUNIONSTORE sk1 sk2 s" + key()
	case 30, 31:
		return "DEL " + key() + " s" + key()
	case 32, 33, 34:
		return "SET " + key() + " " + fmt.Sprint(r.IntN(100))
	case 35:
		return "SETNX " + key() + " 1"
	case 36:
		return "LPUSH " + key() + " x"
	case 37, 38:
		return "INCR " + key()
	case 39:
		return "APPEND " + key() + " 1"
	case 40:
		return "XADD x" + key() + " MAXLEN 2 1-* a b"
	case 41:
		return "XDEL x" + key() + " 1-1"
	case 42:
		return "WATCH s" + key() + " x" + key()
	}
	return "GET " + key()
}

// TestTransactionsDuel: three clients, one command after the other, get from
// redis-server what they get here, whether their transactions are short or run
// aside.
func TestTransactionsDuel(t *testing.T) {
	servers := []string{redisServer(t), startFirn(t, buildFirn(t)), faultyAside(t, "")}
	r := newRand(testSeed(t), 0)
	ran := 0
	for end := time.Now().Add(budget(t, 4*time.Second)); time.Now().Before(end); {
		var clients [3][]*wire
		for c := range clients {
			for _, addr := range servers {
				w, err := openWire(addr, 0)
				require.NoError(t, err)
				defer w.Close()
				clients[c] = append(clients[c], w)
			}
		}
		var history []string
		ask := func(c int, line string) {
			history = append(history, fmt.Sprint(c, "> ", line))
			replies := make([]string, len(servers))
			for i, w := range clients[c] {
				var err error
				replies[i], err = w.do(strings.Fields(line)...)
				require.NoError(t, err, strings.Join(history, "\n"))
			}
			for i, got := range replies {
				require.Equal(t, replies[0], got, "server %d:\n%s", i, strings.Join(history, "\n"))
			}
			ran++
		}
		ask(0, "FLUSHALL")
		for range 300 {
			ask(r.IntN(3), transactionLine(r))
		}
	}
	t.Logf("%d commands", ran)
	require.Greater(t, ran, 500)
}
