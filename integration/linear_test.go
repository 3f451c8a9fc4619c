package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// keyLoad: many clients on few keys, with the commands of one key. Values are
// numbers, so that INCR and APPEND work on each other's.
func keyLoad(clients, depth int) *load {
	return &load{
		clients: clients, ops: 60, depth: depth, leaving: 60, model: keyModel(),
		generate: func(r *rand.Rand) call {
			key := fmt.Sprint("k", r.IntN(worldKeys))
			value := strconv.Itoa(r.IntN(1000))
			switch r.IntN(10) {
			case 0, 1:
				return call{"SET", key, value}
			case 2:
				return call{"SETNX", key, value}
			case 3:
				return call{"APPEND", key, value[:1]}
			case 4, 5:
				return call{"INCR", key}
			case 6:
				return call{"GETDEL", key}
			case 7:
				return call{"DEL", key}
			}
			return call{"GET", key}
		},
	}
}

// wholeLoad: few clients on four keys, with the commands of several keys or of
// all, which is what proves the Cut.
func wholeLoad(clients, depth int) *load {
	const keys = 4
	return &load{
		clients: clients, ops: 80 / clients, depth: depth, leaving: 60, model: wholeModel(),
		generate: func(r *rand.Rand) call {
			key := func() string { return fmt.Sprint("k", r.IntN(keys)) }
			value := strconv.Itoa(r.IntN(1000))
			switch r.IntN(16) {
			case 0, 1:
				return call{"MSET", key(), value, key(), value, key(), value}
			case 2:
				return call{"MSETNX", key(), value, key(), value}
			case 3:
				return call{"DEL", key(), key(), key()}
			case 4, 5:
				return call{"RENAME", key(), key()}
			case 6, 7:
				return call{"MGET", "k3", "k2", "k1", "k0"}
			case 8:
				return call{"MGET", key(), key()}
			case 9:
				return call{"EXISTS", key(), key(), key()}
			case 10, 11:
				return call{"DBSIZE"}
			case 12:
				return call{"KEYS", key()}
			case 13:
				return call{"SET", key(), value}
			}
			return call{"KEYS", []string{"*", "k?"}[r.IntN(2)]}
		},
	}
}

// historyOptions are those of the servers whose histories are checked.
func historyOptions(shards int) []string {
	return []string{"--databases", strconv.Itoa(databases), "--shards", strconv.Itoa(shards), "--event-loops", "2", "--heavy-threads", "2"}
}

// TestLinearKeys: every history of commands on single keys could have happened
// one command after the other, each between its request and its reply.
func TestLinearKeys(t *testing.T) {
	addr := startFirn(t, buildFirn(t), historyOptions(4)...)
	// What the checker must look through grows fast with what is open at once on
	// a key: clients times depth, by eight keys.
	for _, c := range []struct{ clients, depth int }{{8, 1}, {16, 1}, {8, 4}, {16, 2}} {
		t.Run(fmt.Sprintf("%d clients, %d deep", c.clients, c.depth), func(t *testing.T) {
			requireLinear(t, keyLoad(c.clients, c.depth), addr, 3*time.Second)
		})
	}
}

// TestLinearKeyspace: the same for commands that see or change several keys at
// once, in shards that others are changing.
func TestLinearKeyspace(t *testing.T) {
	servers := map[string]string{
		"usual": startFirn(t, buildFirn(t), historyOptions(16)...),
		"aside": faultyAside(t, "", historyOptions(16)...), // nothing planted, all on the heavy pool
	}
	for name, addr := range servers {
		t.Run(name+", one by one", func(t *testing.T) { requireLinear(t, wholeLoad(6, 1), addr, 4*time.Second) })
		t.Run(name+", pipelined", func(t *testing.T) { requireLinear(t, wholeLoad(3, 3), addr, 4*time.Second) })
	}
}

// requireLinear fails the test with a picture of the history that can't be.
func requireLinear(t *testing.T, l *load, addr string, usual time.Duration) {
	ops, err := l.run(addr, testSeed(t), budget(t, usual))
	t.Logf("%d operations", ops)
	var v *violation
	if errors.As(err, &v) {
		path := filepath.Join(os.TempDir(), "firn-"+strings.NewReplacer("/", "-", " ", "-", ",", "").Replace(t.Name())+".html")
		require.NoError(t, porcupine.VisualizePath(v.model, v.info, path))
		t.Fatalf("%v; see %s", v, path)
	}
	require.NoError(t, err)
	require.Greater(t, ops, 500)
	requireAtRest(t, addr)
}

// TestLinearFindsFaults: servers that make the mistakes that these two checks
// are for must be found out.
func TestLinearFindsFaults(t *testing.T) {
	check := func(fault string, l *load) {
		t.Run(fault, func(t *testing.T) {
			ops, err := l.run(faultyAside(t, fault, historyOptions(16)...), testSeed(t), time.Minute)
			var v *violation
			require.ErrorAs(t, err, &v, "nobody noticed in %d operations", ops)
			require.Equal(t, porcupine.Illegal, v.verdict)
			t.Logf("found after %d operations", ops)
		})
	}
	check("reply-first", keyLoad(8, 1))
	check("reply-first", wholeLoad(6, 1))
	check("stale-version", wholeLoad(6, 1))
	check("torn-cut", wholeLoad(6, 1))
	check("torn-cut", shelfLoad(shelfLoads["sets"]))
	check("stale-version", shelfLoad(shelfLoads["sets"]))
	check("stale-version", shelfLoad(shelfLoads["hash"]))
	check("stale-version", shelfLoad(shelfLoads["queue"]))
	check("stale-version", shelfLoad(shelfLoads["scores"]))
	check("no-lock", shelfLoad(shelfLoads["sets"]))
	check("no-lock", execLoad(6, 1))
	check("no-splice", execLoad(6, 1))
}
