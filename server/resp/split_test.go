package resp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// outcome is all that a client can see of an input: the commands, then the error.
func outcome(pieces [][]byte, lim *Limits) []string {
	var r Reader
	var all []string
	for _, p := range pieces {
		_, _ = r.Write(p)
		got, err := drain(&r, lim)
		all = append(all, got...)
		if err != nil {
			return append(all, fmt.Sprintf("error: %v", err))
		}
	}
	return all
}

// checkSplit feeds data whole, in two pieces cut at every place, and byte by byte.
func checkSplit(t *testing.T, data []byte, lim *Limits) {
	want := outcome([][]byte{data}, lim)
	for cut := 1; cut < len(data); cut++ {
		got := outcome([][]byte{data[:cut], data[cut:]}, lim)
		if !slices.Equal(want, got) {
			require.Equal(t, want, got, "%q cut at %d, %+v", data, cut, *lim)
		}
	}
	require.Equal(t, want, outcome(slices.Collect(slices.Chunk(data, 1)), lim), "%q byte by byte, %+v", data, *lim)
}

// splitLimits are narrow, so that short inputs reach them.
var splitLimits = [...]Limits{
	{},
	{MaxBulk: 20, MaxArgs: 4, MaxInline: 24, MaxBuffer: 60},
	{MaxInline: 30, MaxBuffer: 40, Unauthenticated: true},
	{MaxInline: 40, MaxBuffer: 12},
}

func checkSplits(t *testing.T, data []byte) {
	for i := range splitLimits {
		checkSplit(t, data, &splitLimits[i])
	}
}

var splitPieces = [...]string{
	"*", "$", "\r\n", "\r", "\n", "0", "1", "2", "3", "-1", "12", "\x00", " ", `"`, `'`, `\`, "x41", "PING",
	"*1\r\n", "*2\r\n", "*0\r\n", "*11\r\n", "*5000\r\n", "$4\r\nPING\r\n", "$0\r\n\r\n", "$1\r\na\r\n", "PING\r\n",
	"$30\r\n", "0123456789", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\nval\r\n", "$600000000\r\n", "$99999999999999999999\r\n",
	"ECHO 'a b'\n",
}

func TestSplitRandom(t *testing.T) {
	r := testRand(t)
	commands, failures := 0, 0
	for range 3_000 {
		var data []byte
		for range 1 + r.IntN(12) {
			data = append(data, splitPieces[r.IntN(len(splitPieces))]...)
		}
		checkSplits(t, data)
		for _, o := range outcome([][]byte{data}, &splitLimits[0]) {
			if strings.HasPrefix(o, "error") {
				failures++
			} else {
				commands++
			}
		}
	}
	require.Greater(t, commands, 300, "hardly any command: the test shows nothing")
	require.Greater(t, failures, 300, "hardly any error: the test shows nothing")
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(pipelined + "PING\r\n*0\r\n*2\r\n$4\r\nECHO\r\n$1\r\nx\r\n"))
	f.Add([]byte("SET a \"b\\x41\" 'c\\''\r\n*1\r\n:1\r\n"))
	for _, p := range splitPieces {
		f.Add([]byte("*2\r\n" + p + p))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 300 {
			return
		}
		checkSplits(t, data)
	})
}
