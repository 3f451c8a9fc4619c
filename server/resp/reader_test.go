package resp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// drain takes all commands there are, as text, with the error last.
func drain(r *Reader, lim *Limits) (commands []string, err error) {
	for {
		args, err := r.Next(lim)
		if args == nil || err != nil {
			return commands, err
		}
		commands = append(commands, fmt.Sprintf("%q", args))
	}
}

func parse(input string, lim *Limits) ([]string, error) {
	var r Reader
	_, _ = r.Write([]byte(input))
	return drain(&r, lim)
}

func TestReaderCommands(t *testing.T) {
	f := func(input string, want ...string) {
		t.Helper()
		got, err := parse(input, nil)
		require.NoError(t, err, "%q", input)
		require.Equal(t, want, got, "%q", input)
	}
	f("")
	f("*1\r\n$4\r\nPING\r\n", `["PING"]`)
	f("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$0\r\n\r\n*1\r\n$4\r\nPING\r\n", `["SET" "a" ""]`, `["PING"]`)
	f("*2\r\n$3\r\nGET\r\n$10\r\n0123\r\n6789\r\n", `["GET" "0123\r\n6789"]`)
	f("*1\r\n$4\r\nPIN")
	f("*1\r\n$4\r\nPING\r")
	f("*1\r\n$4\r\nPING\r\n*", `["PING"]`)

	// Redis compares neither the byte after a CR nor those after a bulk.
	f("*1\rX$4\r?PINGxx*1\r\n$1\r\nA\r\n", `["PING"]`, `["A"]`)
	// clients.md 1b: pools that send empty frames
	f("*0\r\n*-1\r\n\r\n\n*-77\r\n*1\r\n$4\r\nPING\r\n", `["PING"]`)
	// A NUL hides the end of its line from strchr.
	f("PING\x00\r\nPING\r\n")
	f("*1\x00\r\n$4\r\nPING\r\n")

	f("PING\r\n", `["PING"]`)
	f("PING\nset a 'b c'\r\n   \r\nget", `["PING"]`, `["set" "a" "b c"]`)
	f("PING\r\r\n", `["PING"]`)
	f("ECHO \"\"\r\n", `["ECHO" ""]`)
}

func TestReaderProtocolErrors(t *testing.T) {
	f := func(input, want string) {
		t.Helper()
		got, err := parse("*1\r\n$4\r\nPING\r\n"+input, nil)
		require.Equal(t, []string{`["PING"]`}, got, "what stands before is still run: %q", input)
		var perr ProtocolError
		require.ErrorAs(t, err, &perr, "%.80q", input)
		require.EqualError(t, err, "Protocol error: "+want, "%.80q", input)
	}
	// H5
	f("*5500000000000000000\r\n", "invalid multibulk length")
	f("*2147483648\r\n", "invalid multibulk length")
	f("*1048577\r\n", "invalid multibulk length")
	f("*99999999999999999999\r\n", "invalid multibulk length")
	f("*1000000000\r\n", "invalid multibulk length")
	// H6
	f("*2\r\n$3\r\nGET\r\n$-5\r\n", "invalid bulk length")
	f("*2\r\n$3\r\nGET\r\n$-1\r\n", "invalid bulk length")
	f("*2\r\n$3\r\nGET\r\n$600000000\r\n", "invalid bulk length")
	f("*2\r\n$3\r\nGET\r\n$9223372036854775807\r\n", "invalid bulk length")
	// H7
	f("*3\r\n$3\r\nSET\r\n$5\r\nmykey\r\n$\r\n1\r\nPING\r\n", "invalid bulk length")
	// H9: CR and LF are not echoed
	f("*1\r\n\r\n", "expected '$', got ' '")
	f("*1\r\n\n\r\n", "expected '$', got ' '")
	// H11
	f(strings.Repeat("x", 70_000), "too big inline request")
	f("SET k \"unb\r\n", "unbalanced quotes in request")
	// H13
	f("*3\r\n$4\r\nSET\r\n$1\r\nA\r\n$1\r\nB\r\n", "expected '$', got '1'")

	f("*\r\n", "invalid multibulk length")
	f("*+1\r\n", "invalid multibulk length")
	f("*01\r\n", "invalid multibulk length")
	f("* 1\r\n", "invalid multibulk length")
	f("*1 \r\n", "invalid multibulk length")
	f("*-\r\n", "invalid multibulk length")
	f("*--1\r\n", "invalid multibulk length")
	f("*-0\r\n", "invalid multibulk length")
	f("*1_0\r\n", "invalid multibulk length")
	f("*1\r\n$04\r\nPING\r\n", "invalid bulk length")
	f("*1\r\n$4x\r\nPING\r\n", "invalid bulk length")
	f("*1\r\n:4\r\n", "expected '$', got ':'")
	f("*1\r\n\xff\r\n", "expected '$', got '\xff'")
	f("*"+strings.Repeat("1", 70_000), "too big mbulk count string")
	f("*1\r\n"+strings.Repeat("$", 70_000), "too big bulk count string")
	f("\x00"+strings.Repeat("payload\n", 9_000), "too big inline request")
	f("*\x00"+strings.Repeat("payload\r\n", 9_000), "too big mbulk count string")
}

