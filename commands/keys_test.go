package commands

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// A keyRig runs command lines without quotes and returns the reply to the last one,
// line ends as spaces, on a harness that is verified when the test ends.
type keyRig struct {
	*harness
	t       *testing.T
	changed int64 // Changes of the last effect
}

func newKeyRig(t *testing.T, stores int) *keyRig {
	r := &keyRig{harness: newHarness(stores, 1), t: t}
	t.Cleanup(func() { require.NoError(t, r.verify()) })
	return r
}

func (r *keyRig) do(line string) string { return r.doArgs(bytes.Fields([]byte(line))...) }

func (r *keyRig) doArgs(args ...[]byte) string {
	r.t.Helper()
	raw, err := r.Do("main", args)
	require.NoError(r.t, err)
	return strings.TrimSpace(strings.ReplaceAll(string(raw), "\r\n", " "))
}

// effect runs a line and returns what it tells the journal and the listeners.
func (r *keyRig) effect(line string) (effects, events string) {
	r.t.Helper()
	before := len(r.effects)
	args := bytes.Fields([]byte(line))
	s := r.session("main")
	row, err := r.table.Resolve(args)
	require.NoError(r.t, err)
	s.call.Now = r.now
	require.NoError(r.t, r.run(s, row, args))
	r.take(&s.out)
	r.changed = r.tx.Changes
	var told, noted []string
	for _, e := range r.harness.effects[before:] {
		told = append(told, fmt.Sprintf("%d:%s", e.DB, bytes.Join(e.Args, []byte(" "))))
	}
	for _, e := range s.call.Events() {
		noted = append(noted, fmt.Sprintf("%d:%s %s", e.DB, e.Name, e.Key))
	}
	r.do("EXISTS k") // whoever follows the effects does so after a whole Do
	return strings.Join(told, "; "), strings.Join(noted, "; ")
}

// TestKeyEffects checks what each write tells the journal and the listeners:
// what redis-server 7.0.15 writes to its append-only file, and its events.
func TestKeyEffects(t *testing.T) {
	r := newKeyRig(t, 4)
	f := func(line, effects, events string) {
		t.Helper()
		gotEffects, gotEvents := r.effect(line)
		require.Equal(t, effects, gotEffects, line)
		require.Equal(t, events, gotEvents, line)
	}
	r.do("MSET a 1 b 2 c 3 d 4 e 5")
	f("DEL a nope", "0:DEL a nope", "0:del a")
	f("UNLINK b", "0:UNLINK b", "0:del b")
	f("DEL nope", "", "")
	f("EXISTS c", "", "")
	f("TOUCH c", "", "")
	f("RENAME c x", "0:RENAME c x", "0:rename_from c; 0:rename_to x")
	f("RENAME x x", "", "")
	f("RENAMENX x d", "", "")
	f("RENAMENX x c", "0:RENAMENX x c", "0:rename_from x; 0:rename_to c")
	f("COPY c y", "0:COPY c y", "0:copy_to y")
	f("COPY c y", "", "")
	f("COPY c y DB 3 REPLACE", "0:COPY c y DB 3 REPLACE", "3:copy_to y")
	f("MOVE c 2", "0:MOVE c 2", "0:move_from c; 2:move_to c")
	f("MOVE c 2", "", "")
	at := func(ms int64) string { return fmt.Sprint(r.now + ms) }
	f("EXPIRE d 100", "0:PEXPIREAT d "+at(100_000), "0:expire d")
	f("PEXPIRE d 5 GT", "", "")
	f("PEXPIRE d 5000 LT", "0:PEXPIREAT d "+at(5000)+" LT", "0:expire d")
	f("PEXPIREAT d "+at(7), "0:PEXPIREAT d "+at(7), "0:expire d")
	f("EXPIREAT d 9999999999", "0:PEXPIREAT d 9999999999000", "0:expire d")
	f("PERSIST d", "0:PERSIST d", "0:persist d")
	f("PERSIST d", "", "")
	f("EXPIRE d -1", "0:DEL d", "0:del d")
	f("EXPIRE d -1", "", "")
	f("SWAPDB 0 1", "0:SWAPDB 0 1", "")
	f("FLUSHDB", "0:FLUSHDB", "")
	f("FLUSHDB SYNC", "0:FLUSHDB SYNC", "")
	f("FLUSHALL async", "0:FLUSHALL async", "")
	f("WAIT 0 0", "", "")
}

// TestExpiredEffects: a write that finds its key expired tells of its removal
// first.
func TestExpiredEffects(t *testing.T) {
	r := newKeyRig(t, 4)
	for _, line := range []string{"DEL k", "PERSIST k", "EXPIRE k 1", "MOVE k 1", "COPY k l"} {
		r.do("SET k v PX 1")
		require.NoError(t, r.Advance(time.Second))
		effects, _ := r.effect(line)
		require.Equal(t, "0:DEL k", effects, line)
	}
	r.do("SET k v")
	r.do("SET old v PX 1")
	require.NoError(t, r.Advance(time.Second))
	effects, _ := r.effect("RENAMENX k old")
	require.Equal(t, "0:DEL old; 0:RENAMENX k old", effects)
}

