package server

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var clientLine = regexp.MustCompile(`^id=\d+ addr=\S+:\d+ laddr=\S+:\d+ fd=\d+ name=\S* age=\d+ idle=\d+ flags=\w+ db=\d+ sub=0 psub=0 ssub=0 multi=-1 ` +
	`qbuf=\d+ qbuf-free=\d+ argv-mem=\d+ multi-mem=0 rbs=\d+ rbp=\d+ obl=\d+ oll=\d+ omem=\d+ tot-mem=\d+ events=rw? cmd=\S+ user=default redir=-1 resp=[23] lib-name=\S* lib-ver=\S*$`)

func TestClientIDNameInfo(t *testing.T) {
	s := serve(t)
	c := s.dial()
	id := c.do("CLIENT ID")
	require.Regexp(t, `^:\d+$`, id)
	require.Equal(t, "$-1", c.do("CLIENT GETNAME"))
	require.Equal(t, "+OK", c.do("CLIENT SETNAME me"))
	require.Equal(t, "$2\r\nme", c.do("CLIENT GETNAME"))
	require.Equal(t, "-ERR Client names cannot contain spaces, newlines or special characters.", c.do(`CLIENT SETNAME "a b"`))
	require.Equal(t, "$2\r\nme", c.do("CLIENT GETNAME"))
	require.Equal(t, "+OK", c.do("SELECT 3"))
	info := c.text("CLIENT INFO")
	require.Regexp(t, clientLine, strings.TrimSuffix(strings.TrimSpace(info), "\n"))
	require.Equal(t, id[1:], field(t, info, "id"))
	require.Equal(t, c.LocalAddr().String(), field(t, info, "addr"))
	require.Equal(t, s.addr, field(t, info, "laddr"))
	require.Equal(t, "3", field(t, info, "db"))
	require.Equal(t, "26", field(t, info, "qbuf"))
	require.Equal(t, "10", field(t, info, "argv-mem"))
	require.Equal(t, "client|info", field(t, info, "cmd"))
	require.Equal(t, "N", field(t, info, "flags"))
	require.Equal(t, "+OK", c.do(`CLIENT SETNAME ""`))
	require.Equal(t, "$-1", c.do("CLIENT GETNAME"))
}

// L6
func TestClientSetInfo(t *testing.T) {
	c := serve(t).dial()
	require.Equal(t, "+OK", c.do("CLIENT SETINFO LIB-NAME x"))
	require.Equal(t, "+OK", c.do("CLIENT SETINFO lib-ver 1"))
	require.Equal(t, "-ERR LIB-NAME cannot contain spaces, newlines or special characters.", c.do(`CLIENT SETINFO LIB-NAME "a b"`))
	require.Equal(t, "-ERR Unrecognized option 'lib-x'", c.do("CLIENT SETINFO lib-x 1"))
	require.Regexp(t, ` lib-name=x lib-ver=1\n`, c.text("CLIENT INFO"))
}

