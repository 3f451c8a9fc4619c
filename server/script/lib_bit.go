package script

import (
	"math"
	"math/bits"

	lua "github.com/yuin/gopher-lua"
)

// newBit makes the table "bit": operations on 32 bits, as Lua BitOp 1.0.2.
func newBit(L *lua.LState) *lua.LTable {
	return functionTable(L, map[string]lua.LGFunction{
		"tobit": func(L *lua.LState) int { return pushBits(L, bitsArg(L, 1)) },
		"bnot":  func(L *lua.LState) int { return pushBits(L, ^bitsArg(L, 1)) },
		"bswap": func(L *lua.LState) int { return pushBits(L, bits.ReverseBytes32(bitsArg(L, 1))) },
		"band":  foldBits(func(a, b uint32) uint32 { return a & b }),
		"bor":   foldBits(func(a, b uint32) uint32 { return a | b }),
		"bxor":  foldBits(func(a, b uint32) uint32 { return a ^ b }),

		"lshift":  shiftBits(func(a uint32, n int) uint32 { return a << n }),
		"rshift":  shiftBits(func(a uint32, n int) uint32 { return a >> n }),
		"arshift": shiftBits(func(a uint32, n int) uint32 { return uint32(int32(a) >> n) }),
		"rol":     shiftBits(bits.RotateLeft32),
		"ror":     shiftBits(func(a uint32, n int) uint32 { return bits.RotateLeft32(a, -n) }),
		"tohex":   bitToHex,
	})
}

// bitsArg takes the low 32 bits of a number, rounded. Adding 2^52+2^51 brings
// them to the low end of the mantissa; beyond 2^51 it rounds them away, and
// scripts see that, so it is done here as there.
func bitsArg(L *lua.LState, n int) uint32 {
	return uint32(math.Float64bits(numberArg(L, n) + (1<<52 + 1<<51)))
}

func pushBits(L *lua.LState, b uint32) int {
	L.Push(lua.LNumber(int32(b)))
	return 1
}

func foldBits(op func(a, b uint32) uint32) lua.LGFunction {
	return func(L *lua.LState) int {
		b := bitsArg(L, 1)
		for i := L.GetTop(); i > 1; i-- {
			b = op(b, bitsArg(L, i))
		}
		return pushBits(L, b)
	}
}

func shiftBits(op func(a uint32, n int) uint32) lua.LGFunction {
	return func(L *lua.LState) int {
		return pushBits(L, op(bitsArg(L, 1), int(bitsArg(L, 2)&31)))
	}
}

// bitToHex writes the low digits of a number: as many as the second argument
// says, in upper case if that is negative.
func bitToHex(L *lua.LState) int {
	b, n, digits := bitsArg(L, 1), int32(8), "0123456789abcdef"
	if L.GetTop() >= 2 {
		n = int32(bitsArg(L, 2))
	}
	if n < 0 {
		n, digits = -max(n, -8), "0123456789ABCDEF"
	}
	n = min(n, 8)
	text := make([]byte, n)
	for i := n - 1; i >= 0; i-- {
		text[i] = digits[b&15]
		b >>= 4
	}
	L.Push(lua.LString(text))
	return 1
}
