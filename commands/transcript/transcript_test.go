package transcript

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		words, err := Split(line)
		require.NoError(t, err)
		var got []string
		for _, w := range words {
			got = append(got, string(w))
		}
		require.Equal(t, want, got)
	}
	f("")
	f(" SET  a\t1 ", "SET", "a", "1")
	f(`SET "" ''`, "SET", "", "")
	f(`"a b" 'c d'`, "a b", "c d")
	f(`"\n\r\t\b\a\x00\xfF\q\""`, "\n\r\t\b\a\x00\xffq\"")
	f(`'\n\''`, `\n'`)
	f(`k"a"`, "ka")
	for _, bad := range []string{`"a`, `'a`, `"a"b`, `"a\`, `'a\'`} {
		_, err := Split(bad)
		require.ErrorIs(t, err, ErrQuotes, bad)
	}
}

func TestQuoteAndSplitAgree(t *testing.T) {
	var all []byte
	for c := range 256 {
		all = append(all, byte(c))
	}
	words, err := Split(Quote(string(all)))
	require.NoError(t, err)
	require.Equal(t, [][]byte{all}, words)
}

func TestString(t *testing.T) {
	f := func(raw, want string) {
		t.Helper()
		v, err := ReadAll([]byte(raw))
		require.NoError(t, err)
		require.Equal(t, want, v.String())
	}
	f("+OK\r\n", "OK")
	f("+\r\n", `(status) ""`)
	f("-ERR x\r\n", "(error) ERR x")
	f(":-5\r\n", "(integer) -5")
	f("$-1\r\n", "(nil)")
	f("*-1\r\n", "(nil)")
	f("_\r\n", "(nil)")
	f("$0\r\n\r\n", `""`)
	f("$5\r\na\r\n\"\xff\r\n", `"a\r\n\"\xff"`)
	f("*0\r\n", "(empty array)")
	f("%0\r\n", "(empty hash)")
	f("~0\r\n", "(empty set)")
	f(",1.5\r\n", "(double) 1.5")
	f("#t\r\n", "(true)")
	f("(123456789012345678901\r\n", "(big number) 123456789012345678901")
	f("=8\r\ntxt:a\nb\n\r\n", `(verbatim txt) "a\nb\n"`)
	f("*2\r\n*2\r\n:1\r\n:2\r\n:3\r\n", "1) 1) (integer) 1\n   2) (integer) 2\n2) (integer) 3")
	f("*10\r\n"+strings.Repeat(":1\r\n", 9)+"*2\r\n:1\r\n:2\r\n",
		" 1) (integer) 1\n 2) (integer) 1\n 3) (integer) 1\n 4) (integer) 1\n 5) (integer) 1\n 6) (integer) 1\n"+
			" 7) (integer) 1\n 8) (integer) 1\n 9) (integer) 1\n10) 1) (integer) 1\n    2) (integer) 2")
	f("%2\r\n+a\r\n:1\r\n+b\r\n*2\r\n:1\r\n:2\r\n", "1# a => (integer) 1\n2# b => \n   1) (integer) 1\n   2) (integer) 2")
	f("~1\r\n$1\r\na\r\n", `1~ "a"`)
}

func TestReadIsStrict(t *testing.T) {
	for _, bad := range []string{
		"", "+OK", "+OK\n", "+O\rK\r\n", "\r\n", "OK\r\n", ":1x\r\n", ":+1\r\n", ":01\r\n", "$-2\r\n", "$01\r\nab", "$1\r\nab\r\n",
		"$2\r\na\r\n", "*2\r\n:1\r\n", "%-1\r\n", "%1\r\n:1\r\n", "#x\r\n", "_x\r\n", ",x\r\n", "=3\r\ntxt\r\n", "+OK\r\n+OK\r\n", "$3\r\nab\r\n\r\n",
		strings.Repeat("*1\r\n", 100) + ":1\r\n",
	} {
		_, err := ReadAll([]byte(bad))
		require.Error(t, err, "%q", bad)
	}
}

const sample = `# A comment.

> SET a 1
OK
ignore
> INFO
# Right behind it.
client b
advance 150ms
advance 2d
unordered
approx
> SCAN 0
1) "0"
2) 1) "a"
   2) "b"

> ECHO ""
`

func TestParse(t *testing.T) {
	f, err := Parse("x", []byte(sample))
	require.NoError(t, err)
	require.Equal(t, sample, string(f.Bytes()))
	require.Len(t, f.Steps, 6)
	require.Equal(t, "OK", f.Steps[0].Want)
	require.Equal(t, "main", f.Steps[1].Session)
	require.Equal(t, Ignore, f.Steps[1].Modifier)
	require.Equal(t, 48*time.Hour+150*time.Millisecond, f.Passing())
	require.Equal(t, "b", f.Steps[4].Session)
	require.Equal(t, Unordered|Approx, f.Steps[4].Modifier)
	require.Equal(t, "1) \"0\"\n2) 1) \"a\"\n   2) \"b\"", f.Steps[4].Want)
	require.Equal(t, 13, f.Steps[4].Line)
	f.Steps[5].Want = `""`
	f.Steps[0].Want = "(nil)"
	require.Equal(t, strings.Replace(sample, "\nOK\n", "\n(nil)\n", 1)+"\"\"\n", string(f.Bytes()))
}

