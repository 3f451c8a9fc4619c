package commands

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// stringRig runs the rows of the string family on a keyspace of its own.
type stringRig struct {
	space *mvcc.Space
	table *Table
	c     Call
	tx    mvcc.Tx
}

func newStringRig() *stringRig {
	r := &stringRig{
		space: mvcc.NewSpace(4, 1, mvcc.Seed{1, 2}.Hasher()),
		table: NewTable(stringCommands),
	}
	r.c = Call{Out: &Reply{}, Table: r.table, Now: 1_700_000_000_000, MaxBulk: 512 << 20, WantEvents: true}
	return r
}

// run runs a command line and leaves its reply in r.c.Out.
func (r *stringRig) run(args [][]byte) {
	r.c.Out.Reset()
	row, err := r.table.Resolve(args)
	r.c.Begin(row, args)
	r.tx.Begin(r.space, 0, r.c.Now)
	switch {
	case err != nil:
		r.c.Out.Error(err)
	case row.Run.Kind() == KindView:
		_ = RunView(&r.c, &r.tx.View)
	default:
		_ = RunOwner(&r.c, &r.tx)
	}
}

// do runs a command line without quotes, and returns the reply as it is sent,
// line ends as spaces.
func (r *stringRig) do(line string) string {
	r.run(bytes.Fields([]byte(line)))
	return strings.TrimSpace(strings.ReplaceAll(string(r.c.Out.Bytes()), "\r\n", " "))
}

func (r *stringRig) effects() string {
	var lines []string
	for _, e := range r.c.Effects(&r.tx) {
		lines = append(lines, string(bytes.Join(e.Args, []byte(" "))))
	}
	return strings.Join(lines, "; ")
}

func (r *stringRig) events() string {
	var names []string
	for _, e := range r.c.Events() {
		names = append(names, fmt.Sprintf("%c%s", e.Class, e.Name))
	}
	return strings.Join(names, " ")
}

// What the append-only file and replicas are told, and what keyspace events
// tell, as Redis 7.0.15 does it.
func TestStringEffectsAndEvents(t *testing.T) {
	r := newStringRig()
	check := func(line, effects, events string) {
		t.Helper()
		r.do(line)
		require.Equal(t, effects, r.effects(), line)
		require.Equal(t, events, r.events(), line)
		require.NoError(t, r.space.Check())
	}
	check("SET k v", "SET k v", "$set")
	check("SET k v2 EX 10", "SET k v2 PXAT 1700000010000", "$set gexpire")
	check("SET k v2 PX 10 XX GET", "SET k v2 PXAT 1700000000010", "$set gexpire")
	check("SET k v2 EXAT 1700000001", "SET k v2 PXAT 1700000001000", "$set gexpire")
	check("SET k v3 KEEPTTL", "SET k v3 KEEPTTL", "$set")
	check("SET k v3 get KEEPTTL GET xx", "SET k v3 KEEPTTL xx", "$set")
	check("SET k v4 NX", "", "")
	check("SET k v4 NX GET", "", "")
	check("SET other v4 XX", "", "")
	check("SET k v EX 0", "", "")
	check("SETNX k v", "", "")
	check("SETNX nx v", "SETNX nx v", "$set")
	check("SETEX k 10 v", "SET k v PXAT 1700000010000", "$set gexpire")
	check("PSETEX k 10 v", "SET k v PXAT 1700000000010", "$set gexpire")
	check("GETSET k w", "SET k w", "$set")
	check("GETEX k", "", "")
	check("GETEX k PERSIST", "", "")
	check("GETEX k EX 10", "PEXPIREAT k 1700000010000", "gexpire")
	check("GETEX k PERSIST", "PERSIST k", "gpersist")
	check("GETEX k PXAT 1700000000001", "PEXPIREAT k 1700000000001", "gexpire")
	check("GETEX k PXAT 1700000000000", "DEL k", "gdel")
	check("GETEX k EX 10", "", "")
	check("GETDEL k", "", "")
	check("GETDEL nx", "DEL nx", "gdel")
	check("MSET a 1 b 2", "MSET a 1 b 2", "$set $set")
	check("MSETNX c 1 b 2", "", "")
	check("MSETNX c 1 d 2", "MSETNX c 1 d 2", "$set $set")
	check("APPEND a 1", "APPEND a 1", "$append")
	check("APPEND e 1", "APPEND e 1", "$append")
	check("SETRANGE a 0 2", "SETRANGE a 0 2", "$setrange")
	check("INCR a", "INCR a", "$incrby")
	check("DECRBY a 5", "DECRBY a 5", "$incrby")
	check("INCRBYFLOAT a 0.5", "SET a 17.5 KEEPTTL", "$incrbyfloat")
	check("INCRBYFLOAT a x", "", "")
	check("GET a", "", "")
}

// A key that has expired is removed, and told of, before it is written.
func TestStringsOverExpiredKey(t *testing.T) {
	for line, want := range map[string]string{
		"SET k w":         "DEL k; SET k w",
		"SET k w NX":      "DEL k; SET k w NX",
		"SET k w XX":      "DEL k",
		"SET k w KEEPTTL": "DEL k; SET k w KEEPTTL",
		"SET k w GET":     "DEL k; SET k w",
		"GETSET k w":      "DEL k; SET k w",
		"GETDEL k":        "DEL k",
		"GETEX k PERSIST": "DEL k",
		"APPEND k w":      "DEL k; APPEND k w",
		"SETRANGE k 0 w":  "DEL k; SETRANGE k 0 w",
		"INCR k":          "DEL k; INCR k",
		"MSET a 1 k 2":    "DEL k; MSET a 1 k 2",
		"MSETNX a 1 k 2":  "DEL k; MSETNX a 1 k 2",
	} {
		r := newStringRig()
		r.do("SET k 41 PX 100")
		r.c.Now += 100
		r.do(line)
		require.Equal(t, want, r.effects(), line)
	}
}

