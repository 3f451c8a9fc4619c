package script

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// A bounded host serves scripts that call nothing; it ends them after so many
// interrupts.
type bounded struct{ left int }

var errEnded = errors.New("ERR ended")

func (*bounded) Call([][]byte, int) ([]byte, error) { return []byte("+OK\r\n"), nil }
func (*bounded) Allowed([][]byte) (bool, error)     { return true, nil }
func (*bounded) Log(int, string)                    {}
func (*bounded) Replicate(bool, bool)               {}
func (q *bounded) Interrupt() error {
	if q.left--; q.left < 0 {
		return errEnded
	}
	return nil
}

// invoke runs source in a new state.
func invoke(t *testing.T, source string) (lua.LValue, *Failure) {
	t.Helper()
	var e Engine
	chunk, err := Compile("user_script", source)
	require.NoError(t, err)
	st := e.Take()
	return st.Invoke(&Run{Host: &bounded{1000}}, st.Function("f", chunk))
}

// A table of few elements with large indices takes little.
func TestSparseTables(t *testing.T) {
	v, failure := invoke(t, "local t = {} for i = 1, 100 do t[60000000 + i] = i end local n = 0 for _ in pairs(t) do n = n + 1 end return n + t[60000100]")
	require.Nil(t, failure)
	require.Equal(t, lua.LNumber(200), v)
}

// What ends a script can't be caught, whatever it does.
func TestInterrupt(t *testing.T) {
	for _, source := range []string{
		"while true do end",
		"while true do pcall(function() while true do end end) end",
		"repeat until xpcall(function() while true do end end, function() while true do end end)",
		"coroutine.wrap(function() while true do end end)()",
		"local co = coroutine.create(function() while true do coroutine.yield() end end) while true do coroutine.resume(co) end",
		"return string.find(string.rep('a', 100000), '.-.-.-.-b')",
		"local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) while true do pcall(function() return t[1] end) end",
		"for i = 1, 0, 0 do end",
	} {
		_, failure := invoke(t, source)
		require.NotNil(t, failure, source)
		require.ErrorIs(t, failure.Err, errEnded, source)
	}
}

// One run leaves nothing for the next in the same state.
func TestNothingStays(t *testing.T) {
	var e Engine
	run := func(source string) string {
		chunk, err := Compile("user_script", source)
		require.NoError(t, err)
		st := e.Take()
		defer e.Give(st)
		v, failure := st.Invoke(&Run{Host: &bounded{1000}}, st.Function(source, chunk))
		if failure != nil {
			return failure.Text
		}
		return v.String()
	}
	run("local f = coroutine.wrap(function() error('x') end) f()")
	run("local function f() return 1 + f() end f()")
	run("getmetatable('').__index.upper = 1")
	run("rawset(string, 'upper', 1)")
	run("string.leak = 1")
	run("for _, lib in pairs({string, table, math, redis, _G}) do pcall(rawset, lib, 'leak', 1) pcall(setmetatable, lib, {}) end")
	require.Equal(t, "ABC", run("return ('abc'):upper()"))
	require.Equal(t, "nil", run("return tostring(string.leak)"))
	require.Contains(t, run("return leak"), "nonexistent global variable 'leak'")
	require.Equal(t, "7", run("return 3 + 4"))
}
