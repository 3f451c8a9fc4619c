package script

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNesting: blocks nest as deep as in C Lua and no deeper, and what only looks
// nested goes on for long.
func TestNesting(t *testing.T) {
	nested := func(n int, open, end string) error {
		_, err := Compile("x", strings.Repeat(open, n)+strings.Repeat(end, n))
		return err
	}
	for _, open := range []string{"do ", "if x then ", "while x do ", "local function f() "} {
		require.NoError(t, nested(199, open, "end "), open)
		require.EqualError(t, nested(200, open, "end "), "x:1: chunk has too many syntax levels", open)
	}
	_, err := Compile("x", "if a then b = 1 "+strings.Repeat("elseif a then b = 2 ", 2000)+"else b = 3 end")
	require.NoError(t, err)
	_, err = Compile("x", "if a then b = 1 "+strings.Repeat("elseif a then b = 2 ", 50_000)+"end")
	require.Error(t, err)
}
