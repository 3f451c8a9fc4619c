package commands

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

// A keyTalk makes random lines of the commands of this family: few keys, so
// that they meet, and arguments that are often wrong.
type keyTalk struct{ *rand.Rand }

func (r keyTalk) pick(of ...string) string { return of[r.IntN(len(of))] }
func (r keyTalk) key() string              { return r.pick("a", "b", "c", "{t}d", "{t}e") }
func (r keyTalk) db() string               { return r.pick("0", "1", "2", "15", "16", "-1", "x", "2147483648") }

// number leaves out what would expire while the test runs.
func (r keyTalk) number() string {
	return r.pick("0", "-1", "5000", "9223372036854775807", "-9223372036854775808", "9223372036854775", "9223372036854776",
		"x", "", "1.5", "99999999999", "9999999999999", "99999999999999", fmt.Sprint(-r.Int64()))
}

func (r keyTalk) line() []string {
	makers := []func() []string{
		func() []string { return []string{"SET", r.key(), r.number()} },
		func() []string { return []string{r.pick("DEL", "UNLINK", "EXISTS", "TOUCH"), r.key(), r.key()} },
		func() []string { return []string{r.pick("RENAME", "RENAMENX", "COPY"), r.key(), r.key()} },
		func() []string { return []string{"COPY", r.key(), r.key(), r.pick("DB", "REPLACE"), r.db()} },
		func() []string { return []string{"MOVE", r.key(), r.db()} },
		func() []string {
			return []string{r.pick("EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"), r.key(), r.number()}
		},
		func() []string { return []string{r.pick("EXPIRETIME", "PERSIST", "TYPE"), r.key()} },
		func() []string { return []string{"OBJECT", r.pick("ENCODING", "FREQ", "FOO", "HELP"), r.key()} },
		func() []string { return []string{"KEYS", r.pick("*", "?", "{t}*", "a", "[a-c]", "")} },
		func() []string { return []string{"SWAPDB", r.db(), r.db()} },
		func() []string {
			return []string{"SCAN", r.pick("0", "0", "", "x", " 0"), "COUNT", r.pick("1000", "0", "x", "99999999999999")}
		},
		func() []string {
			return []string{r.pick("DBSIZE", "DBSIZE", "DBSIZE", "DBSIZE", "FLUSHDB", "FLUSHALL")}
		},
	}
	line := makers[r.IntN(len(makers))]()
	for r.IntN(5) == 0 {
		line = append(line, r.pick("NX", "XX", "GT", "lt", "FOO", "REPLACE", "DB", "COUNT", "match", "TYPE", "string", "SYNC", "*"))
	}
	if line[0] == "PERSIST" {
		line = line[:2] // a third word would be a member
	}
	return line
}

// TestKeysDuel sends random lines to redis-server and to the rows.
func TestKeysDuel(t *testing.T) {
	redis := startRedis(t, findRedis(t))
	seed := testSeed(t)
	r := keyTalk{rand.New(rand.NewPCG(seed, 1))}
	h := newHarness(4, 1)
	for i := range 20_000 {
		if i%20 == 0 {
			duelLine(t, redis, h, []string{"SELECT", r.pick("0", "1", "2")})
		}
		duelLine(t, redis, h, r.line())
	}
	require.NoError(t, h.space.Check())
}

func duelLine(t *testing.T, redis transcript.Player, h *harness, line []string) {
	t.Helper()
	args := make([][]byte, len(line))
	for i, a := range line {
		args[i] = []byte(a)
	}
	h.now = time.Now().UnixMilli()
	want, err := redis.Do("main", args)
	require.NoError(t, err)
	got, err := h.Do("main", args)
	require.NoError(t, err)
	if line[0] == "EXPIRETIME" && len(want) > len(":-2\r\n") && len(want) == len(got) {
		return // the two clocks differ
	}
	require.Equal(t, unordered(line[0], want), unordered(line[0], got), "%q", line)
}

// unordered sorts the keys of a reply whose order is free.
func unordered(name string, raw []byte) string {
	if name != "KEYS" && name != "SCAN" {
		return string(raw)
	}
	parts := bytes.SplitAfter(raw, []byte("\r\n$"))
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = strings.TrimRight(string(p), "\r\n$")
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
