package scan

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseCursor(t *testing.T) {
	f := func(in string, want uint64) {
		t.Helper()
		c, ok := ParseCursor([]byte(in))
		require.True(t, ok, "%q", in)
		require.Equal(t, Cursor(want), c, "%q", in)
	}
	f("0", 0)
	f("", 0)
	f("\x00abc", 0)
	f("12\x00abc", 12)
	f("007", 7)
	f("+7", 7)
	f("4503599627370495", 1<<52-1)
	f("18446744073709551615", math.MaxUint64)
	f("-1", math.MaxUint64)
	f("-18446744073709551615", 1)
}

// TestParseCursorBad is A10.
func TestParseCursorBad(t *testing.T) {
	for _, in := range []string{"abc", " 0", "0 ", "\t1", "18446744073709551616", "-18446744073709551616", "99999999999999999999", "-", "+", "+-1", "--1", "1.0", "0x10", "1a"} {
		_, ok := ParseCursor([]byte(in))
		require.False(t, ok, "%q", in)
	}
}

// TestCursorBounds is A6, A7 and A31: a decimal below 2^53 that keeps the top
// 52 bits of the position, and no arithmetic that wraps.
func TestCursorBounds(t *testing.T) {
	require.Equal(t, Cursor(1<<52-1), cursorAt(math.MaxUint64))
	require.Equal(t, "4503599627370495", string(cursorAt(math.MaxUint64).Append(nil)))
	pos, ok := cursorAt(math.MaxUint64).position()
	require.True(t, ok)
	require.Equal(t, ^uint64(1<<12-1), pos)
	for _, c := range []Cursor{1 << 52, 1<<52 + 1, 1 << 53, math.MaxUint64} {
		_, ok := c.position()
		require.False(t, ok, "%d", c)
	}
}

func FuzzCursor(f *testing.F) {
	f.Add([]byte("123"))
	f.Add([]byte("-1"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c, ok := ParseCursor(in)
		if !ok {
			return
		}
		again, ok := ParseCursor(c.Append(nil))
		require.True(t, ok)
		require.Equal(t, c, again)
	})
}
