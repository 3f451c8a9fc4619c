package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxString is how long a string may get, in bytes: as a value of Redis.
const maxString = 512 << 20

func intArg(L *lua.LState, n int) int { return int(integerArg(L, n)) }

func optInt(L *lua.LState, n, otherwise int) int { return int(optInteger(L, n, int64(otherwise))) }

// openString sets the string library, also as the methods of strings.
func (st *State) openString() {
	t := st.L.SetFuncs(st.L.NewTable(), map[string]lua.LGFunction{
		"byte": strByte, "char": strChar, "dump": strDump, "find": strFind, "format": strFormat,
		"gmatch": strGmatch, "gfind": strGmatch, "gsub": strGsub, "len": strLen, "lower": strLower,
		"match": strMatch, "rep": strRep, "reverse": strReverse, "sub": strSub, "upper": strUpper,
	})
	st.globals.RawSetString("string", t)
	mt := st.L.NewTable()
	st.L.SetFuncs(mt, arithmetics())
	mt.RawSetString("__index", t)
	st.L.SetMetatable(lua.LString(""), mt)
}

// checkLength refuses strings that could use the memory up.
func checkLength(L *lua.LState, n int) {
	if n > maxString {
		raise(L, "string length overflow")
	}
}

// position turns an index that may count from the end into one that does not.
func position(i, n int) int {
	if i < 0 {
		i += n + 1
	}
	return max(i, 0)
}

func strByte(L *lua.LState) int {
	s := stringArg(L, 1)
	from := position(optInt(L, 2, 1), len(s))
	to := min(position(optInt(L, 3, from), len(s)), len(s))
	from = max(from, 1)
	if from > to {
		return 0
	}
	if to-from+1 >= maxUnpack {
		raise(L, "string slice too long")
	}
	for i := from; i <= to; i++ {
		L.Push(lua.LNumber(s[i-1]))
	}
	return to - from + 1
}

func strChar(L *lua.LState) int {
	n := L.GetTop()
	b := make([]byte, n)
	for i := 1; i <= n; i++ {
		c := int32(integerArg(L, i))
		if c < 0 || c > 255 {
			argError(L, i, "invalid value")
		}
		b[i-1] = byte(c)
	}
	L.Push(lua.LString(b))
	return 1
}

// strDump gives what nothing can load: compiled code is not accepted.
func strDump(L *lua.LState) int {
	functionArg(L, 1)
	L.Push(lua.LString(precompiled))
	return 1
}

func strLen(L *lua.LState) int {
	L.Push(lua.LNumber(len(stringArg(L, 1))))
	return 1
}

// mapBytes maps letters of ASCII only, as C does without a locale.
func mapBytes(s string, from, to byte, delta byte) string {
	b := []byte(s)
	for i, c := range b {
		if from <= c && c <= to {
			b[i] = c + delta
		}
	}
	return string(b)
}

func strLower(L *lua.LState) int {
	L.Push(lua.LString(mapBytes(stringArg(L, 1), 'A', 'Z', 'a'-'A')))
	return 1
}

func strUpper(L *lua.LState) int {
	L.Push(lua.LString(mapBytes(stringArg(L, 1), 'a', 'z', 256-('a'-'A'))))
	return 1
}

func strRep(L *lua.LState) int {
	s, n := stringArg(L, 1), intArg(L, 2)
	if n <= 0 || s == "" {
		L.Push(lua.LString(""))
		return 1
	}
	if n > maxString/len(s) {
		checkLength(L, maxString+1)
	}
	L.Push(lua.LString(strings.Repeat(s, n)))
	return 1
}

func strReverse(L *lua.LState) int {
	s := stringArg(L, 1)
	b := make([]byte, len(s))
	for i := range b {
		b[i] = s[len(s)-1-i]
	}
	L.Push(lua.LString(b))
	return 1
}

func strSub(L *lua.LState) int {
	s := stringArg(L, 1)
	from := max(position(intArg(L, 2), len(s)), 1)
	to := min(position(optInt(L, 3, -1), len(s)), len(s))
	if from > to {
		L.Push(lua.LString(""))
	} else {
		L.Push(lua.LString(s[from-1 : to]))
	}
	return 1
}
