package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What can't be read is answered with Redis' words, and the connection ends;
// what came before has its replies.
func TestProtocolErrors(t *testing.T) {
	s := serve(t)
	for raw, want := range map[string]string{
		"*2147483648\r\n":                                      "invalid multibulk length", // H5
		"*5500000000000000000\r\n":                             "invalid multibulk length",
		"*2\r\n$3\r\nGET\r\n$-5\r\n":                           "invalid bulk length", // H6
		"*2\r\n$3\r\nGET\r\n$-1\r\n":                           "invalid bulk length",
		"*2\r\n$3\r\nGET\r\n$600000000\r\n":                    "invalid bulk length",
		"*3\r\n$3\r\nSET\r\n$5\r\nmykey\r\n$\r\n1\r\nPING\r\n": "invalid bulk length",    // H7
		"*1\r\n\r\n":                                           "expected '$', got ' '",  // H9
		strings.Repeat("x", 70_000):                            "too big inline request", // H11
		"SET k \"unb\r\n":                                      "unbalanced quotes in request",
		"*3\r\n$4\r\nSET\r\n$1\r\nA\r\n$1\r\nB\r\n":            "expected '$', got '1'", // H13
	} {
		c := s.dial()
		c.write("PING\r\n" + raw)
		require.Equal(t, "+PONG", c.reply())
		if want == "expected '$', got '1'" {
			require.Contains(t, c.closed(), "-ERR Protocol error: expected '$', got ", "%.60q", raw)
			continue
		}
		require.Equal(t, "-ERR Protocol error: "+want+"\r\n", c.closed(), "%.60q", raw)
	}
	require.Equal(t, "+PONG", s.dial().do("PING"))
}

// H5: a header alone reserves nothing.
func TestHeadersReserveNothing(t *testing.T) {
	s := serve(t)
	before := heap()
	for range 20 {
		s.dial().write("*1000000\r\n$500000000\r\n")
	}
	eventually(t, func() bool { return s.stats.netIn.Load() == 20*int64(len("*1000000\r\n$500000000\r\n")) }, "not read")
	require.Less(t, heap()-before, int64(8<<20))
}

// H9: nobody writes a second reply with his arguments.
func TestNoRepliesInArguments(t *testing.T) {
	c := serve(t).dial()
	c.write("*1\r\n$5\r\nA\r\nBC\r\n*2\r\n$3\r\nFOO\r\n$7\r\n\"x\r\n+OK\r\nPING\r\n")
	require.Equal(t, "-ERR unknown command 'A  BC', with args beginning with: ", c.reply())
	require.Equal(t, "-ERR unknown command 'FOO', with args beginning with: '\"x  +OK' ", c.reply())
	require.Equal(t, "+PONG", c.reply())
}

func TestEmptyRequestsAreNone(t *testing.T) {
	c := serve(t).dial()
	c.write("*0\r\n*-1\r\n\r\n  \r\n*0\r\nPING\r\n")
	require.Equal(t, "+PONG", c.reply())
}

// A client may close its side and still read what it asked for.
func TestHalfClosedClientGetsItsReplies(t *testing.T) {
	s := serve(t)
	c := s.dial()
	const size = 1 << 20
	require.Equal(t, "+OK", c.do("SET k "+strings.Repeat("x", size)))
	c.write(strings.Repeat(encode("GET k"), 20) + encode("PING"))
	require.NoError(t, c.Conn.(interface{ CloseWrite() error }).CloseWrite())
	rest := c.closed()
	require.Len(t, rest, 20*(size+len("$1048576\r\n\r\n"))+len("+PONG\r\n"))
	require.True(t, strings.HasSuffix(rest, "+PONG\r\n"), "%.100q", rest)
	eventually(t, func() bool { return s.clients.count.Load() == 0 }, "still counted")
}
