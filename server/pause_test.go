package server

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPauseAllUntilItEnds(t *testing.T) {
	s := serve(t)
	a, b := s.dial(), s.dial()
	start := time.Now()
	require.Equal(t, "+OK", a.do("CLIENT PAUSE 150"))
	b.send("PING", "SET k v", "GET k") // a pipeline stays in order
	require.Equal(t, "+PONG", b.reply())
	require.GreaterOrEqual(t, time.Since(start), 150*time.Millisecond)
	require.Equal(t, "+OK", b.reply())
	require.Equal(t, "$1\r\nv", b.reply())
	require.Equal(t, "+PONG", a.do("PING"))
	require.Zero(t, s.pause.length())
}

// The loop goes on with others while a session waits.
func TestPauseWritesAndUnpause(t *testing.T) {
	s := serve(t, "--event-loops", "1")
	a, b := s.dial(), s.dial()
	require.Equal(t, "+OK", a.do("SET k old"))
	require.Equal(t, "+OK", a.do("CLIENT PAUSE 100000 WRITE"))
	b.send("SET k new", "GET k")
	eventually(t, func() bool { return s.pause.length() == 1 }, "the write does not wait")
	require.Equal(t, "$3\r\nold", a.do("GET k"))
	require.Contains(t, a.text("CLIENT LIST"), " flags=b ")
	require.Equal(t, "+OK", a.do("CLIENT UNPAUSE"))
	require.Equal(t, "+OK", b.reply())
	require.Equal(t, "$3\r\nnew", b.reply())
	require.NotContains(t, a.text("CLIENT LIST"), " flags=b ")
	require.Equal(t, "+OK", a.do("SET k 3"))
}

func TestPauseKeepsTheKeyspaceStill(t *testing.T) {
	s := serve(t)
	a := s.dial()
	require.Equal(t, "+OK", a.do("SET k v PX 60"))
	require.Equal(t, "+OK", a.do("CLIENT PAUSE 100000 WRITE"))
	eventually(t, func() bool { return a.do("GET k") == "$-1" }, "an expired key is not seen")
	require.Equal(t, ":1", a.do("DBSIZE"), "but it is not removed")
	require.Zero(t, s.shards.Stats().Expired.Load())
	require.Equal(t, "+OK", a.do("CLIENT UNPAUSE"))
	eventually(t, func() bool { return a.do("DBSIZE") == ":0" }, "after the pause it is")
}

func TestPauseArguments(t *testing.T) {
	s := serve(t)
	c := s.dial()
	for line, want := range map[string]string{
		"CLIENT PAUSE x":                   "-ERR timeout is not an integer or out of range",
		"CLIENT PAUSE -1":                  "-ERR timeout is negative",
		"CLIENT PAUSE 9223372036854775807": "-ERR timeout is out of range",
		"CLIENT PAUSE 1 x":                 "-ERR CLIENT PAUSE mode must be WRITE or ALL",
		"CLIENT PAUSE 1 ALL x":             "-ERR unknown subcommand or wrong number of arguments for 'PAUSE'. Try CLIENT HELP.",
		"CLIENT PAUSE 0":                   "+OK",
		"PING":                             "+PONG",
	} {
		require.Equal(t, want, c.do(line), line)
	}
}

// A second pause may only make the first longer or wider.
func TestPausesAdd(t *testing.T) {
	s := serve(t)
	a, b := s.dial(), s.dial()
	a.send("CLIENT PAUSE 100000 WRITE", "CLIENT PAUSE 1 WRITE")
	require.Equal(t, "+OK", a.reply())
	require.Equal(t, "+OK", a.reply())
	b.send("SET a b")
	eventually(t, func() bool { return s.pause.length() == 1 }, "the write does not wait")
	s.pause.expire() // what the timer does
	require.Equal(t, 1, s.pause.length())
	require.Equal(t, "+OK", a.do("CLIENT UNPAUSE"))
	require.Equal(t, "+OK", b.reply())
}

// Whoever leaves while waiting leaves nothing behind; nor does a shutdown wait.
func TestLeavingDuringAPause(t *testing.T) {
	s := serve(t)
	a := s.dial()
	require.Equal(t, "+OK", a.do("CLIENT PAUSE 100000 WRITE"))
	gone := []*testClient{s.dial(), s.dial(), s.dial()}
	for _, c := range gone {
		c.send("SET a b", strings.TrimSpace("PING "+strings.Repeat("x", 5000)))
	}
	eventually(t, func() bool { return s.pause.length() == 3 }, "they do not wait")
	require.NoError(t, gone[0].Close())
	require.NoError(t, gone[1].Close())
	eventually(t, func() bool { return s.pause.length() == 1 }, "still in line")
	require.Equal(t, ":1", a.do("CLIENT KILL ID "+field(t, lineWith(a.text("CLIENT LIST"), " flags=b "), "id")))
	eventually(t, func() bool { return s.pause.length() == 0 }, "still in line")
	require.Equal(t, "$-1", a.do("GET a"))
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}