// TestDirty: what a write adds to INFO's rdb_changes_since_last_save.
func TestDirty(t *testing.T) {
	r := newKeyRig(t, 4)
	f := func(line string, want int64) {
		t.Helper()
		r.effect(line)
		require.Equal(t, want, r.changed, line)
	}
	r.do("MSET a 1 b 2 c 3 d 4")
	f("DEL a b nope", 2)
	f("RENAME c d", 1)
	f("COPY d e", 1)
	f("COPY d e REPLACE", 1)
	f("MOVE d 1", 1)
	f("EXPIRE e 100", 1)
	f("PERSIST e", 1)
	f("EXPIRE e -1", 1)
	f("SWAPDB 0 1", 1)
	r.do("MSET a 1 b 2 c 3")
	f("FLUSHDB", 4)
	f("FLUSHDB", 0)
}

// TestEncodingsMove: RENAME, COPY and MOVE keep a value as it is, across
// stores, and whatever its size.
func TestEncodingsMove(t *testing.T) {
	r := newKeyRig(t, 16)
	r.do("SET int 123")
	r.do("SET embstr abc")
	r.do("SET raw " + strings.Repeat("x", 100))
	r.do("SETRANGE object 200000 x")
	for _, k := range []string{"int", "embstr", "raw", "object"} {
		want, encoding := r.do("GET "+k), r.do("OBJECT ENCODING "+k)
		r.do("EXPIRE " + k + " 1000")
		for i := range 20 {
			require.Equal(t, ":1", r.do(fmt.Sprintf("COPY %s %s.%d", k, k, i)))
			require.Equal(t, "+OK", r.do(fmt.Sprintf("RENAME %s.%d %s:%d", k, i, k, i)))
			name := fmt.Sprintf("%s:%d", k, i)
			require.Equal(t, ":1", r.do("MOVE "+name+" 5"))
			r.do("SELECT 5")
			require.Equal(t, want, r.do("GET "+name))
			require.Equal(t, encoding, r.do("OBJECT ENCODING "+name))
			require.Equal(t, ":1000", r.do("TTL "+name))
			r.do("SELECT 0")
		}
	}
	require.Equal(t, ":4", r.do("DBSIZE"))
}

// TestLongDelete pauses, and deletes what it was told to.
func TestLongDelete(t *testing.T) {
	r := newKeyRig(t, 4)
	r.rough = true
	line, sets := "", ""
	for i := range 2000 {
		line += fmt.Sprintf(" key:%d", i)
		sets += fmt.Sprintf(" key:%d v", i)
	}
	r.do("MSET" + sets)
	require.Equal(t, ":2000", r.do("EXISTS"+line))
	require.Equal(t, ":2000", r.do("TOUCH"+line))
	require.Equal(t, ":2000", r.do("UNLINK"+line+" nope"))
	require.Equal(t, ":0", r.do("DBSIZE"))
}

// TestTouchOverridesNoTouch: CLIENT NO-TOUCH leaves clocks alone, TOUCH is the
// exception.
func TestTouchOverridesNoTouch(t *testing.T) {
	r := newKeyRig(t, 1)
	r.do("SET k v")
	require.NoError(t, r.Advance(time.Minute))
	run := func(line string) {
		c := r.session("main").call
		c.Begin(r.table.Lookup([]byte(strings.Fields(line)[0])), bytes.Fields([]byte(line)))
		var v mvcc.View
		v.LiveView(r.space, 0, r.now)
		v.NoTouch = true
		require.NoError(t, RunView(&c, &v))
		require.True(t, v.NoTouch)
		c.Out.Reset()
	}
	run("GET k")
	require.Equal(t, ":60", r.do("OBJECT IDLETIME k"))
	run("TOUCH k")
	require.Equal(t, ":0", r.do("OBJECT IDLETIME k"))
}

// TestFrequency: OBJECT FREQ tells the counter with its decay.
func TestFrequency(t *testing.T) {
	r := newKeyRig(t, 1)
	r.do("CONFIG SET maxmemory-policy allkeys-lfu")
	r.do("CONFIG SET lfu-decay-time 1")
	r.do("CONFIG SET lfu-log-factor 0")
	r.do("SET k v")
	require.Equal(t, ":5", r.do("OBJECT FREQ k"))
	for range 10 {
		r.do("GET k")
	}
	require.Equal(t, ":15", r.do("OBJECT FREQ k"))
	require.NoError(t, r.Advance(5*time.Minute))
	require.Equal(t, ":10", r.do("OBJECT FREQ k"))
}

// TestMemoryUsage: MEMORY USAGE grows with what the key takes.
func TestMemoryUsage(t *testing.T) {
	r := newKeyRig(t, 1)
	size := func(k string) (n int64) {
		_, err := fmt.Sscanf(r.do("MEMORY USAGE "+k), ":%d", &n)
		require.NoError(t, err)
		return n
	}
	r.do("SET k " + strings.Repeat("x", 1000))
	small := size("k")
	require.InDelta(t, 1040, small, 30)
	r.do("EXPIRE k 100")
	require.Greater(t, size("k"), small)
	r.do("SET big " + strings.Repeat("x", 1_000_000))
	require.InDelta(t, 1_000_000, size("big"), 100_000)
}