func TestClientList(t *testing.T) {
	s := serve(t)
	a, b := s.dial(), s.dial()
	require.Equal(t, "+OK", a.do("CLIENT SETNAME a"))
	require.Equal(t, "+OK", b.do("CLIENT SETNAME b"))
	require.Equal(t, "$1\r\n0", b.do("ECHO 0"))
	lines := strings.Split(strings.TrimSpace(a.text("CLIENT LIST")), "\n")
	require.Len(t, lines, 2)
	for i, name := range []string{"a", "b"} {
		require.Regexp(t, clientLine, lines[i])
		require.Equal(t, name, field(t, lines[i], "name"))
		for _, f := range []string{"obl", "oll", "omem"} {
			require.Equal(t, "0", field(t, lines[i], f), "%s of %s", f, lines[i])
		}
	}
	require.Equal(t, "client|list", field(t, lines[0], "cmd"))
	require.Equal(t, "echo", field(t, lines[1], "cmd"))
	require.Equal(t, "0", field(t, lines[1], "qbuf"))
	id := field(t, lines[1], "id")
	require.Regexp(t, "^id="+id+" ", a.text("CLIENT LIST ID "+id+" 999"))
	require.Equal(t, 2, strings.Count(a.text("CLIENT LIST TYPE normal"), "\n"))
	require.Equal(t, "$0\r\n", a.do("CLIENT LIST TYPE pubsub"))
	for line, want := range map[string]string{
		"CLIENT LIST TYPE x":          "-ERR Unknown client type 'x'",
		"CLIENT LIST ID":              "-ERR syntax error",
		"CLIENT LIST ID x":            "-ERR Invalid client ID",
		"CLIENT LIST TYPE normal ID":  "-ERR syntax error",
		"CLIENT":                      "-ERR wrong number of arguments for 'client' command",
		"CLIENT ID x":                 "-ERR wrong number of arguments for 'client|id' command",
		"CLIENT NOSUCH":               "-ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP.",
		"CLIENT GETREDIR":             ":-1",
		"CLIENT CAPA redirect":        "+OK",
		"CLIENT CACHING YES":          "-ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled",
		"CLIENT TRACKING OFF":         "+OK",
		"CLIENT TRACKING ON OPTIN":    "-ERR client side caching is not supported by this server",
		"CLIENT TRACKING x":           "-ERR syntax error",
		"CLIENT TRACKING on REDIRECT": "-ERR syntax error",
		"CLIENT TRACKINGINFO":         "*6\r\n$5\r\nflags\r\n*1\r\n$3\r\noff\r\n$8\r\nredirect\r\n:-1\r\n$8\r\nprefixes\r\n*0",
		"CLIENT UNBLOCK 1":            ":0",
		"CLIENT UNBLOCK x":            "-ERR value is not an integer or out of range",
		"CLIENT UNBLOCK 1 x":          "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR",
		"CLIENT UNBLOCK 1 ERROR x":    "-ERR unknown subcommand or wrong number of arguments for 'UNBLOCK'. Try CLIENT HELP.",
	} {
		require.Equal(t, want, a.do(line), line)
	}
	require.Regexp(t, `^\*\d+\r\n\+CLIENT <subcommand>`, a.do("CLIENT HELP"))
}

func TestClientKill(t *testing.T) {
	s := serve(t)
	me := s.dial()
	for line, want := range map[string]string{
		"CLIENT KILL":                  "-ERR wrong number of arguments for 'client|kill' command",
		"CLIENT KILL 1.2.3.4:5":        "-ERR No such client",
		"CLIENT KILL ID 10 wrong_arg":  "-ERR syntax error",
		"CLIENT KILL ID str":           "-ERR client-id should be greater than 0",
		"CLIENT KILL ID -1":            "-ERR client-id should be greater than 0",
		"CLIENT KILL ID 0":             "-ERR client-id should be greater than 0",
		"CLIENT KILL TYPE wrong":       "-ERR Unknown client type 'wrong'",
		"CLIENT KILL USER wrong":       "-ERR No such user 'wrong'",
		"CLIENT KILL SKIPME yes_or_no": "-ERR syntax error",
		"CLIENT KILL ID 999999":        ":0",
		"CLIENT KILL TYPE pubsub":      ":0",
	} {
		require.Equal(t, want, me.do(line), line)
	}
	byAddr, byID, byLaddr := s.dial(), s.dial(), s.dial()
	id := byID.do("CLIENT ID")[1:]
	require.Equal(t, "+PONG", byAddr.do("PING"))
	require.Equal(t, "+PONG", byLaddr.do("PING"))
	require.Equal(t, "+OK", me.do("CLIENT KILL "+byAddr.LocalAddr().String()))
	require.Empty(t, byAddr.closed())
	require.Equal(t, ":1", me.do("CLIENT KILL ID "+id+" TYPE normal USER default"))
	require.Empty(t, byID.closed())
	require.Equal(t, ":1", me.do("CLIENT KILL LADDR "+s.addr))
	require.Empty(t, byLaddr.closed())
	require.Equal(t, int64(1), s.clients.count.Load(), "a killed client counts as gone at once")

	others := []*testClient{s.dial(), s.dial()}
	for _, c := range others {
		require.Equal(t, "+PONG", c.do("PING"))
	}
	require.Equal(t, ":3", me.do("CLIENT KILL SKIPME no"))
	require.Empty(t, me.closed())
	for _, c := range others {
		require.Empty(t, c.closed())
	}
}

