package script

import lua "github.com/yuin/gopher-lua"

// A Loader makes a library for a new state and returns the table that becomes
// its global. It must not set globals itself.
type Loader func(l *lua.LState) *lua.LTable

type extra struct {
	name string
	load Loader
}

// libraries returns what a state has beside Lua's own and the redis API.
func libraries() []extra {
	return []extra{
		{"cjson", newCJSON}, {"cmsgpack", newCMsgPack}, {"struct", newStruct}, {"bit", newBit},
	}
}