func TestParseRefuses(t *testing.T) {
	for _, bad := range []string{"OK\n", "> \n", "> GET \"a\n", "ignore\n", "ignore\nclient b\n> GET a\n", "\nadvance 0s\n", "advance 5\n"} {
		_, err := Parse("x", []byte(bad))
		require.Error(t, err, bad)
	}
}

func TestMatches(t *testing.T) {
	f := func(m Modifier, want, got string, match bool) {
		t.Helper()
		require.Equal(t, match, (&Step{Modifier: m, Want: want}).Matches(got), "%s / %s", want, got)
	}
	f(0, "OK", "OK", true)
	f(0, "OK", "OK ", false)
	f(Ignore, "OK", "(nil)", true)
	f(Unordered, "1) \"a\"\n2) \"b\"", "1) \"b\"\n2) \"a\"", true)
	f(Unordered, "1) \"a\"\n2) \"b\"", "1) \"b\"\n2) \"b\"", false)
	f(Unordered, "1) \"a\"\n2) \"b\"", "1~ \"b\"\n2~ \"a\"", true) // the numbers' mark is not looked at
	f(Unordered, "1) 1) \"a\"\n   2) \"b\"\n2) \"c\"", "1) \"c\"\n2) 1) \"b\"\n   2) \"a\"", true)
	f(Unordered, "1) 1) \"a\"\n   2) \"b\"\n2) \"c\"", "1) \"a\"\n2) 1) \"b\"\n   2) \"c\"", false)
	f(Unordered, "1) \"a\"\n2) \"b\"", "1) 1) \"a\"\n   2) \"b\"", false)
	f(Approx, "(integer) 100", "(integer) 98", true)
	f(Approx, "(integer) 100", "(integer) 97", false)
	f(Approx, "(integer) 2", "(integer) 0", true)
	f(Approx, "(integer) 10000", "(integer) 9900", true)
	f(Approx, "(integer) -1", "(integer) -2", false)
	f(Approx, "(integer) 1", "(integer) -1", false)
	f(Approx, `"0.3"`, `"0.30000000000000004"`, true)
	f(Approx, `"0.3"`, `"0.4"`, false)
	f(Approx, `"a1"`, `"b1"`, false)
}

func TestUpdateKeepsWhatMatches(t *testing.T) {
	s := Step{Modifier: Approx, Want: "(integer) 100"}
	s.Update(Reply{Kind: ':', Text: "99"})
	require.Equal(t, "(integer) 100", s.Want)
	s.Update(Reply{Kind: ':', Text: "9"})
	require.Equal(t, "(integer) 9", s.Want)
}

func TestCommandCanBeParsedAgain(t *testing.T) {
	args, err := Split(`SET "a b" "" "\x00" "it's"`)
	require.NoError(t, err)
	again, err := Split((&Step{Args: args}).Command())
	require.NoError(t, err)
	require.Equal(t, args, again)
}

// echo answers every command with its last argument, and PAIR with two replies.
type echo struct{ waited time.Duration }

func (e *echo) Advance(d time.Duration) error { e.waited += d; return nil }

func (e *echo) Do(session string, args [][]byte) ([]byte, error) {
	switch string(args[0]) {
	case "PAIR":
		return []byte("+1\r\n+2\r\n"), nil
	case "FAIL":
		return nil, errors.New("broken")
	}
	return []byte("+" + session + " " + string(args[len(args)-1]) + "\r\n"), nil
}

func TestPlay(t *testing.T) {
	play := func(text string) (got []string, passed time.Duration, err error) {
		f, err := Parse("x", []byte(text))
		require.NoError(t, err)
		p := &echo{}
		err = f.Play(p, func(_ *Step, _ []byte, v Reply) error { got = append(got, v.Text); return nil })
		return got, p.waited, err
	}
	got, passed, err := play("> A x\nadvance 3s\nclient b\n> B\n")
	require.NoError(t, err)
	require.Equal(t, []string{"main x", "b B"}, got)
	require.Equal(t, 3*time.Second, passed)
	_, _, err = play("> A\n> PAIR\n")
	require.ErrorContains(t, err, "x:2: > PAIR: not one reply")
	_, _, err = play("> FAIL\n")
	require.ErrorContains(t, err, "broken")
}

func TestRemote(t *testing.T) {
	sessions := 0
	r := &Remote{Dial: func() (io.ReadWriteCloser, error) {
		sessions++
		here, there := net.Pipe()
		go func() {
			in := bufio.NewReader(there)
			for {
				v, _, err := Read(in)
				if err != nil {
					return
				}
				_, _ = there.Write([]byte("+" + v.Elems[0].Text + "\r\n"))
			}
		}()
		return here, nil
	}}
	for _, session := range []string{"a", "b", "a"} {
		raw, err := r.Do(session, [][]byte{[]byte("PING"), nil})
		require.NoError(t, err)
		require.Equal(t, "+PING\r\n", string(raw))
	}
	require.Equal(t, 2, sessions)
	require.NoError(t, r.Close())
}
