package commands

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"firn/commands/transcript"
	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

const (
	duelRound = 1000             // lines from one empty keyspace to the next
	duelUsual = 20_000           // lines of a run; FIRN_DUEL is another number
	duelHurry = 30 * time.Second // what the shrinking of a difference may take
)

// TestTypesDuel sends random lines of the commands of all types to redis-server
// and to the rows: the replies must be the same, and at the end of each round
// the digest of all data, and every encoding. FIRN_SEED repeats a run, FIRN_DUEL
// is its length in lines.
func TestTypesDuel(t *testing.T) {
	d := &typesDuel{redis: startRedis(t, findRedis(t), "--hz", "1", "--enable-protected-configs", "yes")}
	seed, lines := testSeed(t), duelUsual
	if s := os.Getenv("FIRN_DUEL"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		lines = n
	}
	for round := range uint64(lines / duelRound) {
		r := duelTalk{rand.New(rand.NewPCG(seed, round))}
		var round [][]string
		for range duelRound {
			round = append(round, r.line())
		}
		if at, err := d.run(round); err != nil {
			short, err := d.shrink(round[:min(at+1, len(round))], err)
			t.Fatalf("line %d: %v, after\n%s", d.lines, err, duelText(short))
		}
	}
	t.Logf("%d lines, %d of them refused", d.lines, d.refused)
	require.Less(t, d.refused, d.lines/3, "most lines must mean something")
}

func duelText(lines [][]string) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "  %.300q\n", l)
	}
	return b.String()
}

// A typesDuel runs lines on both sides.
type typesDuel struct {
	redis          *transcript.Remote
	firn           *harness
	lines, refused int // so far
}

// run plays the lines from an empty keyspace and says where the two differ.
func (d *typesDuel) run(lines [][]string) (at int, err error) {
	_ = d.redis.Close() // a connection has a minute
	d.firn = newHarness(4, 1)
	d.firn.rough = true
	for _, line := range duelStart() {
		if _, _, err := d.both(line); err != nil {
			return 0, err
		}
	}
	for i, line := range lines {
		if err := d.line(line); err != nil {
			return i, fmt.Errorf("%.300q: %w", line, err)
		}
	}
	return len(lines), d.end()
}

// duelStart makes both sides what they were at the beginning.
func duelStart() [][]string {
	lines := [][]string{{"DEBUG", "SET-ACTIVE-EXPIRE", "0"}, {"HELLO", "2"}, {"FLUSHALL"}, {"SELECT", "0"}}
	for name, n := range map[string]string{
		"hash-max-listpack-entries": "512", "hash-max-listpack-value": "64", "set-max-intset-entries": "512", "hll-sparse-max-bytes": "3000",
		"zset-max-listpack-entries": "128", "zset-max-listpack-value": "64", "stream-node-max-bytes": "4096", "stream-node-max-entries": "100",
	} {
		lines = append(lines, []string{"CONFIG", "SET", name, n})
	}
	return lines
}

// shrink leaves lines out as long as the two differ over the rest.
func (d *typesDuel) shrink(lines [][]string, why error) ([][]string, error) {
	until := time.Now().Add(duelHurry)
	for size := len(lines) / 2; size > 0 && time.Now().Before(until); size = (size + 1) / 2 {
		before := len(lines)
		for from := 0; from+size <= len(lines) && time.Now().Before(until); {
			rest := slices.Concat(lines[:from], lines[from+size:])
			at, err := d.run(rest)
			if err == nil {
				from += size
				continue
			}
			lines, why = rest[:min(at+1, len(rest))], err
		}
		if size == 1 && len(lines) == before {
			break
		}
	}
	return lines, why
}

func duelArgs(line []string) [][]byte {
	args := make([][]byte, len(line))
	for i, w := range line {
		args[i] = []byte(w)
	}
	return args
}

