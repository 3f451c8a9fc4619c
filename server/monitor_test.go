package server

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// monitors makes a client monitor the server.
func (s *testServer) monitoring() *testClient {
	m := s.dial()
	require.Equal(s.t, "+OK", m.do("MONITOR"))
	return m
}

// seen reads the next lines of a monitor without their times and addresses.
func (c *testClient) seen(n int) (all []string) {
	for range n {
		line := c.reply()
		m := regexp.MustCompile(`^\+\d{10}\.\d{6} \[(\d+) (lua|127\.0\.0\.1:\d+)\] (.*)$`).FindStringSubmatch(line)
		require.NotNil(c.t, m, line)
		if strings.HasPrefix(m[2], "127") {
			m[2] = "tcp"
		}
		all = append(all, m[1]+" "+m[2]+" "+m[3])
	}
	return all
}

func TestMonitorShowsCommands(t *testing.T) {
	s := serve(t)
	m, c := s.monitoring(), s.dial()
	c.do("SET foo \"a b\\\"\\\\\\n\\x00\\xff\"")
	c.do("SELECT 3")
	c.do("GeT foo")
	c.do("NOSUCH")
	c.do("GET too many")
	c.do("CONFIG GET x")
	c.do("AUTH secret")
	c.do("HELLO 2 AUTH user secret")
	c.do("SET foo bar WRONG")
	c.do("SCAN 0 COUNT 1000")
	require.Equal(t, []string{
		`0 tcp "SET" "foo" "a b\"\\\n\x00\xff"`,
		`3 tcp "SELECT" "3"`,
		`3 tcp "GeT" "foo"`,
		`3 tcp "AUTH" "(redacted)"`,
		`3 tcp "HELLO" "2" "AUTH" "(redacted)" "(redacted)"`,
		`3 tcp "SET" "foo" "bar" "WRONG"`,
		`3 tcp "SCAN" "0" "COUNT" "1000"`,
	}, m.seen(7))
	require.Equal(t, "O", field(t, c.text("CLIENT LIST ID 1"), "flags"))
}

func TestMonitorShowsTransactionsAndScripts(t *testing.T) {
	s := serve(t)
	m, c := s.monitoring(), s.dial()
	c.do("MULTI")
	c.do("SET foo bar")
	c.do("EXEC")
	c.do("EVAL \"redis.call('select', 2) return redis.call('set', KEYS[1], ARGV[1])\" 1 foo bar")
	require.Equal(t, []string{
		`0 tcp "MULTI"`, `0 tcp "SET" "foo" "bar"`, `0 tcp "EXEC"`,
		`0 tcp "EVAL" "redis.call('select', 2) return redis.call('set', KEYS[1], ARGV[1])" "1" "foo" "bar"`,
		`2 lua "select" "2"`, `2 lua "set" "foo" "bar"`,
	}, m.seen(6))
}

func TestMonitorEnds(t *testing.T) {
	s := serve(t)
	m, c := s.monitoring(), s.dial()
	require.Equal(t, "+RESET", m.do("RESET"))
	require.False(t, s.monitors.any())
	c.do("SET foo bar")
	require.Equal(t, "+PONG", m.do("PING"))
	n := s.monitoring()
	n.Close()
	eventually(t, func() bool { return !s.monitors.any() }, "the end of a monitor")
	c.do("MULTI")
	c.do("MONITOR")
	require.Equal(t, "*1\r\n-ERR MONITOR isn't allowed for DENY BLOCKING client", c.do("EXEC"))
}

// TestForgottenMonitor is C5 of the reports: one that does not read has to go,
// and no key with it.
func TestForgottenMonitor(t *testing.T) {
	s := serve(t, "--client-output-buffer-limit", "pubsub 1mb 0 0", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	s.monitoring()
	c := s.dial()
	value := strings.Repeat("x", 100<<10)
	n := 0
	for ; s.monitors.any() && n < 1000; n++ {
		require.Equal(t, "+OK", c.do("SET key "+value))
	}
	require.Less(t, n, 1000, "it must be gone")
	require.Equal(t, ":1", c.do("DBSIZE"))
	require.EqualValues(t, 1, s.stats.outputClosed.Load())
}