func TestIncrKeepsExpiryAndEncoding(t *testing.T) {
	r := newStringRig()
	for _, tc := range []struct {
		line string
		want mvcc.Encoding
	}{
		{"SET k 10 PX 500", mvcc.Int},
		{"INCR k", mvcc.Int},
		{"DECRBY k 100", mvcc.Int},
		{"APPEND k 1", mvcc.Raw},
		{"INCRBY k 5", mvcc.Int},
		{"INCRBYFLOAT k 1", mvcc.Embstr},
		{"SETRANGE k 0 1", mvcc.Raw},
		{"INCRBYFLOAT k 1", mvcc.Embstr},
		{"INCR k", mvcc.Int},
		{"SET k word KEEPTTL", mvcc.Embstr},
		{"APPEND k x", mvcc.Raw},
	} {
		r.do(tc.line)
		e, ok := r.tx.Peek([]byte("k"))
		require.True(t, ok, tc.line)
		require.Equal(t, tc.want, e.Encoding(), tc.line)
		require.Equal(t, r.c.Now+500, e.Expire(), tc.line)
	}
}

// What a reply keeps of a big value stays as it was when the command goes on to
// overwrite or delete the key.
func TestBigOldValueInReply(t *testing.T) {
	old := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	for _, line := range []string{"GETSET k x", "SET k x GET", "GETDEL k", "GETEX k PXAT 1"} {
		r := newStringRig()
		r.run([][]byte{[]byte("SET"), []byte("k"), old})
		r.do(line)
		first := r.c.Out.Take()
		r.do("SETRANGE k 0 yyyy")
		require.Equal(t, fmt.Sprintf("$%d\r\n%s\r\n", len(old), old), string(bytes.Join(first, nil)), line)
	}
}

// Row K1: lengths are checked before anything is allocated, and also where
// adding them would overflow.
func TestLengthLimit(t *testing.T) {
	r := newStringRig()
	r.c.MaxBulk = 10
	require.Equal(t, ":10", r.do("SETRANGE k 9 x"))
	require.Equal(t, "-"+string(ErrMaxString), r.do("SETRANGE k 10 x"))
	require.Equal(t, "-"+string(ErrMaxString), r.do("SETRANGE k 9223372036854775807 x"))
	require.Equal(t, "-"+string(ErrMaxString), r.do("APPEND k x"))
	require.Equal(t, ":11", r.do("APPEND new 12345678901"), "as in Redis: the protocol limits an argument")
	require.Equal(t, ":10", r.do("STRLEN k"))
}

// Pauses come only between elements, and leave the reply whole.
func TestManyKeysPause(t *testing.T) {
	r := newStringRig()
	mset, mget := []string{"MSET"}, []string{"MGET"}
	for i := range 1000 {
		mset = append(mset, fmt.Sprint("k", i), fmt.Sprint(i))
		mget = append(mget, fmt.Sprint("k", i))
	}
	r.do(strings.Join(mset, " "))
	args := bytes.Fields([]byte(strings.Join(mget, " ")))
	row := r.table.Lookup(args[0])
	pauses := 0
	r.c.Out.Reset()
	r.c.Begin(row, args)
	r.c.Pause = func() { pauses++ }
	require.Equal(t, 1000, row.Cost(&r.c, &r.tx.View))
	require.NoError(t, RunView(&r.c, &r.tx.View))
	require.Equal(t, 3, pauses)
	require.True(t, strings.HasSuffix(string(r.c.Out.Bytes()), "$3\r\n999\r\n"))
	require.Equal(t, 1000, bytes.Count(r.c.Out.Bytes(), []byte("\r\n$")))
}

func (r *stringRig) bench(b *testing.B, line string) {
	args := bytes.Fields([]byte(line))
	r.c.WantEvents = false
	b.ReportAllocs()
	for b.Loop() {
		r.run(args)
		if r.c.Out.Bytes()[0] == '-' {
			b.Fatal(string(r.c.Out.Bytes()))
		}
	}
}

func BenchmarkSet(b *testing.B)    { newStringRig().bench(b, "SET key:000012345 xxxxxxxxxxxxxxxx") }
func BenchmarkSetInt(b *testing.B) { newStringRig().bench(b, "SET key:000012345 123456") }
func BenchmarkIncr(b *testing.B)   { newStringRig().bench(b, "INCR key:000012345") }

func BenchmarkGet(b *testing.B) {
	r := newStringRig()
	r.do("SET key:000012345 xxxxxxxxxxxxxxxx")
	r.bench(b, "GET key:000012345")
}

// The paths that carry most of the load don't allocate.
func TestHotPathsDoNotAllocate(t *testing.T) {
	r := newStringRig()
	r.c.WantEvents = false
	for _, line := range []string{"SET key:000012345 xxxxxxxx", "GET key:000012345", "SET key:000012345 77", "INCR key:000012345"} {
		args := bytes.Fields([]byte(line))
		require.Zero(t, testing.AllocsPerRun(1000, func() { r.run(args) }), line)
	}
}
