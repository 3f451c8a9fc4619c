package script

import (
	"encoding/binary"
	"math"

	lua "github.com/yuin/gopher-lua"
)

// packDepth is how deep tables may be nested; a table below is packed as nil.
const packDepth = 16

// newCMsgPack makes the table "cmsgpack", as lua-cmsgpack 0.4.0. As with cjson,
// the keys of a map are packed in the order of insertion.
func newCMsgPack(L *lua.LState) *lua.LTable {
	t := functionTable(L, map[string]lua.LGFunction{
		"pack":         packAll,
		"unpack":       func(L *lua.LState) int { return unpackSome(L, 0, 0) },
		"unpack_one":   func(L *lua.LState) int { return unpackSome(L, 1, optInteger(L, 2, 0)) },
		"unpack_limit": unpackLimit,
	})
	t.RawSetString("_NAME", lua.LString("cmsgpack"))
	t.RawSetString("_VERSION", lua.LString("lua-cmsgpack 0.4.0"))
	t.RawSetString("_COPYRIGHT", lua.LString("Copyright (C) 2012, Salvatore Sanfilippo"))
	t.RawSetString("_DESCRIPTION", lua.LString("MessagePack C implementation for Lua"))
	return t
}

func packAll(L *lua.LState) int {
	n := L.GetTop()
	if n == 0 {
		argError(L, 0, "MessagePack pack needs input.")
	}
	p := packer{L: L}
	for i := 1; i <= n; i++ {
		p.value(L.Get(i), 0)
	}
	L.Push(lua.LString(p.out))
	return 1
}

// A packer writes MessagePack.
type packer struct {
	L   *lua.LState
	out []byte
}

func (p *packer) value(v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LString:
		p.text(string(v))
	case lua.LBool:
		if v {
			p.out = append(p.out, 0xc3)
		} else {
			p.out = append(p.out, 0xc2)
		}
	case lua.LNumber:
		p.number(float64(v))
	case *lua.LTable:
		if depth < packDepth {
			p.table(v, depth)
			return
		}
		p.out = append(p.out, 0xc0)
	default:
		p.out = append(p.out, 0xc0)
	}
}

// grow throws if the text gets too long, or the script is to end.
func (p *packer) grow() {
	if len(p.out) > maxEncoded {
		raiseBare(p.L, "not enough memory")
	}
	stopped(p.L)
}

// head writes a length: in the first byte itself if it is below small, else
// behind a byte that says how many bytes it takes. len8 is 0 if one byte is no choice.
func (p *packer) head(n int, fix byte, small int, len8, len16, len32 byte) {
	switch {
	case n < small:
		p.out = append(p.out, fix|byte(n))
	case n <= math.MaxUint8 && len8 != 0:
		p.out = append(p.out, len8, byte(n))
	case n <= math.MaxUint16:
		p.out = binary.BigEndian.AppendUint16(append(p.out, len16), uint16(n))
	default:
		p.out = binary.BigEndian.AppendUint32(append(p.out, len32), uint32(n))
	}
}

func (p *packer) text(s string) {
	p.head(len(s), 0xa0, 32, 0xd9, 0xda, 0xdb)
	p.out = append(p.out, s...)
	if len(p.out) > maxEncoded {
		p.grow()
	}
}

// number writes a number as the shortest that holds it: an integer, else
// a float of four bytes, else one of eight.
func (p *packer) number(f float64) {
	if n := toInt64(f); !math.IsInf(f, 0) && float64(n) == f {
		p.integer(n)
		return
	}
	if single := float32(f); float64(single) == f {
		p.out = binary.BigEndian.AppendUint32(append(p.out, 0xca), math.Float32bits(single))
		return
	}
	p.out = binary.BigEndian.AppendUint64(append(p.out, 0xcb), math.Float64bits(f))
}

func (p *packer) integer(n int64) {
	switch {
	case n >= -32 && n <= 127:
		p.out = append(p.out, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		p.out = append(p.out, 0xcc, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		p.out = binary.BigEndian.AppendUint16(append(p.out, 0xcd), uint16(n))
	case n >= 0 && n <= math.MaxUint32:
		p.out = binary.BigEndian.AppendUint32(append(p.out, 0xce), uint32(n))
	case n >= 0:
		p.out = binary.BigEndian.AppendUint64(append(p.out, 0xcf), uint64(n))
	case n >= math.MinInt8:
		p.out = append(p.out, 0xd0, byte(n))
	case n >= math.MinInt16:
		p.out = binary.BigEndian.AppendUint16(append(p.out, 0xd1), uint16(n))
	case n >= math.MinInt32:
		p.out = binary.BigEndian.AppendUint32(append(p.out, 0xd2), uint32(n))
	default:
		p.out = binary.BigEndian.AppendUint64(append(p.out, 0xd3), uint64(n))
	}
}

func (p *packer) table(t *lua.LTable, depth int) {
	p.grow()
	pairs, isArray := countPairs(t)
	if isArray {
		p.head(pairs, 0x90, 16, 0, 0xdc, 0xdd)
		for i := 1; i <= pairs; i++ {
			p.value(t.RawGet(lua.LNumber(i)), depth+1)
		}
		return
	}
	p.head(pairs, 0x80, 16, 0, 0xde, 0xdf)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		p.value(k, depth+1)
		p.value(v, depth+1)
	}
}

// countPairs counts what a table holds, and says whether its keys are 1 to that
// number. An empty one is an array.
func countPairs(t *lua.LTable) (n int, isArray bool) {
	highest, isArray := 0.0, true
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		_ = v
		n++
		f, ok := k.(lua.LNumber)
		if !ok || f <= 0 || float64(toInt32(float64(f))) != float64(f) {
			isArray = false
		}
		highest = max(highest, float64(f))
	}
	return n, isArray && highest == float64(n)
}