func TestReaderErrorStays(t *testing.T) {
	var r Reader
	_, _ = r.Write([]byte("*x\r\n"))
	_, first := r.Next(nil)
	require.Error(t, first)
	_, _ = r.Write([]byte("PING\r\n"))
	args, err := r.Next(nil)
	require.Nil(t, args)
	require.Equal(t, first, err)
}

func TestReaderLimits(t *testing.T) {
	f := func(lim Limits, input, want string) {
		t.Helper()
		_, err := parse(input, &lim)
		if want == "" {
			require.NoError(t, err, "%.80q", input)
			return
		}
		require.EqualError(t, err, "Protocol error: "+want, "%.80q", input)
	}
	f(Limits{MaxBulk: 5}, "*1\r\n$5\r\nhello\r\n", "")
	f(Limits{MaxBulk: 5}, "*1\r\n$6\r\n", "invalid bulk length")
	f(Limits{MaxBulk: 1 << 62}, "*1\r\n$4611686018427387904\r\n", "invalid bulk length")
	f(Limits{MaxBulk: 1 << 62}, "*1\r\n$1000000000000000000\r\nx", "")
	f(Limits{MaxArgs: 2}, "*2\r\n", "")
	f(Limits{MaxArgs: 2}, "*3\r\n", "invalid multibulk length")
	f(Limits{}, "*1048576\r\n", "")
	f(Limits{MaxInline: 8}, "12345678\n", "")
	f(Limits{MaxInline: 8}, "12345678", "")
	f(Limits{MaxInline: 8}, "123456789\n", "too big inline request")

	// H1: before authentication
	f(Limits{Unauthenticated: true}, "*10\r\n", "")
	f(Limits{Unauthenticated: true}, "*11\r\n", "unauthenticated multibulk length")
	f(Limits{Unauthenticated: true}, "*2\r\n$16384\r\n", "")
	f(Limits{Unauthenticated: true}, "*2\r\n$16385\r\n", "unauthenticated bulk length")
	f(Limits{Unauthenticated: true}, "*2000000\r\n", "invalid multibulk length")
	f(Limits{Unauthenticated: true}, "*2\r\n$600000000\r\n", "invalid bulk length")
}

func TestReaderAuthenticatesWithinAPipeline(t *testing.T) {
	var r Reader
	_, _ = r.Write([]byte("AUTH x\r\n*11\r\n" + strings.Repeat("$1\r\na\r\n", 11)))
	args, err := r.Next(&Limits{Unauthenticated: true})
	require.NoError(t, err)
	require.Len(t, args, 2)
	args, err = r.Next(&Limits{})
	require.NoError(t, err)
	require.Len(t, args, 11)
}

