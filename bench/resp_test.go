package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// parse feeds the bytes in two parts and lists the tokens; a bar ends a reply.
func parse(t *testing.T, text string, cut int) string {
	t.Helper()
	var p parser
	var out strings.Builder
	var buf []byte
	for _, part := range []string{text[:cut], text[cut:]} {
		buf = append(buf, part...)
		for {
			tok, used, err := p.next(buf)
			require.NoError(t, err)
			if used == 0 {
				break
			}
			buf = buf[used:]
			fmt.Fprintf(&out, "%c%s ", tok.kind, tok.body)
			if p.done() {
				out.WriteString("| ")
			}
		}
	}
	require.Empty(t, buf)
	return strings.TrimSpace(out.String())
}

func TestParserTakesRepliesCutAnywhere(t *testing.T) {
	const text = "+OK\r\n$5\r\nhe\r\no\r\n*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$-1\r\n:-42\r\n-ERR no\r\n*0\r\n*-1\r\n$0\r\n\r\n*1\r\n*1\r\n:7\r\n"
	const want = "+OK | $he\r\no | *2 $0 *2 $a _-1 | :-42 | -ERR no | *0 | _-1 | $ | *1 *1 :7 |"
	for cut := range len(text) {
		require.Equal(t, want, parse(t, text, cut), "cut at %d", cut)
	}
}

func TestParserRefusesWhatIsNotRESP(t *testing.T) {
	for _, bad := range []string{"HTTP/1.1 400\r\n", "$x\r\n", ":\r\n", "*99999999999999999999\r\n", "\r\n", "+OK\n"} {
		var p parser
		_, _, err := p.next([]byte(bad))
		require.ErrorIs(t, err, errProtocol, bad)
	}
}

func TestAppendCommand(t *testing.T) {
	require.Equal(t, "*2\r\n$3\r\nGET\r\n$0\r\n\r\n", string(appendCommand(nil, "GET", "")))
}

func TestReason(t *testing.T) {
	wrapped := fmt.Errorf("SADD: %w", serverError("ERR unknown command 'SADD', with args"))
	require.Equal(t, "n/a (unknown command)", reason(wrapped))
	require.Equal(t, "n/a (OOM)", reason(serverError("OOM")))
}