// both sends a line to the two, the clock being the same.
func (d *typesDuel) both(line []string) (want, got []byte, err error) {
	args := duelArgs(line)
	d.firn.now = time.Now().UnixMilli()
	if want, err = d.redis.Do("main", args); err != nil {
		return nil, nil, err
	}
	got, err = d.firn.Do("main", args)
	return want, got, err
}

// line runs one line of a round and compares the replies.
func (d *typesDuel) line(line []string) error {
	d.lines++
	switch {
	case line[0] == "@exchange":
		return d.exchange(line[1])
	case line[0] == "@soon":
		return d.expireSoon(line[1])
	case duelRandom[line[0]]:
		return d.random(line)
	case line[0] == "HELLO":
		_, _, err := d.both(line)
		return err
	}
	want, got, err := d.both(line)
	if err == nil && bytes.HasPrefix(want, []byte(noWeight)) && !bytes.Equal(want, got) {
		// SORT trusts errno, which may still be of another number.
		_, err1 := d.redis.Do("main", duelArgs([]string{"CONFIG", "SET", "dir", "/nonexistent"}))
		want, got, err = d.both(line)
		err = errors.Join(err1, err)
	}
	if err != nil {
		return err
	}
	if want[0] == '-' {
		d.refused++
	}
	if (line[0] == "SORT" || line[0] == "SORT_RO") && len(line) > 1 && d.typeOf(line[1]) == mvcc.ZSet {
		// Redis sorts no listpack: it makes a skiplist of it first.
		if err := d.exchange(line[1]); err != nil {
			return err
		}
	}
	a, b := withoutSigns(want), withoutSigns(got)
	if bytes.Equal(a, b) || d.freeOrder(line) && orderlessReply(line[0], a) == orderlessReply(line[0], b) {
		return nil
	}
	return fmt.Errorf("redis-server answers\n%.600q, not\n%.600q", want, got)
}

const noWeight = "-ERR One or more scores can't be converted into double"

// withoutSigns makes 0 of a score that is -0: Redis keeps the sign in its large
// sorted sets and loses it in small ones.
func withoutSigns(raw []byte) []byte {
	raw = bytes.ReplaceAll(raw, []byte("$2\r\n-0\r\n"), []byte("$1\r\n0\r\n"))
	return bytes.ReplaceAll(raw, []byte(",-0\r\n"), []byte(",0\r\n"))
}

// expireSoon lets a key expire while redis-server sleeps.
func (d *typesDuel) expireSoon(key string) error {
	soon := strconv.FormatInt(time.Now().UnixMilli()+25, 10)
	want, got, err := d.both([]string{"PEXPIREAT", key, soon})
	if err == nil && !bytes.Equal(want, got) {
		err = fmt.Errorf("%q is not %q", got, want)
	}
	if err != nil {
		return err
	}
	_, err = d.redis.Do("main", duelArgs([]string{"DEBUG", "SLEEP", "0.03"}))
	return err
}

// freeOrder says whether Redis promises no order for a reply: that of its hash
// tables.
func (d *typesDuel) freeOrder(line []string) bool {
	switch line[0] {
	case "KEYS", "SCAN", "SMEMBERS", "SINTER", "SUNION", "SDIFF", "SSCAN", "HKEYS", "HVALS", "HGETALL", "HSCAN", "ZSCAN":
		return true
	case "SORT", "SORT_RO": // equal weights, texts that are equal up to a zero byte, and what isn't sorted
		typ := d.typeOf(line[1])
		return typ == mvcc.Set || typ == mvcc.ZSet && (slices.Contains(line, "BY") || slices.Contains(line, "ALPHA"))
	}
	return false
}

func (d *typesDuel) peek(key string) (mvcc.Entry, bool) {
	var v mvcc.View
	v.LiveView(d.firn.space, d.firn.session("main").call.DB, time.Now().UnixMilli())
	return v.Peek([]byte(key))
}

func (d *typesDuel) typeOf(key string) mvcc.Type {
	e, ok := d.peek(key)
	if !ok {
		return mvcc.String
	}
	return e.Type()
}

