package commands

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

const (
	fuzzMaxBulk = 200_000 // bytes: values become objects, but never huge
	fuzzMaxCost = 20_000  // units of a row's Cost that a call may take
	fuzzCheck   = 256     // calls between two checks of the structure
)

// FuzzEveryCommand runs calls that are made of the input's bytes: every row,
// with arguments that were borrowed from the transcripts and spoilt. There must
// be one well-formed reply and no panic; the same reply on one store and on
// four; live and frozen reads must agree; a call that fails changes nothing;
// and the effects alone must make the same keyspace.
func FuzzEveryCommand(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(randomBytes(rand.New(rand.NewPCG(seed, 1)), 2000))
	}
	rows := fuzzRows(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		runRandom(t, rows, data[:min(len(data), 3000)])
	})
}

// TestRandomCommands is the same for a fixed time; FIRN_SEED repeats a run.
func TestRandomCommands(t *testing.T) {
	rows, seed := fuzzRows(t), testSeed(t)
	for round := range uint64(8) {
		runRandom(t, rows, randomBytes(rand.New(rand.NewPCG(seed, round)), 10_000))
	}
}

// testSeed draws a seed and prints it, or takes the one of FIRN_SEED.
func testSeed(t *testing.T) uint64 {
	seed := rand.Uint64()
	if s := os.Getenv("FIRN_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
		seed = n
	}
	t.Logf("repeat with FIRN_SEED=%d", seed)
	return seed
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint64())
	}
	return b
}

// A fuzzRow is a row with command lines for it to begin from.
type fuzzRow struct {
	row   *Command
	lines [][][]byte
}

// fuzzRows lists the rows by name, and their lines in the transcripts.
func fuzzRows(t testing.TB) []fuzzRow {
	table := NewTable(Families()...)
	lines := map[*Command][][][]byte{}
	for _, path := range glob(t) {
		for _, s := range parseFile(t, path).Steps {
			if s.Advance == 0 && lineSize(s.Args) < 2000 {
				row, _ := table.Resolve(s.Args)
				lines[row] = append(lines[row], s.Args)
			}
		}
	}
	var rows []fuzzRow
	var add func(row *Command)
	add = func(row *Command) {
		if row.Run != nil {
			rows = append(rows, fuzzRow{row, lines[row]})
		}
		for i := range row.Subs {
			add(&row.Subs[i])
		}
	}
	for _, row := range table.Rows() {
		add(row)
	}
	return rows
}

func lineSize(args [][]byte) (n int) {
	for _, a := range args {
		n += len(a)
	}
	return n
}

// A chooser makes decisions of bytes; when they are used up it is done.
type chooser struct{ data []byte }

func (c *chooser) done() bool { return len(c.data) == 0 }

// pick returns a number below n, at most 65536.
func (c *chooser) pick(n int) int {
	v := 0
	for size := 1; size < n && len(c.data) > 0; size <<= 8 {
		v = v<<8 | int(c.data[0])
		c.data = c.data[1:]
	}
	return v % n
}

func choose[T any](c *chooser, of []T) T { return of[c.pick(len(of))] }

// call makes a command line.
func (c *chooser) call(rows []fuzzRow) [][]byte {
	r := choose(c, rows)
	if len(r.lines) > 0 && c.pick(8) > 0 {
		return c.spoil(r.row, choose(c, r.lines))
	}
	args := rowName(r.row)
	n := max(r.row.Arity, -r.row.Arity)
	if r.row.Arity < 0 {
		n += c.pick(5)
	}
	for len(args) < n {
		args = append(args, c.word())
	}
	c.setKeys(r.row, args)
	return args
}

func rowName(row *Command) [][]byte {
	if p := row.Container(); p != nil {
		return append(rowName(p), []byte(row.Name))
	}
	return [][]byte{[]byte(row.Name)}
}

// spoil changes a line that means something in up to three places.
func (c *chooser) spoil(row *Command, line [][]byte) [][]byte {
	args := cloneArgs(line)
	if c.pick(4) > 0 {
		c.setKeys(row, args)
	}
	for range c.pick(4) {
		i := len(rowName(row)) + c.pick(8)
		switch {
		case i >= len(args):
			args = append(args, c.word())
		case c.pick(8) == 0:
			args = append(args[:i], args[i+1:]...)
		default:
			args[i] = c.word()
		}
	}
	return args
}

// setKeys puts keys where the row has keys, so that calls meet.
func (c *chooser) setKeys(row *Command, args [][]byte) {
	row.Keys.Each(args, func(i int) { args[i] = c.key() })
}

func (c *chooser) key() []byte {
	return []byte(choose(c, []string{"a", "b", "c", "n", "{a}x", "{a}y", "k1", "k2", "k3", "", "\x00\xff\r\n", "long" + strings.Repeat("k", 300)}))
}

