package script

import (
	"regexp"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// gopher-lua's messages are not C Lua's. They are put into C Lua's words on
// their way to whoever catches them.

// A message is one of gopher-lua's, as a pattern, and what it becomes.
type message struct {
	theirs *regexp.Regexp
	ours   func(L *lua.LState, m []string) string
}

// place is what stands before a message: "user_script:1:".
const place = `^(.*:\d+:) `

func fixed(text string) func(*lua.LState, []string) string {
	return func(*lua.LState, []string) string { return text }
}

func of(pattern string) *regexp.Regexp { return regexp.MustCompile(place + pattern + `$`) }

var messages = []message{
	{of(`attempt to index a non-table object\((\w+)\) with key '((?s:.*))'`), func(L *lua.LState, m []string) string {
		return about(L, "index", m[2], indexing(m[3]))
	}},
	{of(`attempt to call a non-function object`), func(L *lua.LState, _ []string) string {
		return unary(L, "call", calling, func(v lua.LValue) bool { return v.Type() != lua.LTFunction })
	}},
	{of(`cannot perform (\w+) operation between (\w+) and (\w+)`), func(L *lua.LState, m []string) string {
		return arithmetic(L, m[2], m[3], m[4])
	}},
	{of(`attempt to compare (\w+) with (\w+)`), func(_ *lua.LState, m []string) string {
		if m[2] == m[3] {
			return "attempt to compare two " + m[2] + " values"
		}
		return "attempt to compare " + m[2] + " with " + m[3]
	}},
	{of(`__unm undefined`), func(L *lua.LState, _ []string) string {
		return unary(L, "perform arithmetic on", using(lua.OP_UNM), func(v lua.LValue) bool { _, ok := asNumber(v); return !ok })
	}},
	{of(`for statement init must be a number`), fixed("'for' initial value must be a number")},
	{of(`for statement limit must be a number`), fixed("'for' limit must be a number")},
	{of(`for statement step must be a number`), fixed("'for' step must be a number")},
	{of(`registry overflow`), fixed("stack overflow")},
	{of(`too many recursions in gettable`), fixed("loop in gettable")},
	{of(`too many recursions in settable`), fixed("loop in settable")},
}

// mended returns an error value with its text in C Lua's words.
func mended(L *lua.LState, v lua.LValue) lua.LValue {
	s, ok := v.(lua.LString)
	if !ok || !strings.Contains(string(s), ": ") {
		return v
	}
	for _, m := range messages {
		if parts := m.theirs.FindStringSubmatch(string(s)); parts != nil {
			return lua.LString(parts[1] + " " + m.ours(L, parts))
		}
	}
	return v
}

// about says what can't be done with a value of a type, by its name in the
// source if that is plain.
func about(L *lua.LState, what, kind string, in candidate) string {
	c, ok := culprits(L, in, func(v lua.LValue) bool { return v.Type().String() == kind })
	if !ok {
		c = culprit{kind: kind}
	}
	return "attempt to " + what + " " + c.String()
}

// aboutArgument is about for an operator that is a call of ours: v is operand i of n.
func aboutArgument(L *lua.LState, what string, v lua.LValue, i, n int) string {
	c, _ := culprits(L, passing(i, n), func(lua.LValue) bool { return true })
	c.kind = v.Type().String()
	return "attempt to " + what + " " + c.String()
}

// unary is about for an operator whose message does not tell the type.
func unary(L *lua.LState, what string, in candidate, wrong func(v lua.LValue) bool) string {
	c, ok := culprits(L, in, wrong)
	if !ok {
		c = culprit{kind: "nil"}
	}
	return "attempt to " + what + " " + c.String()
}

// arithmetic names the operand that is no number.
func arithmetic(L *lua.LState, op, left, right string) string {
	kind, second := left, left == "number" || left == "string" && right != "number" && right != "string"
	if second {
		kind = right
	}
	return about(L, "perform arithmetic on", kind, operand(op, second))
}