// orderlessReply prints a reply with the elements of its arrays in order; pairs
// stay together.
func orderlessReply(name string, raw []byte) string {
	v, err := transcript.ReadAll(raw)
	if err != nil {
		return err.Error()
	}
	step := 1
	if name == "HGETALL" || name == "HSCAN" || name == "ZSCAN" {
		step = 2
	}
	return sortedElems(v, step)
}

func sortedElems(v transcript.Reply, step int) string {
	if len(v.Elems) == 0 {
		return v.String()
	}
	if len(v.Elems) == 2 && v.Elems[1].Kind == '*' { // a page of a scan
		return v.Elems[0].Text + " " + sortedElems(v.Elems[1], step)
	}
	var all []string
	for e := range slices.Chunk(v.Elems, step) {
		var b strings.Builder
		for _, x := range e {
			b.WriteString(x.String() + " ")
		}
		all = append(all, b.String())
	}
	slices.Sort(all)
	return fmt.Sprintf("%c %q", v.Kind, all)
}

// duelRandom are the commands that choose by chance.
var duelRandom = map[string]bool{"SPOP": true, "SRANDMEMBER": true, "HRANDFIELD": true, "ZRANDMEMBER": true, "RANDOMKEY": true}

// random compares the shape of two replies, wants ours to be what is there, and
// gives both sides what redis-server has then.
func (d *typesDuel) random(line []string) error {
	if d.endless(line) {
		return nil
	}
	before := d.members(line)
	want, got, err := d.both(line)
	if err != nil || bytes.Equal(want, got) && line[0] != "SPOP" {
		return err
	}
	a, err1 := transcript.ReadAll(want)
	b, err2 := transcript.ReadAll(got)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	bad := a.Kind != b.Kind || a.Null != b.Null || a.Kind == '-' && a.Text != b.Text || len(a.Elems) != len(b.Elems)
	if !bad && line[0] != "RANDOMKEY" && b.Kind != '-' && !b.Null {
		bad = !drawnFrom(before, line, b)
	}
	if bad {
		return fmt.Errorf("redis-server answers\n%.600q, not\n%.600q", want, got)
	}
	if line[0] == "SPOP" && len(line) > 1 {
		return d.exchange(line[1])
	}
	return nil
}

// endless says whether the line asks for more members, with repetitions, than
// there is memory for.
func (d *typesDuel) endless(line []string) bool {
	if len(line) < 3 {
		return false
	}
	n, err := strconv.ParseInt(line[2], 10, 64)
	return err == nil && n < -100_000
}

// members copies what a random command can choose from: members with their
// values.
func (d *typesDuel) members(line []string) map[string]string {
	all := map[string]string{}
	if len(line) < 2 {
		return all
	}
	e, ok := d.peek(line[1])
	if !ok {
		return all
	}
	switch e.Type() {
	case mvcc.Hash:
		h := e.Hash(0)
		h.Each(func(f, v []byte) bool { all[string(f)] = string(v); return true })
	case mvcc.Set:
		s := e.Set(0)
		s.Each(func(m []byte) bool { all[string(m)] = ""; return true })
	case mvcc.ZSet:
		z := e.ZSet(0)
		z.Ascend(0, func(m []byte, score float64) bool { all[string(m)] = string(AppendDouble(nil, score)); return true })
	}
	return all
}

// drawnFrom says whether the reply can be drawn from the members: each different
// unless the line's count is negative.
func drawnFrom(members map[string]string, line []string, v transcript.Reply) bool {
	leaves := appendLeaves(nil, v)
	step := 1
	if len(line) > 3 {
		step = 2
	}
	seen := map[string]bool{}
	for pair := range slices.Chunk(leaves, step) {
		value, ok := members[pair[0]]
		if !ok || step == 2 && pair[1] != value {
			return false
		}
		seen[pair[0]] = true
	}
	repeated := len(line) > 2 && strings.HasPrefix(line[2], "-")
	return repeated || len(seen) == len(leaves)/step
}

