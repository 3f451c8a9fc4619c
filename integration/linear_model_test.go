package integration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// worldKeys is how many keys the model has: k0, k1, …
const worldKeys = 8

// A world is the whole keyspace of the model: "" where a key is missing, else
// "=" and its value. Worlds are comparable, which the checker needs.
type world [worldKeys]string

// A call is a command line, as the checker gets it.
type call []string

// A result is what a client knows of how a call ended.
type result struct {
	reply   string
	unknown bool // the connection was lost: it happened at any time, or never
}

func (w *world) at(key string) *string { return &w[key[1]-'0'] }

// apply runs a command on the model and returns its reply, arrays of keys in
// order.
func (w *world) apply(args call) string {
	switch args[0] {
	case "MSET", "MSETNX", "RENAME":
		return w.applyMany(args)
	case "MGET", "DEL", "EXISTS", "KEYS", "DBSIZE":
		return w.applyAll(args)
	case "EXEC":
		return w.applyExec(args)
	}
	k := w.at(args[1])
	old := *k
	switch args[0] {
	case "GET":
		return bulkOf(old)
	case "GETDEL":
		*k = ""
		return bulkOf(old)
	case "SET":
		*k = "=" + args[2]
		return "+OK"
	case "SETNX":
		if old != "" {
			return ":0"
		}
		*k = "=" + args[2]
		return ":1"
	case "APPEND":
		*k = "=" + strings.TrimPrefix(old, "=") + args[2]
		return fmt.Sprint(":", len(*k)-1)
	case "INCR":
		n, _ := strconv.ParseInt(strings.TrimPrefix(old, "="), 10, 64)
		if old != "" && strconv.FormatInt(n, 10) != old[1:] { // 05 is none
			return "-ERR value is not an integer or out of range"
		}
		*k = fmt.Sprint("=", n+1)
		return fmt.Sprint(":", n+1)
	}
	panic("the model does not know " + args[0])
}

// applyMany is the part of apply for writes of several keys.
func (w *world) applyMany(args call) string {
	switch args[0] {
	case "RENAME":
		old := *w.at(args[1])
		if old == "" {
			return "-ERR no such key"
		}
		*w.at(args[1]) = ""
		*w.at(args[2]) = old
		return "+OK"
	case "MSETNX":
		for i := 1; i < len(args); i += 2 {
			if *w.at(args[i]) != "" {
				return ":0"
			}
		}
	}
	for i := 1; i < len(args); i += 2 {
		*w.at(args[i]) = "=" + args[i+1]
	}
	if args[0] == "MSETNX" {
		return ":1"
	}
	return "+OK"
}

// applyAll is the part of apply for what counts and lists.
func (w *world) applyAll(args call) string {
	var list []string
	n := 0
	for i, v := range w {
		if v != "" {
			n++
			key := fmt.Sprint("k", i)
			if args[0] == "KEYS" && (args[1] != key && !strings.ContainsAny(args[1], "*?")) {
				continue
			}
			list = append(list, strconv.Quote(key))
		}
	}
	switch args[0] {
	case "KEYS":
		return "[" + strings.Join(list, " ") + "]"
	case "DBSIZE":
		return fmt.Sprint(":", n)
	}
	n, list = 0, nil
	for _, key := range args[1:] {
		k := w.at(key)
		list = append(list, bulkOf(*k))
		if *k != "" {
			n++
		}
		if args[0] == "DEL" {
			*k = ""
		}
	}
	if args[0] == "MGET" {
		return "[" + strings.Join(list, " ") + "]"
	}
	return fmt.Sprint(":", n)
}

func bulkOf(cell string) string {
	if cell == "" {
		return "nil"
	}
	return strconv.Quote(cell[1:])
}

// reads says whether a command changes nothing: if its reply was lost, the
// history is the same without it.
func (c call) reads() bool {
	return slices.Contains([]string{
		"GET", "MGET", "EXISTS", "KEYS", "DBSIZE", "HGET", "HGETALL", "HLEN", "LRANGE", "SMEMBERS", "SUNION", "SDIFF", "SCARD", "ZRANGE",
	}, c[0])
}

