package server

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

// A recordedScript is a script of the corpus, and what Redis 7.0.15 answers.
type recordedScript struct{ source, want string }

// scriptCorpus reads testdata/scripts.txt: scripts, each with its reply behind
// it in a line that begins with "--> ". They run in this order, with the same keys
// and arguments.
func scriptCorpus(t *testing.T) (all []recordedScript) {
	text, err := os.ReadFile("testdata/scripts.txt")
	require.NoError(t, err)
	var source []string
	for _, line := range strings.Split(string(text), "\n") {
		quoted, ok := strings.CutPrefix(line, "--> ")
		if !ok {
			source = append(source, line)
			continue
		}
		want, err := strconv.Unquote(quoted)
		require.NoError(t, err, line)
		all = append(all, recordedScript{strings.Trim(strings.Join(source, "\n"), "\n"), want})
		source = nil
	}
	require.Greater(t, len(all), 400)
	return all
}

// evalLine is the EVAL of a script of the corpus.
func evalLine(source string) string {
	var args [][]byte
	for _, a := range []string{"EVAL", source, "2", "k1", "k2", "a1", "0010", "3.5", "x y"} {
		args = append(args, []byte(a))
	}
	return string(transcript.Encode(args))
}

// Scripts answer what they answer in Redis, byte for byte.
func TestScriptsAnswerAsRecorded(t *testing.T) {
	c := serve(t).dial()
	for _, r := range scriptCorpus(t) {
		c.write(evalLine(r.source))
		require.Equal(t, r.want, c.reply(), r.source)
	}
}

// The same a second time in one server, where they are known and run at the home.
func TestKnownScriptsAnswerAsRecorded(t *testing.T) {
	s := serve(t)
	c := s.dial()
	for range 2 {
		c.do("FLUSHALL")
		for _, r := range scriptCorpus(t) {
			c.write(evalLine(r.source))
			require.Equal(t, r.want, c.reply(), r.source)
		}
	}
}

// What is recorded is what Redis says.
func TestRecordedScriptsDuel(t *testing.T) {
	r := redisServer(t)
	for _, one := range scriptCorpus(t) {
		_, err := io.WriteString(r.Conn, evalLine(one.source))
		require.NoError(t, err)
		require.Equal(t, one.want, r.reply(), one.source)
	}
}
