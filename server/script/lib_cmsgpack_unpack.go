package script

import (
	"encoding/binary"
	"math"

	lua "github.com/yuin/gopher-lua"
)

// An unpacker reads MessagePack. What a header says is never believed: a table
// grows as its values come.
type unpacker struct {
	L     *lua.LState
	left  string
	stack int // values that the original would have on Lua's stack
	spare int // empty places in arrays
}

func unpackLimit(L *lua.LState) int {
	limit := integerArg(L, 2)
	return unpackSome(L, limit, optInteger(L, 3, 0))
}

// unpackSome reads at most limit values from an offset, or, if both are zero,
// all there are. With a limit the first result is the offset of the rest, -1 at the end.
func unpackSome(L *lua.LState, limit, offset int64) int {
	all := limit == 0 && offset == 0
	s := stringArg(L, 1)
	if offset < 0 || limit < 0 { // the original names the length, not the limit
		raise(L, "Invalid request to unpack with offset of %d and limit of %d.", int32(offset), int32(len(s)))
	}
	if offset > int64(len(s)) {
		raise(L, "Start offset %d greater than input length %d.", int32(offset), int32(len(s)))
	}
	if all {
		limit = math.MaxInt32
	}
	u := unpacker{L: L, left: s[offset:], stack: 1}
	var values []lua.LValue
	for u.left != "" && int64(len(values)) < limit {
		values = append(values, u.value())
		u.stack++
	}
	count := len(values)
	if !all {
		next := len(s) - len(u.left)
		if u.left == "" {
			next = -1
		}
		L.Push(lua.LNumber(next))
		count++
	}
	for _, v := range values {
		L.Push(v)
	}
	return count
}

// room throws where the original would run out of stack.
func (u *unpacker) room(who string) {
	if u.stack+1 > cStack {
		raise(u.L, "stack overflow (%s)", who)
	}
}

// take reads n bytes.
func (u *unpacker) take(n uint64) string {
	if uint64(len(u.left)) < n {
		raise(u.L, "Missing bytes in input.")
	}
	s := u.left[:n]
	u.left = u.left[n:]
	return s
}

// uint reads an unsigned integer of n bytes.
func (u *unpacker) uint(n uint64) uint64 {
	var b [8]byte
	copy(b[8-n:], u.take(n))
	return binary.BigEndian.Uint64(b[:])
}

func (u *unpacker) value() lua.LValue {
	u.room("too many return values at once; use unpack_one or unpack_limit instead.")
	switch c := u.take(1)[0]; {
	case c <= 0x7f:
		return lua.LNumber(c)
	case c >= 0xe0:
		return lua.LNumber(int8(c))
	case c <= 0x8f:
		return u.table(uint64(c & 15))
	case c <= 0x9f:
		return u.array(uint64(c & 15))
	case c <= 0xbf:
		return lua.LString(u.take(uint64(c & 31)))
	default:
		return u.wide(c)
	}
}

// wide reads a value whose first byte says only what it is.
func (u *unpacker) wide(c byte) lua.LValue {
	switch c {
	case 0xc0:
		return lua.LNil
	case 0xc2, 0xc3:
		return lua.LBool(c == 0xc3)
	case 0xca:
		return lua.LNumber(math.Float32frombits(uint32(u.uint(4))))
	case 0xcb:
		return lua.LNumber(math.Float64frombits(u.uint(8)))
	case 0xcc:
		return lua.LNumber(u.uint(1))
	case 0xcd:
		return lua.LNumber(u.uint(2))
	case 0xce:
		return lua.LNumber(u.uint(4))
	case 0xcf, 0xd3: // the original takes an unsigned one for a signed one, too
		return lua.LNumber(int64(u.uint(8)))
	case 0xd0:
		return lua.LNumber(int8(u.uint(1)))
	case 0xd1:
		return lua.LNumber(int16(u.uint(2)))
	case 0xd2:
		return lua.LNumber(int32(u.uint(4)))
	case 0xd9, 0xda, 0xdb:
		return lua.LString(u.take(u.uint(1 << (c - 0xd9))))
	case 0xdc, 0xdd:
		return u.array(u.uint(2 << (c - 0xdc)))
	case 0xde, 0xdf:
		return u.table(u.uint(2 << (c - 0xde)))
	}
	raise(u.L, "Bad data format in input.")
	return lua.LNil
}

func (u *unpacker) array(n uint64) lua.LValue {
	t := u.L.NewTable()
	u.stack++
	u.room("in function mp_decode_to_lua_array")
	u.stack++
	for i := 1; uint64(i) <= n; i++ {
		t.RawSetInt(i, u.value())
	}
	u.stack -= 2
	stopped(u.L)
	return t
}

// spareSlots is how many empty places integer keys may make in arrays, per call:
// a map of seven bytes can make an array of eight megabytes (arrays.go).
const spareSlots = 16 << 20

// set sets a key; what can't be one is refused. end is that of the table's array.
func (u *unpacker) set(t *lua.LTable, k, v lua.LValue, end int) int {
	f, isNumber := k.(lua.LNumber)
	switch {
	case k == lua.LNil:
		raiseBare(u.L, "table index is nil")
	case isNumber && f != f:
		raiseBare(u.L, "table index is NaN")
	case isNumber && f > 0 && f < arrayMax:
		if u.spare += max(int(f)-end-1, 0); u.spare > spareSlots {
			raiseBare(u.L, "not enough memory")
		}
		end = max(end, int(f))
	}
	t.RawSet(k, v)
	return end
}

func (u *unpacker) table(n uint64) lua.LValue {
	t := u.L.NewTable()
	u.stack++
	end := 0
	for range n {
		k := u.value()
		u.stack++
		v := u.value()
		u.stack--
		end = u.set(t, k, v, end)
	}
	u.stack--
	stopped(u.L)
	return t
}