// wholeModel takes the keyspace as one object.
func wholeModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return world{} },
		Step: func(state, in, out any) (bool, any) {
			w, r := state.(world), out.(result)
			if in.(call)[0] == "CAS" {
				return w.applyCAS(in.(call), r), w
			}
			reply := w.apply(in.(call))
			return r.unknown || r.reply == reply, w
		},
		DescribeOperation: func(in, out any) string {
			r := out.(result)
			if r.unknown {
				r.reply = "?"
			}
			return strings.Join(in.(call), " ") + " → " + r.reply
		},
		DescribeState: func(state any) string {
			w := state.(world)
			return strings.Join(w[:], " ")
		},
	}
}

// keyModel takes each key as an object of its own; every command has one key.
func keyModel() porcupine.Model {
	m := wholeModel()
	m.Partition = func(ops []porcupine.Operation) [][]porcupine.Operation {
		byKey := make([][]porcupine.Operation, worldKeys)
		for _, op := range ops {
			i := op.Input.(call)[1][1] - '0'
			byKey[i] = append(byKey[i], op)
		}
		return slices.DeleteFunc(byKey, func(ops []porcupine.Operation) bool { return len(ops) == 0 })
	}
	return m
}

// The checker itself must tell good from bad: histories written by hand, one
// line an operation with its call, its return and its reply.
func TestCheckerRejectsBadHistories(t *testing.T) {
	op := func(client int, from, to int64, reply string, args ...string) porcupine.Operation {
		return porcupine.Operation{ClientId: client, Input: call(args), Call: from, Output: result{reply, reply == "?"}, Return: to}
	}
	check := func(want porcupine.CheckResult, m porcupine.Model, ops ...porcupine.Operation) {
		t.Helper()
		require.Equal(t, want, porcupine.CheckOperationsTimeout(m, ops, checkTimeout))
	}
	set := op(0, 1, 2, "+OK", "SET", "k0", "a")
	check(porcupine.Ok, keyModel(), set, op(1, 3, 4, `"a"`, "GET", "k0"))
	check(porcupine.Illegal, keyModel(), set, op(1, 3, 4, "nil", "GET", "k0"))
	check(porcupine.Ok, keyModel(), op(0, 1, 5, "+OK", "SET", "k0", "a"), op(1, 3, 4, "nil", "GET", "k0"))
	check(porcupine.Illegal, keyModel(), op(0, 1, 5, "+OK", "SET", "k0", "a"),
		op(1, 2, 3, `"a"`, "GET", "k0"), op(1, 4, 5, "nil", "GET", "k0"))
	check(porcupine.Illegal, keyModel(), op(0, 1, 4, ":1", "INCR", "k1"), op(1, 2, 3, ":1", "INCR", "k1"))

	lost := op(0, 1, never, "?", "SET", "k0", "a")
	check(porcupine.Ok, keyModel(), lost, op(1, 3, 4, "nil", "GET", "k0"), op(1, 5, 6, `"a"`, "GET", "k0"))
	check(porcupine.Illegal, keyModel(), lost, op(1, 3, 4, `"a"`, "GET", "k0"), op(1, 5, 6, "nil", "GET", "k0"))

	mset := op(0, 1, 2, "+OK", "MSET", "k0", "a", "k1", "a")
	check(porcupine.Ok, wholeModel(), mset, op(1, 1, 9, `["k0" "k1"]`, "KEYS", "*"))
	check(porcupine.Illegal, wholeModel(), mset, op(1, 1, 9, `["k0"]`, "KEYS", "*"))
	moved := op(0, 5, 6, "+OK", "RENAME", "k0", "k2")
	check(porcupine.Ok, wholeModel(), mset, moved, op(1, 3, 9, `["k1" "k2"]`, "KEYS", "*"))
	check(porcupine.Illegal, wholeModel(), mset, moved, op(1, 3, 9, `["k0" "k1" "k2"]`, "KEYS", "*"))
	check(porcupine.Illegal, wholeModel(), mset, moved, op(1, 3, 9, ":3", "DBSIZE"))
}
