package script

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// A quietHost lets nothing out; after some calls of Interrupt it ends the run.
type quietHost struct {
	logged []string
	left   int
}

func (*quietHost) Call([][]byte, int) ([]byte, error) { return []byte("+OK\r\n"), nil }
func (*quietHost) Allowed([][]byte) (bool, error)     { return true, nil }
func (h *quietHost) Log(_ int, line string)           { h.logged = append(h.logged, line) }
func (*quietHost) Replicate(bool, bool)               {}
func (h *quietHost) Interrupt() (err error) {
	if h.left--; h.left == 0 {
		err = errors.New("ERR over")
	}
	return err
}

func loaded(t *testing.T, e *FunctionEngine, code string) *Library {
	lib, err := ParseLibrary(code)
	require.NoError(t, err)
	require.NoError(t, e.Load(lib, &quietHost{}))
	return lib
}

func call(t *testing.T, e *FunctionEngine, set *Functions, name string) lua.LValue {
	fs := e.Take(set)
	defer e.Give(fs)
	host := &quietHost{}
	fn, failure := fs.Lookup(set.Find(name), host)
	require.Nil(t, failure)
	v, failure := fs.Invoke(&Run{Host: host}, fn)
	require.Nil(t, failure)
	require.Empty(t, host.logged)
	return v
}

const counting = `#!lua name=counting
redis.log(redis.LOG_WARNING, 'loading')
local n = 0
redis.register_function('count', function() n = n + 1 return n end)
redis.register_function{function_name='Other', callback=function() return {} end, flags={'no-writes', 'allow-stale'}, description='what'}`

func TestLibrary(t *testing.T) {
	var e FunctionEngine
	lib := loaded(t, &e, counting)
	require.Equal(t, "counting", lib.Name)
	require.Equal(t, counting, lib.Code)
	require.Len(t, lib.Functions, 2)
	other, count := lib.Functions[0], lib.Functions[1]
	require.Equal(t, Function{Name: "count", Library: lib}, *count)
	require.Equal(t, Function{Name: "Other", Description: "what", Described: true, Flags: NoWrites | AllowStale, Library: lib}, *other)
	require.Equal(t, []string{"no-writes", "allow-stale"}, other.Flags.Names())
}

// What a library keeps lives on from call to call; a state that has not run it
// before loads it again, without a word in the log, and begins anew.
func TestStatesOfALibrary(t *testing.T) {
	var e FunctionEngine
	set, err := (&Functions{}).With(loaded(t, &e, counting), false)
	require.NoError(t, err)
	require.Equal(t, lua.LNumber(1), call(t, &e, set, "count"))
	require.Equal(t, lua.LNumber(2), call(t, &e, set, "COUNT"))
	busy := e.Take(set)
	require.Equal(t, lua.LNumber(1), call(t, &e, set, "count"))
	e.Give(busy)
	require.Equal(t, lua.LNumber(3), call(t, &e, set, "count"))
}

// The host may end the loading for a call, and finds its own error again.
func TestLookupIsLeft(t *testing.T) {
	var e FunctionEngine
	set := setOf(t, loaded(t, &e, "#!lua name=x\nlocal n = 0\nfor i = 1, 1e5 do n = n + i end\nredis.register_function('f', function() return n end)"))
	busy := e.Take(set) // it has the library
	fs := e.Take(set)
	_, failure := fs.Lookup(set.Find("f"), &quietHost{left: 2})
	require.EqualError(t, failure.Err, "ERR over")
	e.Give(fs)
	require.Equal(t, lua.LNumber(5000050000), call(t, &e, set, "f"))
	e.Give(busy)
}

// A library that was replaced is gone from the states that had it.
func TestReplacedLibrary(t *testing.T) {
	var e FunctionEngine
	set, err := (&Functions{}).With(loaded(t, &e, counting), false)
	require.NoError(t, err)
	require.Equal(t, lua.LNumber(1), call(t, &e, set, "count"))
	next, err := set.With(loaded(t, &e, "#!lua name=counting\nredis.register_function('count', function() return 'new' end)"), true)
	require.NoError(t, err)
	require.Equal(t, lua.LString("new"), call(t, &e, next, "count"))
	require.Nil(t, next.Find("other"))
	fs := e.Take(next)
	require.Len(t, fs.loaded, 1)
	require.Equal(t, lua.LNumber(1), call(t, &e, set, "count"), "who still has the old set finds the old function")
}

func TestFunctionsSet(t *testing.T) {
	var e FunctionEngine
	one := loaded(t, &e, "#!lua name=one\nredis.register_function('f', function() end) redis.register_function('g', function() end)")
	two := loaded(t, &e, "#!lua name=two\nredis.register_function('G', function() end)")
	other := loaded(t, &e, "#!lua name=one\nredis.register_function('h', function() end)")
	var none Functions
	set, err := none.With(one, false)
	require.NoError(t, err)
	_, err = set.With(two, false)
	require.EqualError(t, err, "Function G already exists")
	_, err = set.With(other, false)
	require.EqualError(t, err, "Library 'one' already exists")

	restored, err := none.With(other, false)
	require.NoError(t, err)
	restored, err = restored.With(two, false)
	require.NoError(t, err)
	_, err = set.Join(restored, false)
	require.EqualError(t, err, "Library one already exists")
	joined, err := set.Join(restored, true)
	require.NoError(t, err)
	require.Equal(t, []*Library{other, two}, joined.Libraries())
	libraries, functions := joined.Len()
	require.Equal(t, [2]int{2, 2}, [2]int{libraries, functions})
	require.Nil(t, joined.Find("f"))
	require.Same(t, two, joined.Find("g").Library)

	left := joined.Without("two")
	require.Nil(t, left.Find("g"))
	libraries, functions = set.Len()
	require.Equal(t, [2]int{1, 2}, [2]int{libraries, functions}, "a set does not change")
}

// A library that never ends is ended.
func TestEndlessLibrary(t *testing.T) {
	var e FunctionEngine
	for _, loop := range []string{"while true do end", "while true do end", "local function f() while true do end end f()"} {
		lib, err := ParseLibrary("#!lua name=x\n" + loop)
		require.NoError(t, err)
		require.EqualError(t, e.Load(lib, &quietHost{left: 3}), "Error registering functions: ERR over")
	}
	require.Equal(t, lua.LNumber(1), call(t, &e, setOf(t, loaded(t, &e, counting)), "count"), "the state is good for another")
}

// Source that would take a thousand times its size to compile is refused.
func TestLargeSource(t *testing.T) {
	for _, source := range []string{strings.Repeat("f(function() end)\n", 100_000), strings.Repeat("x = 1\n", 1_000_000)} {
		_, err := Compile("user_script", source)
		require.EqualError(t, err, "user_script:1: chunk is too large")
	}
}

func setOf(t *testing.T, lib *Library) *Functions {
	set, err := (&Functions{}).With(lib, false)
	require.NoError(t, err)
	return set
}

// FuzzLibraryHead: no first line makes more than an error.
func FuzzLibraryHead(f *testing.F) {
	for _, seed := range []string{"#!lua name=x\n", "#!", "#!lua name=\"\\x00\"\nx", "#!lua name='\n", "#!\n", "#!lua foo=\xff\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, code string) {
		lib, err := ParseLibrary(code)
		if err == nil {
			require.NoError(t, checkName(lib.Name))
			require.Equal(t, code[len(code)-len(lib.rest):], lib.rest)
		}
	})
}
