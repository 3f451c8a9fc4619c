package server

import (
	"strings"
	"testing"

	"firn/commands"

	"github.com/stretchr/testify/require"
)

const wrongPass = "-WRONGPASS invalid username-password pair or user is disabled."

// L5: a HELLO that fails changes neither protocol nor name nor rights.
func TestFailedHelloChangesNothing(t *testing.T) {
	c := serve(t, "--requirepass", "secret").dial()
	for line, want := range map[string]string{
		"HELLO":                                "-NOAUTH HELLO must be called",
		"HELLO 3":                              "-NOAUTH HELLO must be called",
		"HELLO 4":                              "-NOPROTO unsupported protocol version",
		"HELLO x":                              "-ERR Protocol version is not an integer or out of range",
		"HELLO 3 SETNAME x":                    "-NOAUTH HELLO must be called",
		"HELLO 3 AUTH default wrong SETNAME x": wrongPass,
		"HELLO 3 AUTH other secret":            wrongPass,
		"HELLO 3 AUTH default wrong BAD":       wrongPass,
		"HELLO 3 BAD AUTH default wrong":       "-ERR Syntax error in HELLO option 'BAD'",
		"HELLO 3 AUTH default":                 "-ERR Syntax error in HELLO option 'AUTH'",
		`HELLO 3 AUTH default secret SETNAME "a b"`:   "-ERR Client names cannot contain spaces, newlines or special characters.",
		"HELLO 3 SETNAME x AUTH default secret WRONG": "-ERR Syntax error in HELLO option 'WRONG'",
	} {
		require.Contains(t, c.do(line), want, line)
		require.Equal(t, "-NOAUTH Authentication required.", c.do("PING"), line)
	}
	require.Equal(t, "+OK", c.do("AUTH secret"))
	require.Equal(t, "$-1", c.do("CLIENT GETNAME"), "neither a name nor RESP3")
	require.Contains(t, c.do("HELLO 3 AUTH default secret SETNAME x"), "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n")
	require.Equal(t, "$1\r\nx", c.do("CLIENT GETNAME"))
	require.Equal(t, "_", c.do("GET nokey"))
	require.Contains(t, c.do("HELLO 2"), "*14\r\n")
	require.Equal(t, "$-1", c.do("GET nokey"))
}

// Every AUTH of a pipeline gets exactly one reply.
func TestAuthInAPipeline(t *testing.T) {
	c := serve(t, "--requirepass", "secret").dial()
	c.send("AUTH bad", "PING", "AUTH default bad", "AUTH a b c", "AUTH", "NOSUCH", "GET", "AUTH secret", "AUTH bad", "PING")
	for _, want := range []string{
		wrongPass, "-NOAUTH Authentication required.", wrongPass, "-ERR syntax error",
		"-ERR wrong number of arguments for 'auth' command", "-ERR unknown command 'NOSUCH', with args beginning with: ",
		"-ERR wrong number of arguments for 'get' command", "+OK", wrongPass, "+PONG",
	} {
		require.Equal(t, want, c.reply())
	}
}

func TestAuthWithoutAPassword(t *testing.T) {
	c := serve(t).dial()
	require.Equal(t, "-"+string(commands.ErrNoPassword), c.do("AUTH x"))
	require.Equal(t, "+OK", c.do("AUTH default x"))
	require.Equal(t, wrongPass, c.do("AUTH other x"))
}

// A password holds for those who come after it; taken away, for nobody.
func TestPasswordThatChanges(t *testing.T) {
	s := serve(t)
	early := s.dial()
	require.Equal(t, "+OK", early.do("CONFIG SET requirepass secret"))
	late := s.dial()
	require.Equal(t, "-NOAUTH Authentication required.", late.do("PING"))
	require.Equal(t, "+PONG", early.do("PING"))
	require.Equal(t, "+OK", early.do(`CONFIG SET requirepass ""`))
	require.Equal(t, "+PONG", late.do("PING"))
	require.Contains(t, late.do("HELLO 3"), "-NOAUTH HELLO must be called")
}

