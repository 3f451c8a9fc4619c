package server

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"firn/shard"

	"github.com/stretchr/testify/require"
)

// journalLines is a journal that keeps the effects as text.
type journalLines struct {
	mu    sync.Mutex
	lines []string
}

func (j *journalLines) Append(_ int64, effects []shard.Effect) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range effects {
		j.lines = append(j.lines, fmt.Sprintf("%d %q", e.DB, e.Args))
	}
}

// take returns what has come since the last call.
func (j *journalLines) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// library is a FUNCTION LOAD of one function.
func library(options, name, function, body string) string {
	code := fmt.Sprintf("#!lua name=%s\nredis.register_function('%s', function(keys, args) %s end)", name, function, body)
	return strings.Join(strings.Fields("FUNCTION LOAD "+options), " ") + " " + strconv.Quote(code)
}

// Changes of the functions are effects, as they were sent; what failed is none.
func TestFunctionEffects(t *testing.T) {
	srv := serve(t)
	c, j := srv.dial(), &journalLines{}
	srv.shards.Subscribe(j)
	play := func(line, reply string) []string {
		got := c.do(line)
		require.Contains(t, got, reply, line)
		return j.take()
	}
	require.Len(t, play(library("", "a", "f", "return 1"), "a"), 1)
	require.Empty(t, play(library("", "a", "f", "return 1"), "already exists"))
	require.Empty(t, play(library("", "b", "f", "return 1"), "Function f already exists"))
	lines := play("FUNCTION DUMP", "")
	require.Empty(t, lines)
	_, payload, _ := strings.Cut(c.do("FUNCTION DUMP"), "\r\n")
	require.Equal(t, []string{`0 ["FUNCTION" "DELETE" "a"]`}, play("FUNCTION DELETE a", "+OK"))
	require.Empty(t, play("FUNCTION DELETE a", "Library not found"))
	require.Len(t, play("FUNCTION RESTORE "+quoted(payload), "+OK"), 1)
	require.Empty(t, play("FUNCTION RESTORE "+quoted(payload), "-ERR Library a already exists"))
	require.Equal(t, []string{`0 ["FUNCTION" "FLUSH" "async"]`}, play("FUNCTION FLUSH async", "+OK"))
	require.Equal(t, []string{`0 ["FLUSHALL"]`}, play("FLUSHALL", "+OK"))
}

// FLUSHALL leaves the functions alone.
func TestFlushAllKeepsFunctions(t *testing.T) {
	c := serve(t).dial()
	require.Contains(t, c.do(library("", "a", "f", "return 1")), "a")
	before := c.do("FUNCTION LIST")
	require.Equal(t, "+OK", c.do("FLUSHALL"))
	require.Equal(t, "+OK", c.do("FLUSHDB"))
	require.Equal(t, before, c.do("FUNCTION LIST"))
}

// A library that does not end is ended after half a second, and nobody waits
// for it meanwhile (promise 2).
func TestEndlessLoad(t *testing.T) {
	srv := serve(t)
	c, p := srv.dial(), srv.ping()
	require.Contains(t, c.do(`FUNCTION LOAD "#!lua name=x\nwhile true do end"`), "FUNCTION LOAD timeout")
	require.Less(t, p.end(t), 4*loadTimeout/5)
	require.Equal(t, "*0", c.do("FUNCTION LIST"))
}

// A payload that was cut or changed anywhere is refused, and takes nothing away.
func TestDamagedFunctionPayload(t *testing.T) {
	c := serve(t).dial()
	require.Contains(t, c.do(library("", "a", "f", "return 'a text long enough, long enough, long enough'")), "a")
	before := c.do("FUNCTION LIST WITHCODE")
	_, payload, _ := strings.Cut(c.do("FUNCTION DUMP"), "\r\n")
	for i := range payload {
		for _, damaged := range []string{payload[:i], payload[:i] + string(payload[i]^1) + payload[i+1:]} {
			require.Equal(t, "-ERR DUMP payload version or checksum are wrong", c.do("FUNCTION RESTORE "+quoted(damaged)+" FLUSH"))
		}
	}
	require.Equal(t, before, c.do("FUNCTION LIST WITHCODE"))
}

// Inside of a transaction a library has less time, and only the transaction's
// keys are held meanwhile.
func TestLoadInsideTransaction(t *testing.T) {
	srv := serve(t)
	c, j := srv.dial(), &journalLines{}
	srv.shards.Subscribe(j)
	for _, line := range []string{"MULTI", "SET k v", library("", "a", "f", "return 'a'"), "FCALL f 0", `FUNCTION LOAD "#!lua name=x\nwhile true do end"`, "FUNCTION DELETE none", "FUNCTION LIST"} {
		require.Contains(t, "+OK +QUEUED", c.do(line), line)
	}
	reply := c.do("EXEC")
	require.Contains(t, reply, "*6\r\n+OK\r\n$1\r\na\r\n$1\r\na\r\n-ERR Error registering functions: ")
	require.Contains(t, reply, "-ERR Library not found\r\n*1\r\n")
	lines := j.take()
	require.Len(t, lines, 2, "%q", lines)
	require.Equal(t, `0 ["SET" "k" "v"]`, lines[0])
	require.Contains(t, lines[1], `"FUNCTION" "LOAD"`)
}
