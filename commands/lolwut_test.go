package commands

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func lolwutText(t *testing.T, line string) string {
	h := newHarness(1, 7)
	raw, err := h.Do("", words(line))
	require.NoError(t, err)
	require.Equal(t, byte('$'), raw[0], "%.200q", raw)
	_, text, _ := bytes.Cut(bytes.TrimSuffix(raw, []byte("\r\n")), []byte("\r\n"))
	return string(text)
}

// TestLolwutIsRedis: two rows of squares have no chance in them, so all but the
// version must be as Redis draws it.
func TestLolwutIsRedis(t *testing.T) {
	redis := startRedis(t, findRedis(t))
	for _, line := range []string{"LOLWUT VERSION 5 66 8 2", "LOLWUT version 5 1 1 1", "LOLWUT VERSION 5 2 1 2", "LOLWUT VERSION 4294967301 30 7 1",
		"LOLWUT VERSION 5 0 1 -1", "LOLWUT VERSION 5 100 200 2", "LOLWUT", "LOLWUT a b", "LOLWUT VERSION", "LOLWUT VERSION 7 x"} {
		raw, err := redis.Do("", words(line))
		require.NoError(t, err)
		raw = bytes.Replace(raw, []byte("7.0.15"), []byte(RedisVersion), 1)
		_, want, _ := bytes.Cut(bytes.TrimSuffix(raw, []byte("\r\n")), []byte("\r\n"))
		require.Equal(t, string(want), lolwutText(t, line), line)
	}
}

func TestLolwut5(t *testing.T) {
	lines := strings.Split(lolwutText(t, "LOLWUT VERSION 5"), "\n")
	require.Len(t, lines, 52)
	for _, line := range lines[:49] {
		require.Equal(t, 66, utf8.RuneCountInString(line))
	}
	require.Equal(t, []string{"", "Georg Nees - schotter, plotter on paper, 1968. Redis ver. 7.2.4", ""}, lines[49:])
	require.NotEqual(t, lines, strings.Split(lolwutText(t, "LOLWUT VERSION 5 66 8 13"), "\n"))
	require.Less(t, len(lolwutText(t, "LOLWUT VERSION 5 1000 1 200")), 4<<20, "bounded, unlike that of Redis")
}

func TestLolwut6(t *testing.T) {
	lines := strings.Split(lolwutText(t, "LOLWUT VERSION 6 30 9"), "\n")
	require.Len(t, lines, 12)
	seen := map[string]bool{}
	for _, line := range lines[:9] {
		dots := strings.SplitAfter(line, "\x1b[0m")
		require.Len(t, dots, 31)
		for _, d := range dots[:30] {
			seen[d] = true
		}
	}
	require.Len(t, seen, 4, "all four greys: %q", seen)
	require.Equal(t, "Original 8 bit image from Plaguemon by hikikomori. Redis ver. 7.2.4", lines[10])
}
