package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSlowlogEntry: the six fields; ids go on after a RESET.
func TestSlowlogEntry(t *testing.T) {
	c := serve(t, "--slowlog-log-slower-than", "0").dial()
	c.do("CLIENT SETNAME me")
	require.Equal(t, "+OK", c.do("SLOWLOG RESET"))
	c.do("SET key value")
	require.Regexp(t, `^\*2\r\n`, c.do("SLOWLOG GET"))
	require.Regexp(t, `\*6\r\n:2\r\n:\d{10}\r\n:\d+\r\n\*3\r\n\$3\r\nSET\r\n\$3\r\nkey\r\n\$5\r\nvalue\r\n\$\d+\r\n`+c.LocalAddr().String()+`\r\n\$2\r\nme`, c.do("SLOWLOG GET -1"))
	require.Equal(t, "*0", c.do("SLOWLOG GET 0"))
	require.Equal(t, ":5", c.do("SLOWLOG LEN"))
	require.Equal(t, "+OK", c.do("SLOWLOG RESET"))
	require.Regexp(t, `^\*1\r\n\*6\r\n:7\r\n.*`, c.do("SLOWLOG GET"))
	for _, bad := range []string{"-2", "x"} {
		require.Equal(t, "-ERR count should be greater than or equal to -1", c.do("SLOWLOG GET "+bad))
	}
	require.Equal(t, "-ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP.", c.do("SLOWLOG GET 1 2"))
}

func TestSlowlogTrims(t *testing.T) {
	c := serve(t, "--slowlog-log-slower-than", "0").dial()
	numbers := make([]string, 40)
	for i := range numbers {
		numbers[i] = fmt.Sprint(i)
	}
	c.do("DEL " + strings.Join(numbers, " "))
	got := c.do("SLOWLOG GET 1")
	require.Contains(t, got, "*32\r\n$3\r\nDEL\r\n$1\r\n0\r\n")
	require.Contains(t, got, "$2\r\n29\r\n$23\r\n... (10 more arguments)\r\n")
	require.NotContains(t, got, "\r\n30\r\n")
	c.do("SET k " + strings.Repeat("A", 129))
	require.Contains(t, c.do("SLOWLOG GET 1"), "\r\n"+strings.Repeat("A", 128)+"... (1 more bytes)\r\n")
}

// TestSlowlogLength: the newest stay, also after slowlog-max-len was lowered.
func TestSlowlogLength(t *testing.T) {
	c := serve(t, "--slowlog-log-slower-than", "0", "--slowlog-max-len", "10").dial()
	for range 30 {
		c.do("PING")
	}
	require.Equal(t, ":10", c.do("SLOWLOG LEN"))
	require.Equal(t, "+OK", c.do("CONFIG SET slowlog-max-len 1"))
	require.Equal(t, ":1", c.do("SLOWLOG LEN"))
	require.Contains(t, c.do("SLOWLOG GET"), "$3\r\nLEN")
	require.Equal(t, "+OK", c.do("CONFIG SET slowlog-max-len 0"))
	require.Equal(t, ":0", c.do("SLOWLOG LEN"))
}

// TestSlowlogKeepsNoSecret, not even one that was refused.
func TestSlowlogKeepsNoSecret(t *testing.T) {
	c := serve(t, "--slowlog-log-slower-than", "0").dial()
	for _, line := range []string{
		"AUTH hunter2", "AUTH default hunter2", "AUTH a b hunter2", "HELLO 3 AUTH default hunter2", "HELLO 2 SETNAME x AUTH hunter2",
		"HELLO AUTH default hunter2", "CONFIG SET masterauth hunter2", "config set maxmemory 0 MasterAuth hunter2", "CONFIG SET nosuch 1 masterauth hunter2",
		"CONFIG SET requirepass hunter2", "AUTH hunter2",
	} {
		c.do(line)
	}
	got := c.do("SLOWLOG GET -1")
	require.NotContains(t, got, "hunter2")
	require.Contains(t, got, "CONFIG\r\n$3\r\nSET\r\n$10\r\nmasterauth\r\n$10\r\n(redacted)")
	require.Contains(t, got, "maxmemory\r\n$1\r\n0\r\n$10\r\nMasterAuth\r\n$10\r\n(redacted)")
}
