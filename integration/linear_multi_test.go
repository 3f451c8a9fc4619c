package integration

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// Two operations of a history are several command lines:
//
//	EXEC line…      the lines between MULTI and EXEC
//	CAS key value   WATCH key, GET key, and a transaction that sets it

// lines are the command lines that a client sends for the operation.
func (c call) lines() [][]string {
	switch c[0] {
	case "EXEC":
		all := [][]string{{"MULTI"}}
		for _, line := range c[1:] {
			all = append(all, strings.Fields(line))
		}
		return append(all, []string{"EXEC"})
	case "CAS":
		return [][]string{{"WATCH", c[1]}, {"GET", c[1]}, {"MULTI"}, {"SET", c[1], c[2]}, {"EXEC"}}
	}
	return [][]string{c}
}

// read reads the replies of the operation and returns what counts.
func (c call) read(w *wire) (reply string, err error) {
	n := len(c.lines())
	for i := range n {
		one, err := w.reply()
		if err != nil {
			return "", err
		}
		switch {
		case i == n-1:
			reply += one
		case c[0] == "CAS" && i == 1:
			reply = one + " "
		}
	}
	return reply, nil
}

func (w *world) applyExec(args call) string {
	var replies []string
	for _, line := range args[1:] {
		replies = append(replies, w.apply(strings.Fields(line)))
	}
	return "[" + strings.Join(replies, " ") + "]"
}

// applyCAS says whether a CAS can have ended like this: if its transaction was
// run, the key had the value that was read before. If not, nothing was done.
func (w *world) applyCAS(args call, r result) bool {
	k := w.at(args[1])
	switch {
	case r.unknown:
		*k = "=" + args[2] // or nothing; a load whose clients stay has none of these
		return true
	case r.reply == bulkOf(*k)+" [+OK]":
		*k = "=" + args[2]
		return true
	}
	return strings.HasSuffix(r.reply, " nil")
}

// execLoad: transactions on four keys among commands of one and of all keys.
func execLoad(clients, depth int) *load {
	key := func(r *rand.Rand) string { return fmt.Sprint("k", r.IntN(4)) }
	line := func(r *rand.Rand) string {
		switch r.IntN(9) {
		case 0, 1:
			return "INCR " + key(r)
		case 2:
			return "MSET " + key(r) + " 1 " + key(r) + " 2"
		case 3:
			return "DEL " + key(r) + " " + key(r)
		case 4:
			return "RENAME " + key(r) + " " + key(r)
		case 5:
			return "MGET k0 k1 k2 k3"
		case 6:
			return "DBSIZE"
		}
		return "SET " + key(r) + " " + strconv.Itoa(r.IntN(1000))
	}
	return &load{
		clients: clients, ops: 60 / clients, depth: depth, leaving: 1 << 30, model: wholeModel(),
		generate: func(r *rand.Rand) call {
			switch r.IntN(8) {
			case 0:
				return call{"MGET", "k0", "k1", "k2", "k3"}
			case 1:
				return call{"DBSIZE"}
			case 2:
				return call{"INCR", key(r)}
			case 3, 4:
				return call{"CAS", key(r), strconv.Itoa(r.IntN(1000))}
			}
			c := call{"EXEC"}
			for range 1 + r.IntN(4) {
				c = append(c, line(r))
			}
			return c
		},
	}
}

// TestLinearTransactions: a transaction takes effect at one instant, and one
// that watches a key only if that is as it was.
func TestLinearTransactions(t *testing.T) {
	servers := map[string]string{
		"usual": startFirn(t, buildFirn(t), historyOptions(16)...),
		"aside": faultyAside(t, "", historyOptions(16)...),
	}
	for name, addr := range servers {
		t.Run(name+", one by one", func(t *testing.T) { requireLinear(t, execLoad(6, 1), addr, 4*time.Second) })
		t.Run(name+", pipelined", func(t *testing.T) { requireLinear(t, execLoad(3, 2), addr, 4*time.Second) })
	}
}

// The checker tells good transactions from bad ones.
func TestCheckerRejectsBadTransactions(t *testing.T) {
	op := func(client int, from, to int64, reply string, args ...string) porcupine.Operation {
		return porcupine.Operation{ClientId: client, Input: call(args), Call: from, Output: result{reply: reply}, Return: to}
	}
	check := func(want porcupine.CheckResult, ops ...porcupine.Operation) {
		t.Helper()
		require.Equal(t, want, porcupine.CheckOperationsTimeout(wholeModel(), ops, checkTimeout))
	}
	both := op(0, 1, 10, "[:1 :1]", "EXEC", "INCR k0", "INCR k1")
	check(porcupine.Ok, both, op(1, 2, 3, `["1" "1"]`, "MGET", "k0", "k1"))
	check(porcupine.Illegal, both, op(1, 2, 3, `["1" nil]`, "MGET", "k0", "k1"))
	set := op(0, 1, 2, "+OK", "SET", "k0", "1")
	check(porcupine.Ok, set, op(1, 3, 9, `"1" [+OK]`, "CAS", "k0", "2"))
	check(porcupine.Ok, set, op(1, 3, 9, `"1" nil`, "CAS", "k0", "2"))
	check(porcupine.Illegal, set, op(2, 3, 4, "+OK", "SET", "k0", "5"), op(1, 5, 9, `"1" [+OK]`, "CAS", "k0", "2"))
}