// H3, and promise 7 of the design: 64 KiB before authentication, whatever is sent.
func TestReaderUnauthenticatedHoldsLittle(t *testing.T) {
	lim := &Limits{Unauthenticated: true}
	f := func(input, want string) {
		t.Helper()
		var r Reader
		var err error
		for at := 0; err == nil && at < len(input); {
			n := copy(r.Space(4096), input[at:])
			r.Advance(n)
			at += n
			_, err = r.Next(lim)
			require.LessOrEqual(t, r.Cap(), 64<<10)
		}
		require.EqualError(t, err, want, "%.40q", input)
	}
	f(strings.Repeat("x", 2<<20), "Protocol error: too big inline request")
	f("*"+strings.Repeat("1", 2<<20), "Protocol error: too big mbulk count string")
	bulk := "$16384\r\n" + strings.Repeat("x", 16384) + "\r\n"
	f("*10\r\n"+strings.Repeat(bulk, 10), ErrBufferLimit.Error())
	f("*5\r\n"+strings.Repeat(bulk, 3)+strings.Repeat("$", 2<<20), ErrBufferLimit.Error())
}

func TestReaderBufferLimit(t *testing.T) {
	lim := &Limits{MaxBuffer: 1 << 20}
	_, err := parse("*1\r\n$2000000\r\n"+strings.Repeat("x", 1<<20), lim)
	require.ErrorIs(t, err, ErrBufferLimit)
	_, err = parse("*1\r\n$2000000\r\n"+strings.Repeat("x", 2_000_002), lim)
	require.ErrorIs(t, err, ErrBufferLimit, "complete, but too large all the same")
	require.NotErrorAs(t, err, new(ProtocolError), "closed without a reply")

	got, err := parse(strings.Repeat("*1\r\n$4\r\nPING\r\n", 100_000), lim)
	require.NoError(t, err, "a long pipeline of small commands is not one large command")
	require.Len(t, got, 100_000)
}

// What Next says of the arguments: good until Space, and appending to one does not touch the next.
func TestReaderArgumentsStayUntilSpace(t *testing.T) {
	var r Reader
	_, _ = r.Write([]byte(strings.Repeat("*2\r\n$4\r\nECHO\r\n$3\r\nabc\r\n", 50) + "*2\r\n$4\r\nEC"))
	var all [][]byte
	for {
		args, err := r.Next(nil)
		require.NoError(t, err)
		if args == nil {
			break
		}
		_ = append(args[0], "!!!!!!!!"...)
		all = append(all, args...)
	}
	require.Equal(t, bytes.Repeat([]byte("ECHOabc"), 50), bytes.Join(all, nil))
	require.Equal(t, len("*2\r\n$4\r\nEC"), r.Buffered())
}

func TestAdvanceBeyondSpacePanics(t *testing.T) {
	var r Reader
	require.Panics(t, func() { r.Advance(1) })
	n := len(r.Space(1))
	require.Panics(t, func() { r.Advance(n + 1) })
}

func TestSplitArgs(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		got, err := SplitArgs([]byte(line))
		require.NoError(t, err, "%q", line)
		var words []string
		for _, w := range got {
			words = append(words, string(w))
		}
		require.Equal(t, want, words, "%q", line)
	}
	f("")
	f(" \t\v\f\r\n ")
	f("a  b\tc", "a", "b", "c")
	f("\va\vb", "a\vb")
	f(`"a b" 'c d'`, "a b", "c d")
	f(`"\x41\x0a\xZZ\n\r\t\b\a\"\\\q"`, "A\nxZZ\n\r\t\b\a\"\\q")
	f(`'a\'b\n\\ '`, `a'b\n\\ `)
	f(`foo"bar"`, "foobar")
	f(`a\ b`, `a\`, "b")
	f(`"" ''`, "", "")
	f(`"a'b" 'c"d'`, "a'b", `c"d`)
	f("\"a\"\vb", "a", "b")
	f("a\x00b c", "a")
	f(`"\xfF"`, "\xff")

	bad := func(line string) {
		t.Helper()
		_, err := SplitArgs([]byte(line))
		require.Equal(t, errUnbalancedQuotes, err, "%q", line)
	}
	bad(`"a`)
	bad(`'a\\'`) // only a quote can be escaped: the second backslash does that
	bad(`'a`)
	bad(`"a"b`)
	bad(`'a'b`)
	bad(`"a\`)
	bad(`"a\"`)
	bad(`'a\'`)
	bad(`"\x4`)
	bad("\"a\x00\"")
}