func appendLeaves(to []string, v transcript.Reply) []string {
	if v.Kind != '*' && v.Kind != '~' && v.Kind != '%' {
		return append(to, v.Text)
	}
	for _, e := range v.Elems {
		to = appendLeaves(to, e)
	}
	return to
}

// exchange passes a value as a payload: redis-server's to both sides, and then
// ours to both.
func (d *typesDuel) exchange(key string) error {
	for _, p := range []transcript.Player{d.redis, d.firn} {
		raw, err := p.Do("main", duelArgs([]string{"DUMP", key}))
		if err != nil {
			return err
		}
		payload, err1 := transcript.ReadAll(raw)
		when, got, err2 := d.both([]string{"PEXPIRETIME", key})
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !bytes.Equal(when, got) {
			return fmt.Errorf("PEXPIRETIME is %q, not %q", when, got)
		}
		if payload.Null {
			continue
		}
		at := strings.Trim(string(when), ":\r\n")
		if at == "-1" {
			at = "0"
		}
		want, got, err := d.both([]string{"RESTORE", key, at, payload.Text, "REPLACE", "ABSTTL"})
		if err != nil || string(want) != "+OK\r\n" || string(got) != "+OK\r\n" {
			return errors.Join(err, fmt.Errorf("RESTORE of %.600q: %q, %q", payload.Text, want, got))
		}
	}
	return nil
}

// end compares all there is.
func (d *typesDuel) end() error {
	for _, db := range []string{"1", "0"} {
		if _, _, err := d.both([]string{"SELECT", db}); err != nil {
			return err
		}
		if err := d.endOfDatabase(); err != nil {
			return fmt.Errorf("at the end, in database %s, %w", db, err)
		}
	}
	want, err := d.redis.Do("main", duelArgs([]string{"DEBUG", "DIGEST"}))
	if got := "+" + dataDigest(d.firn.space, d.firn.now) + "\r\n"; err != nil || string(want) != got {
		return errors.Join(err, fmt.Errorf("the digest of all is %q, not %q", want, got))
	}
	return d.firn.verify()
}

// endOfDatabase compares the keys one by one.
func (d *typesDuel) endOfDatabase() error {
	keys := append(slices.Clip(duelKeys), duelWords["lexkey"]...)
	for key := range contents(d.firn.space, d.firn.session("main").call.DB) {
		keys = append(keys, key)
	}
	if _, _, err := d.both(append([]string{"EXISTS"}, keys...)); err != nil { // what has expired goes
		return err
	}
	for _, key := range keys {
		for _, line := range [][]string{{"TYPE", key}, {"OBJECT", "ENCODING", key}, {"PEXPIRETIME", key}, {"ZRANGE", key, "0", "-1", "WITHSCORES"}} {
			want, got, err := d.both(line)
			if err != nil || !bytes.Equal(withoutSigns(want), withoutSigns(got)) {
				return errors.Join(err, fmt.Errorf("%q answers %.600q, not %.600q", line, want, got))
			}
			if bytes.Equal(want, got) {
				continue
			}
			if err := d.exchange(key); err != nil { // so that the signs are the same
				return err
			}
		}
	}
	return nil
}

// dataDigest is that of DEBUG DIGEST.
func dataDigest(s *mvcc.Space, now int64) string {
	var all Digest
	for db := range s.Databases() {
		numbered := false
		for _, st := range s.Stores {
			v := st.Freeze(db)
			v.Ascend(0, func(_ uint64, e mvcc.Entry) bool {
				if !numbered {
					numbered = true
					all.MixNumber(db)
				}
				var one Digest
				one.Mix(e.Key())
				one.MixEntry(&e, now, func() {})
				all.Xor(one[:])
				return true
			})
			v.Release()
		}
	}
	return hex.EncodeToString(all[:])
}
