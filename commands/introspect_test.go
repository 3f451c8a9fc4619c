package commands

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// keyLines are command lines of all shapes that key specifications know, of
// commands that have no rows here yet as well.
var keyLines = []string{
	"sort list", "sort list store dest", "sort list by a get b store c store d", "sort list limit store 1 store x", "sort list store",
	"sort_ro list by x", "lmove a b left right", "blmove a b left right 0", "rpoplpush a b", "blpop a b c 0", "zrangestore a b 0 1",
	"zunionstore dest 2 a b weights 1 2", "zunionstore dest 3 a b", "zunionstore dest 0 a", "zunionstore dest 2x a b", "zunionstore dest -1 a",
	"zunion 2 a b", "zinter 02 a b", "zdiff +1 a", "zdiff 99999999999999999999 a", "zmpop 2 a b min", "bzmpop 0 1 a max", "lmpop 1 a left",
	"blmpop 1 2 a b left", "sintercard 2 a b limit 1", "sintercard 3 a b", "sinterstore d a b", "sdiff a b", "smove a b m",
	"eval script 0", "eval script 1 a", "eval script 2 a", "eval script 2 a b c", "evalsha x 1 k", "fcall f 1 k a", "fcall_ro f 0", "eval script x",
	"xread streams a b", "xread count 1 block 0 streams a b 1 2", "xread streams a b 0", "xread streams", "xread count streams streams a 0", "xread x streams a 0",
	"xreadgroup group g c noack streams a b > >", "xreadgroup group streams c streams a >", "xgroup create k g $", "xinfo stream k", "xgroup help",
	"georadius k 1 2 3 m", "georadius k 1 2 3 m store d", "georadius k 1 2 3 m store d storedist e", "georadius k 1 2 3 m store", "georadiusbymember k m 3 m storedist d",
	"georadius_ro k 1 2 3 m", "geosearchstore a b frommember m byradius 1 m",
	"migrate h 1 k 0 10", "migrate h 1 k 0 10 copy replace", `migrate h 1 "" 0 10 keys a b c`, `migrate h 1 x 0 10 keys a b`, `migrate h 1 "" 0 10 auth keys keys a`,
	`migrate h 1 "" 0 10 auth2 keys keys keys a b`, `migrate h 1 "" 0 10 copy keys`,
	"object encoding k", "object", "object help", "memory usage k", "memory doctor", "debug object k", "config get a", "subscribe a", "spublish c m", "ssubscribe c",
	"rename a b", "copy a b db 1", "del a b c", "watch a b", "restore k 0 x", "pfmerge d a b", "pfcount a b", "pfdebug encoding k", "pfselftest",
	"hset h f v", "zadd z 1 m", "setrange s 0 v", "getrange s 0 1", "substr s 0 1", "mget a", "ping", "multi", "flushall", "dbsize", "restore-asking k 0 x",
}

// TestGetKeysIsRedis compares COMMAND GETKEYS with redis-server for chosen
// command lines, and for random ones of every command.
func TestGetKeysIsRedis(t *testing.T) {
	redis := startRedis(t, findRedis(t))
	ours := newHarness(1, 1)
	ours.table = referenceTable()
	for _, line := range keyLines {
		for _, sub := range []string{"GETKEYS", "GETKEYSANDFLAGS"} {
			sameAsRedis(t, redis, ours, "COMMAND "+sub+" "+line, false)
		}
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	vocabulary := []string{"a", "b", "0", "1", "2", "3", "07", "2x", "streams", "count", "block", "group", "store", "storedist", "keys", "get", "by", "limit",
		"auth", "auth2", "set", "incrby", "overflow", "weights", "help", "KEYS", "Store", "from", "-1"}
	var names []string
	for name, p := range reference() {
		if !slices.Contains(laterCommands, name) && mayHaveKeys(&Command{full: name, Summary: p.Summary}) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	require.Greater(t, len(names), 150)
	for range 5000 {
		name := names[chance.IntN(len(names))]
		line := "COMMAND GETKEYSANDFLAGS "
		n := reference()[name].Arity
		if n < 0 {
			n = -n + chance.IntN(8)
		}
		words := 1
		for _, c := range name {
			if c == '|' {
				c, words = ' ', 2
			}
			line += string(c)
		}
		for range n - words {
			line += " " + vocabulary[chance.IntN(len(vocabulary))]
		}
		sameAsRedis(t, redis, ours, line, false)
	}
}

// TestGetKeysOfMany is a case of Redis' own tests: more keys than a fixed
// buffer would take.
func TestGetKeysOfMany(t *testing.T) {
	h := newHarness(1, 1)
	h.table = referenceTable()
	line, want := "COMMAND GETKEYS ZUNIONSTORE target 260", "*261\r\n$6\r\ntarget\r\n"
	for i := range 260 {
		key := fmt.Sprintf("key%d", i)
		line += " " + key
		want += fmt.Sprintf("$%d\r\n%s\r\n", len(key), key)
	}
	got, err := h.Do("", words(line))
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

// TestPositions: a row may find its keys by specifications.
func TestPositions(t *testing.T) {
	row := Command{Name: "ZUNIONSTORE", Arity: -4, Keys: Keys{Find: reference()["zunionstore"].KeySpecs.positions}}
	var got []int
	row.Keys.Each(words("zunionstore d 2 a b weights 1 2"), func(i int) { got = append(got, i) })
	require.Equal(t, []int{1, 3, 4}, got)
	require.Empty(t, row.Keys.Find(words("zunionstore d 9 a b")))
}

// TestRowWithoutPage: a command of ours alone is described by its row.
func TestRowWithoutPage(t *testing.T) {
	h := newHarness(1, 1)
	h.table = NewTable([]Command{
		{Name: "FIRN.MIX", Arity: -3, Keys: twoKeys, Flags: DenyOOM | NoMulti, Run: OnOwner(nil), Summary: "Mix two keys"},
		{Name: "FIRN.LOOK", Arity: 2, Run: OnView(nil), Summary: "Look"},
	}, introspectCommands)
	for line, want := range map[string]string{
		"COMMAND INFO firn.mix": "*1\r\n*10\r\n$8\r\nfirn.mix\r\n:-3\r\n*3\r\n+write\r\n+denyoom\r\n+no_multi\r\n:1\r\n:2\r\n:1\r\n*1\r\n+@slow\r\n*0\r\n*1\r\n" +
			"*6\r\n$5\r\nflags\r\n*0\r\n$12\r\nbegin_search\r\n*4\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n*2\r\n$5\r\nindex\r\n:1\r\n" +
			"$9\r\nfind_keys\r\n*4\r\n$4\r\ntype\r\n$5\r\nrange\r\n$4\r\nspec\r\n*6\r\n$7\r\nlastkey\r\n:1\r\n$7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n:0\r\n*0\r\n",
		"COMMAND DOCS firn.look":         "*2\r\n$9\r\nfirn.look\r\n*4\r\n$7\r\nsummary\r\n$4\r\nLook\r\n$5\r\ngroup\r\n$7\r\ngeneric\r\n",
		"COMMAND GETKEYS firn.mix a b c": "*2\r\n$1\r\na\r\n$1\r\nb\r\n",
		"COMMAND GETKEYS firn.look a":    "-" + string(ErrGetKeysNone) + "\r\n",
		"COMMAND COUNT":                  ":3\r\n",
	} {
		got, err := h.Do("", words(line))
		require.NoError(t, err)
		require.Equal(t, want, string(got), line)
	}
}