func TestReset(t *testing.T) {
	c := serve(t, "--requirepass", "secret").dial()
	require.Contains(t, c.do("HELLO 3 AUTH default secret SETNAME x"), "%7")
	c.send("SELECT 5", "CLIENT REPLY OFF", "PING", "RESET", "PING", "AUTH secret", "CLIENT GETNAME", "CLIENT INFO", "NOSUCH")
	for _, want := range []string{"+OK", "+RESET", "-NOAUTH Authentication required.", "+OK", "$-1"} {
		require.Equal(t, want, c.reply())
	}
	require.Equal(t, "0", field(t, c.reply(), "db"))
}

func TestSelect(t *testing.T) {
	c := serve(t, "--databases", "4").dial()
	for line, want := range map[string]string{
		"SELECT 3":           "+OK",
		"SELECT 4":           "-ERR DB index is out of range",
		"SELECT -1":          "-ERR DB index is out of range",
		"SELECT x":           "-ERR value is not an integer or out of range",
		"SELECT 99999999999": "-ERR value is out of range, value must between -2147483648 and 2147483647",
	} {
		require.Equal(t, want, c.do(line), line)
	}
}

func TestQuit(t *testing.T) {
	c := serve(t, "--requirepass", "secret").dial()
	c.send("QUIT", "AUTH secret")
	require.Equal(t, "+OK\r\n", c.closed())
}

// H1
func TestUnauthenticatedRequestsAreShort(t *testing.T) {
	s := serve(t, "--requirepass", "secret")
	for raw, want := range map[string]string{
		"*11\r\n":            "-ERR Protocol error: unauthenticated multibulk length\r\n",
		"*2\r\n$16385\r\n":   "-ERR Protocol error: unauthenticated bulk length\r\n",
		"*10\r\n$16384\r\nx": "",
	} {
		c := s.dial()
		c.write(raw)
		if want == "" {
			require.Equal(t, "-NOAUTH Authentication required.", s.dial().do("PING"))
			continue
		}
		require.Equal(t, want, c.closed())
	}
}

// H2: who doesn't say who it is may not pile up replies.
func TestUnauthenticatedClientThatNeverReads(t *testing.T) {
	s := serve(t, "--requirepass", "secret")
	c := s.dial()
	pings := strings.Repeat("PING\r\n", 10_000)
	sent := 0
	for sent < 100<<20 {
		n, err := c.Write([]byte(pings))
		sent += n
		if err != nil {
			break
		}
		require.Less(t, s.clients.memory.Load(), int64(4<<20))
	}
	require.Less(t, sent, 100<<20, "it was never cut off")
	eventually(t, func() bool { return s.stats.outputClosed.Load() == 1 && s.clients.count.Load() == 0 }, "not counted")
}

// H3
func TestUnauthenticatedQueryBuffer(t *testing.T) {
	s := serve(t, "--requirepass", "secret")
	c := s.dial()
	_, _ = c.Write([]byte(strings.Repeat("x", 2<<20))) // the server may close before it has all
	eventually(t, func() bool { return s.clients.count.Load() == 0 }, "still there")
}

// H10: what a browser can be made to send runs no command.
func TestHTTPRequestsRunNothing(t *testing.T) {
	s := serve(t)
	for _, raw := range []string{
		"POST / HTTP/1.1\r\nHost: x\r\n\r\nSET a b\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\nSET a b\r\n",
		"post x\r\nSET a b\r\n",
	} {
		c := s.dial()
		c.write(raw)
		_, _ = c.r.ReadString('\n')
		require.NotContains(t, c.closed(), "+OK")
	}
	require.Equal(t, "$-1", s.dial().do("GET a"))
	require.True(t, s.logged("Possible SECURITY ATTACK detected."))
}