// A killed client runs no more of the commands that it has sent.
func TestKilledInItsPipeline(t *testing.T) {
	s := serve(t)
	me := s.dial()
	me.send("CLIENT KILL SKIPME no", "SET a b", "PING")
	require.Equal(t, ":1\r\n", me.closed())
	require.Equal(t, "$-1", s.dial().do("GET a"))
}

// L7
func TestClientReply(t *testing.T) {
	c := serve(t).dial()
	c.send("CLIENT REPLY OFF", "PING", "NOSUCH", "CLIENT REPLY ON", "PING", "CLIENT REPLY SKIP", "PING", "PING x", "CLIENT REPLY x",
		"CLIENT REPLY SKIP", "NOSUCH", "CLIENT REPLY SKIP", "CLIENT REPLY ON", "PING y")
	for _, want := range []string{"+OK", "+PONG", "$1\r\nx", "-ERR syntax error", "+OK", "$1\r\ny"} {
		require.Equal(t, want, c.reply())
	}
}

func TestNoReplyAtTheEndEither(t *testing.T) {
	s := serve(t)
	for _, end := range []string{"QUIT\r\n", "*x\r\n"} {
		c := s.dial()
		c.write("CLIENT REPLY OFF\r\nPING\r\n" + end)
		require.Empty(t, c.closed(), end)
	}
}

// L7
func TestClientNoEvictNoTouch(t *testing.T) {
	c := serve(t).dial()
	require.Equal(t, "+OK", c.do("CLIENT NO-EVICT on"))
	require.Equal(t, "+OK", c.do("CLIENT NO-TOUCH ON"))
	require.Equal(t, "eT", field(t, c.text("CLIENT INFO"), "flags"))
	require.Equal(t, "-ERR syntax error", c.do("CLIENT NO-EVICT x"))
	require.Equal(t, "+RESET", c.do("RESET"))
	require.Equal(t, "N", field(t, c.text("CLIENT INFO"), "flags"))
}

// Clients must go on without maintenance notifications, and nobody may be
// alarmed by that.
func TestMaintNotificationsIsNoError(t *testing.T) {
	s := serve(t)
	c := s.dial()
	require.Equal(t, "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.", c.do("CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type internal-ip"))
	require.Empty(t, s.stats.errorCounts())
	require.Equal(t, "-ERR unknown subcommand 'X'. Try CLIENT HELP.", c.do("CLIENT X"))
	require.Equal(t, map[string]int64{"ERR": 1}, s.stats.errorCounts())
}

func TestBuffersOfAnIdleClientAreFreed(t *testing.T) {
	s := serve(t)
	a, idle := s.dial(), s.dial()
	require.Equal(t, "+OK", idle.do("CLIENT SETNAME idle"))
	of := func(name string) int {
		for line := range strings.Lines(a.text("CLIENT LIST")) {
			if strings.Contains(line, " name=idle ") {
				n, err := strconv.Atoi(field(t, line, name))
				require.NoError(t, err)
				return n
			}
		}
		return -1
	}
	require.Positive(t, of("qbuf-free"))
	eventually(t, func() bool { return of("qbuf-free") == 0 }, "the buffer is kept")
	require.Equal(t, "+PONG", idle.do("PING"))
}