func (c *chooser) word() []byte {
	switch c.pick(8) {
	case 0:
		return c.key()
	case 1:
		return bytes.Repeat([]byte{'x'}, choose(c, []int{0, 1, 44, 45, 300, 5000, 17_000, 70_000}))
	case 2:
		return []byte(choose(c, []string{"*", "k?", "[a-c]*", "\\", "a*b*c*", "[", "+inf", "-inf", "nan", "0x10", " 1", "1 ", "(1", "[a"}))
	case 3, 4:
		return []byte(choose(c, []string{
			"EX", "PX", "EXAT", "PXAT", "NX", "XX", "GT", "LT", "GET", "KEEPTTL", "PERSIST", "REPLACE", "DB", "MATCH", "COUNT", "TYPE", "string",
			"AND", "OR", "XOR", "NOT", "BIT", "BYTE", "SET", "INCRBY", "OVERFLOW", "WRAP", "SAT", "FAIL", "u8", "i64", "u63", "#1",
			"WITHSCORES", "WITHVALUES", "BYSCORE", "BYLEX", "REV", "LEFT", "RIGHT", "MAXLEN", "MINID", "~", "GROUP", "STREAMS", ">", "$", "FIELDS", "JUSTID",
			"FORCE", "RANK", "ANY", "CH", "INCR", "WEIGHTS", "AGGREGATE", "MAX", "IDX", "LEN", "MINMATCHLEN", "WITHMATCHLEN", "LIMIT", "ABSTTL", "IDLETIME", "FREQ", "ASC", "DESC", "ALPHA", "BY", "STORE",
		}))
	}
	return []byte(choose(c, []string{
		"0", "1", "-1", "2", "10", "100", "00", "-0", "3.5", "1e3", "4294967295", "4294967296", "-2147483649", "1500", "199999", "1796000001000",
		"9223372036854775807", "-9223372036854775808", "9223372036854775808", "9223372036854775", "18446744073709551615", "99999999999999999999",
		"1.7976931348623157e308", "5e-324", "12345678901234567890123456789012345678901234567890",
	}))
}

// runRandom is one run over two harnesses: one store, and four with disturbance.
func runRandom(t *testing.T, rows []fuzzRow, data []byte) {
	c := &chooser{data}
	one, four := newHarness(1, 1), newHarness(4, 1)
	four.rough = true
	both := []*harness{one, four}
	for _, h := range both {
		h.maxBulk, h.maxCost = fuzzMaxBulk, fuzzMaxCost
	}
	for _, l := range fuzzValues {
		runBoth(t, both, bytes.Fields([]byte(l)))
	}
	for n := 0; !c.done(); n++ {
		line := randomStep(t, c, both, rows)
		if n%fuzzCheck == 0 {
			checkAll(t, both, line)
		}
	}
	checkAll(t, both, nil)
	require.NoError(t, equalSpaces(one.space, four.space), "one store and four")
}

// fuzzValues make values of every type, so that each row meets each.
var fuzzValues = []string{
	"SET a 10",
	"SET n a-longer-text-than-an-integer-is",
	"HSET b a 1 b 2 1 3.5 k1 x",
	"RPUSH c a b 1 2 k1 3.5 a",
	"SADD {a}x 1 2 3 k1",
	"SADD {a}y a b 1 k1",
	"ZADD k1 1 a 2 b 3.5 1 -1 k1",
	"XADD k2 1-1 a 1 b 2",
	"PFADD k3 a b c",
	"GEOADD long 13.361389 38.115556 a 15.087269 37.502669 b",
	"HSET k1" + manyWords(300, " %d value"),
	"RPUSH k2" + manyWords(400, " %d"),
	"SADD k3" + manyWords(400, " m%d"),
	"ZADD a" + manyWords(300, " %[1]d %[1]d"),
}

// manyWords repeats words with numbers, for a value that is no longer flat.
func manyWords(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func checkAll(t *testing.T, both []*harness, line [][]byte) {
	for _, h := range both {
		if err := h.verify(); err != nil {
			t.Fatalf("within %d calls up to %s: %v", fuzzCheck, shown(line), err)
		}
	}
}

// randomStep lets time pass, or runs a call on both, and returns it.
func randomStep(t *testing.T, c *chooser, both []*harness, rows []fuzzRow) [][]byte {
	var line [][]byte
	switch c.pick(32) {
	case 0:
		d := choose(c, []time.Duration{1, 1, 10, 10, 100, 100, 1000, 3_600_000}) * time.Millisecond
		for _, h := range both {
			require.NoError(t, h.Advance(d))
		}
		return nil
	case 1:
		line = [][]byte{[]byte("SELECT"), strconv.AppendInt(nil, int64(c.pick(3)), 10)}
	case 2:
		line = bytes.Fields([]byte(choose(c, fuzzValues)))
		runBoth(t, both, [][]byte{[]byte("DEL"), line[1]}) // whatever it was
		line[1] = c.key()
	case 3:
		line = [][]byte{[]byte("HELLO"), strconv.AppendInt(nil, int64(2+c.pick(2)), 10)}
	default:
		line = c.call(rows)
	}
	runBoth(t, both, line)
	return line
}

// runBoth wants the same reply of the two, unless it is one of chance. The
// chances are the same for both, so that SPOP leaves the same.
func runBoth(t *testing.T, both []*harness, line [][]byte) {
	seed := both[0].chance.Uint64()
	for _, h := range both {
		h.chance = rand.New(rand.NewPCG(seed, 3))
	}
	drawn := both[0].drawn + both[1].drawn
	first, err := wellFormed(both[0], line)
	require.NoError(t, err)
	second, err := wellFormed(both[1], line)
	require.NoError(t, err)
	if both[0].drawn+both[1].drawn == drawn && !bytes.Equal(first, second) {
		require.Equal(t, string(first), string(second), "one store and four: %s", shown(line))
	}
}

func shown(line [][]byte) string {
	return fmt.Sprintf("%.1000s", (&transcript.Step{Args: line}).Command())
}

// wellFormed runs a call. Its reply must be one.
func wellFormed(h *harness, line [][]byte) ([]byte, error) {
	raw, err := h.Do("main", line)
	if err == nil {
		_, err = transcript.ReadAll(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown(line), err)
	}
	return raw, nil
}
