package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func strFind(L *lua.LState) int  { return findAux(L, true) }
func strMatch(L *lua.LState) int { return findAux(L, false) }

func findAux(L *lua.LState, find bool) int {
	s, p := stringArg(L, 1), stringArg(L, 2)
	init := min(max(position(optInt(L, 3, 1), len(s))-1, 0), len(s))
	if find && (lua.LVAsBool(L.Get(4)) || !strings.ContainsAny(p, "^$*+?.([%-")) {
		i := strings.Index(s[init:], p)
		if i < 0 {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(lua.LNumber(init + i + 1))
		L.Push(lua.LNumber(init + i + len(p)))
		return 2
	}
	anchored := strings.HasPrefix(p, "^")
	if anchored {
		p = p[1:]
	}
	m := matcher{L: L, src: s, pat: p}
	for at := init; ; at++ {
		m.level = 0
		if end := m.match(at, 0); end >= 0 {
			if find {
				L.Push(lua.LNumber(at + 1))
				L.Push(lua.LNumber(end))
				return m.pushCaptures(-1, -1) + 2
			}
			return m.pushCaptures(at, end)
		}
		if at >= len(s) || anchored {
			L.Push(lua.LNil)
			return 1
		}
	}
}

func strGmatch(L *lua.LState) int {
	s, p := stringArg(L, 1), stringArg(L, 2)
	at := 0
	L.Push(L.NewFunction(func(L *lua.LState) int {
		m := matcher{L: L, src: s, pat: p}
		for ; at <= len(s); at++ {
			m.level = 0
			if end := m.match(at, 0); end >= 0 {
				start := at
				if at = end; end == start {
					at++
				}
				return m.pushCaptures(start, end)
			}
		}
		L.Push(lua.LNil)
		return 1
	}))
	return 1
}

func strGsub(L *lua.LState) int {
	s, p := stringArg(L, 1), stringArg(L, 2)
	repl := L.Get(3)
	switch repl.(type) {
	case lua.LString, lua.LNumber, *lua.LTable, *lua.LFunction:
	default:
		argError(L, 3, "string/function/table expected")
	}
	most := optInt(L, 4, len(s)+1)
	anchored := strings.HasPrefix(p, "^")
	if anchored {
		p = p[1:]
	}
	m := matcher{L: L, src: s, pat: p}
	var buf []byte
	at, n := 0, 0
	for n < most {
		m.level = 0
		end := m.match(at, 0)
		if end >= 0 {
			n++
			buf = m.replace(buf, at, end, repl)
			checkLength(L, len(buf))
		}
		switch {
		case end >= 0 && end > at:
			at = end
		case at < len(s):
			buf = append(buf, s[at])
			at++
		default:
			at++
		}
		if at > len(s) || anchored {
			break
		}
	}
	if at <= len(s) {
		buf = append(buf, s[at:]...)
	}
	L.Push(lua.LString(buf))
	L.Push(lua.LNumber(n))
	return 2
}

// replace appends what stands for the match.
func (m *matcher) replace(buf []byte, start, end int, repl lua.LValue) []byte {
	L := m.L
	var v lua.LValue
	switch r := repl.(type) {
	case *lua.LFunction:
		L.Push(r)
		n := m.pushCaptures(start, end)
		L.Call(n, 1)
		v = L.Get(-1)
		L.Pop(1)
	case *lua.LTable:
		v = L.GetTable(r, m.capture(0, start, end))
	default:
		text, _ := asText(repl)
		return m.expand(buf, start, end, text)
	}
	if lua.LVIsFalse(v) {
		return append(buf, m.src[start:end]...)
	}
	text, ok := asText(v)
	if !ok {
		raise(L, "invalid replacement value (a %s)", v.Type().String())
	}
	return append(buf, text...)
}

func (m *matcher) expand(buf []byte, start, end int, repl string) []byte {
	for i := 0; i < len(repl); i++ {
		if repl[i] != '%' {
			buf = append(buf, repl[i])
			continue
		}
		i++
		switch {
		case i >= len(repl):
			buf = append(buf, 0)
		case repl[i] < '0' || repl[i] > '9':
			buf = append(buf, repl[i])
		case repl[i] == '0':
			buf = append(buf, m.src[start:end]...)
		default:
			text, _ := asText(m.capture(int(repl[i]-'1'), start, end))
			buf = append(buf, text...)
		}
	}
	return buf
}
