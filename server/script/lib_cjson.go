package script

import (
	"fmt"
	"math"

	lua "github.com/yuin/gopher-lua"
)

// A jsonConfig is what the options of one cjson table say.
type jsonConfig struct {
	null          *lua.LUserData // cjson.null
	sparseConvert bool           // a very sparse array becomes an object
	sparseRatio   int
	sparseSafe    int
	encodeDepth   int
	decodeDepth   int
	encodeInvalid int // of invalidOff and so on
	decodeInvalid bool
	precision     int
	keepBuffer    bool // only remembered: the collector has the buffer
	maxEncoded    int  // bytes
}

// What to do with NaN and infinity.
const (
	invalidOff = iota
	invalidOn
	invalidNull
)

// maxEncoded is how long a text a library makes may become, in bytes: that of
// the longest string a client may send. A table that holds the same table
// many times, nested, can else write more than any memory holds.
const maxEncoded = 512 << 20

// newCJSON makes the table "cjson", as lua-cjson 2.1.0.
//
// Order: objects are written in the order in which gopher-lua walks a table, that of
// insertion; in C it is that of a hash.
func newCJSON(L *lua.LState) *lua.LTable { return moreCJSON(L, L.NewUserData()) }

// moreCJSON makes another table, with options of its own and the same null.
func moreCJSON(L *lua.LState, null *lua.LUserData) *lua.LTable {
	return (&jsonConfig{
		null: null, sparseRatio: 2, sparseSafe: 10, encodeDepth: 1000, decodeDepth: 1000,
		decodeInvalid: true, precision: 14, keepBuffer: true, maxEncoded: maxEncoded,
	}).table(L)
}

func (cfg *jsonConfig) table(L *lua.LState) *lua.LTable {
	t := functionTable(L, map[string]lua.LGFunction{
		"encode":                  cfg.encode,
		"decode":                  cfg.decode,
		"encode_sparse_array":     cfg.optionSparse,
		"encode_max_depth":        cfg.optionInt(&cfg.encodeDepth, 1, math.MaxInt32),
		"decode_max_depth":        cfg.optionInt(&cfg.decodeDepth, 1, math.MaxInt32),
		"encode_number_precision": cfg.optionInt(&cfg.precision, 1, 14),
		"encode_keep_buffer":      cfg.optionBool(&cfg.keepBuffer),
		"encode_invalid_numbers":  cfg.optionInvalid,
		"decode_invalid_numbers":  cfg.optionBool(&cfg.decodeInvalid),
		"new": func(L *lua.LState) int {
			L.Push(moreCJSON(L, cfg.null))
			return 1
		},
	})
	t.RawSetString("null", cfg.null)
	t.RawSetString("_NAME", lua.LString("cjson"))
	t.RawSetString("_VERSION", lua.LString("2.1.0"))
	return t
}

// atMost throws if there are more than n arguments.
func atMost(L *lua.LState, n int) {
	if L.GetTop() > n {
		argError(L, n+1, "found too many arguments")
	}
}

func (cfg *jsonConfig) optionInt(setting *int, low, high int) lua.LGFunction {
	return func(L *lua.LState) int {
		atMost(L, 1)
		return setInt(L, 1, setting, low, high)
	}
}

func (cfg *jsonConfig) optionBool(setting *bool) lua.LGFunction {
	return func(L *lua.LState) int {
		atMost(L, 1)
		return setBool(L, 1, setting)
	}
}

func (cfg *jsonConfig) optionSparse(L *lua.LState) int {
	atMost(L, 3)
	L.SetTop(3) // a setting that is not given is nil, not the last result
	return setBool(L, 1, &cfg.sparseConvert) + setInt(L, 2, &cfg.sparseRatio, 0, math.MaxInt32) +
		setInt(L, 3, &cfg.sparseSafe, 0, math.MaxInt32)
}

func (cfg *jsonConfig) optionInvalid(L *lua.LState) int {
	atMost(L, 1)
	if given := L.Get(1); given == lua.LTrue {
		cfg.encodeInvalid = invalidOn
	} else if given == lua.LFalse {
		cfg.encodeInvalid = invalidOff
	} else if given != lua.LNil {
		cfg.encodeInvalid = choiceArg(L, 1, "off", "on", "null")
	}
	if cfg.encodeInvalid == invalidNull {
		L.Push(lua.LString("null"))
	} else {
		L.Push(lua.LBool(cfg.encodeInvalid == invalidOn))
	}
	return 1
}

// setInt sets a setting from argument n, unless that is nil, and returns it.
func setInt(L *lua.LState, n int, setting *int, low, high int) int {
	if L.Get(n) != lua.LNil {
		v := int(int32(integerArg(L, n)))
		if v < low || v > high {
			argError(L, 1, fmt.Sprintf("expected integer between %d and %d", low, high))
		}
		*setting = v
	}
	L.Push(lua.LNumber(*setting))
	return 1
}

// setBool is setInt for a setting that is on or off.
func setBool(L *lua.LState, n int, setting *bool) int {
	switch v := L.Get(n).(type) {
	case *lua.LNilType:
	case lua.LBool:
		*setting = bool(v)
	default:
		*setting = choiceArg(L, n, "off", "on") == 1
	}
	L.Push(lua.LBool(*setting))
	return 1
}

// choiceArg takes a string out of a list, and returns which.
func choiceArg(L *lua.LState, n int, choices ...string) int {
	s := stringArg(L, n)
	for i, choice := range choices {
		if cString(s) == choice {
			return i
		}
	}
	argError(L, n, fmt.Sprintf("invalid option '%s'", cString(s)))
	return 0
}
