package script

import (
	"encoding/binary"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// newStruct makes the table "struct": C structures in strings, as in struct.c 1.7.
func newStruct(L *lua.LState) *lua.LTable {
	return functionTable(L, map[string]lua.LGFunction{"pack": structPack, "unpack": structUnpack, "size": structSize})
}

// Limits of the format, on a machine of 64 bits.
const (
	structMaxInt   = 32 // bytes of an integer
	structMaxAlign = 8
)

// A structFormat reads a format: one option after the other.
type structFormat struct {
	L     *lua.LState
	left  string
	big   bool // endian
	align int32
}

func newStructFormat(L *lua.LState) structFormat {
	return structFormat{L: L, left: cString(stringArg(L, 1)), align: 1}
}

// next returns an option with its size, and how much padding it needs at a
// position.
func (f *structFormat) next(at uint64) (option byte, size, padding uint64) {
	option = f.left[0]
	f.left = f.left[1:]
	size = f.size(option)
	if size == 0 || option == 'c' {
		return option, size, 0
	}
	unit := min(size, uint64(f.align))
	// A unit that is no power of two (i3) gives what it gives in C.
	return option, size, (unit - at&(unit-1)) & (unit - 1)
}

func (f *structFormat) size(option byte) uint64 {
	switch option {
	case 'B', 'b', 'x':
		return 1
	case 'H', 'h':
		return 2
	case 'f':
		return 4
	case 'L', 'l', 'T', 'd':
		return 8
	case 'c':
		return uint64(f.number(1))
	case 'i', 'I':
		size := f.number(4)
		if size > structMaxInt {
			raise(f.L, "integral size %d is larger than limit of %d", size, structMaxInt)
		}
		return uint64(size)
	}
	return 0
}

// number reads the digits that follow an option.
func (f *structFormat) number(otherwise int32) int32 {
	if f.left == "" || !isDigit(f.left[0]) {
		return otherwise
	}
	n := int64(0)
	for f.left != "" && isDigit(f.left[0]) {
		n = n*10 + int64(f.left[0]-'0')
		if n > math.MaxInt32 {
			raise(f.L, "integral size overflow")
		}
		f.left = f.left[1:]
	}
	return int32(n)
}

// control obeys an option that stands for no value.
func (f *structFormat) control(option byte) {
	switch option {
	case ' ':
	case '>':
		f.big = true
	case '<':
		f.big = false
	case '!':
		n := f.number(structMaxAlign)
		if n <= 0 || n&(n-1) != 0 {
			raise(f.L, "alignment %d is not a power of 2", n)
		}
		f.align = n
	default:
		argError(f.L, 1, "invalid format option '"+string([]byte{option})+"'")
	}
}

// order is the order of bytes that is set.
func (f *structFormat) order() binary.ByteOrder {
	if f.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func structSize(L *lua.LState) int {
	f := newStructFormat(L)
	at := uint64(0)
	for f.left != "" {
		option, size, padding := f.next(at)
		if option == 's' {
			argError(L, 1, "option 's' has no fixed size")
		}
		if option == 'c' && size == 0 {
			argError(L, 1, "option 'c0' has no fixed size")
		}
		if !isLetter(option) && !isDigit(option) {
			f.control(option)
		}
		at += padding + size
	}
	L.Push(lua.LNumber(at))
	return 1
}

// A structPacker is the state of one pack.
type structPacker struct {
	structFormat
	out []byte
	arg int // the next argument
}

func structPack(L *lua.LState) int {
	p := structPacker{structFormat: newStructFormat(L), arg: 2}
	L.Push(lua.LNil) // so a missing argument is a nil, as in the original
	for p.left != "" {
		option, size, padding := p.next(uint64(len(p.out)))
		p.out = append(p.out, make([]byte, padding)...)
		p.put(option, size)
		if len(p.out) > maxEncoded {
			raiseBare(L, "not enough memory")
		}
	}
	L.Push(lua.LString(p.out))
	return 1
}

func (p *structPacker) put(option byte, size uint64) {
	switch option {
	case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
		p.integer(numberArg(p.L, p.next1()), size)
	case 'x':
		p.out = append(p.out, 0)
	case 'f':
		var b [4]byte
		p.order().PutUint32(b[:], math.Float32bits(float32(numberArg(p.L, p.next1()))))
		p.out = append(p.out, b[:]...)
	case 'd':
		var b [8]byte
		p.order().PutUint64(b[:], math.Float64bits(numberArg(p.L, p.next1())))
		p.out = append(p.out, b[:]...)
	case 'c', 's':
		p.text(option, size)
	default:
		p.control(option)
	}
}

// next1 is the number of the next argument.
func (p *structPacker) next1() int {
	p.arg++
	return p.arg - 1
}

func (p *structPacker) text(option byte, size uint64) {
	s := stringArg(p.L, p.next1())
	if size == 0 {
		size = uint64(len(s))
	}
	if uint64(len(s)) < size {
		argError(p.L, p.arg, "string too short") // the original counts one too far
	}
	p.out = append(p.out, s[:size]...)
	if option == 's' {
		p.out = append(p.out, 0)
	}
}

// integer writes the low bytes of n; beyond eight they are zero, whatever the sign.
func (p *structPacker) integer(n float64, size uint64) {
	v := toUint64(n)
	var b [structMaxInt]byte
	for i := range size {
		at := i
		if p.big {
			at = size - 1 - i
		}
		b[at] = byte(v)
		v >>= 8
	}
	p.out = append(p.out, b[:size]...)
}

// A structUnpacker is the state of one unpack.
type structUnpacker struct {
	structFormat
	data   string
	at     uint64
	values []lua.LValue
	args   int // how many the script gave
}

func structUnpack(L *lua.LState) int {
	u := structUnpacker{structFormat: newStructFormat(L), data: stringArg(L, 2), args: L.GetTop()}
	u.at = uint64(optInteger(L, 3, 1)) - 1
	if u.at == math.MaxUint64 {
		argError(L, 3, "offset must be 1 or greater")
	}
	for u.left != "" {
		option, size, padding := u.next(u.at)
		u.at += padding
		u.need(size)
		if u.args+len(u.values)+2 > cStack {
			raise(L, "stack overflow (too many results)")
		}
		u.at += u.get(option, size)
	}
	for _, v := range u.values {
		L.Push(v)
	}
	L.Push(lua.LNumber(int64(u.at + 1)))
	return len(u.values) + 1
}

// need throws if there are no size bytes left.
func (u *structUnpacker) need(size uint64) {
	if n := uint64(len(u.data)); size > n || u.at > n-size {
		argError(u.L, 2, "data string too short")
	}
}

func (u *structUnpacker) push(v lua.LValue) { u.values = append(u.values, v) }

// get reads one value and returns how many bytes it took. They are there, except
// for c0 and s.
func (u *structUnpacker) get(option byte, size uint64) uint64 {
	field := u.data[u.at : u.at+size]
	switch option {
	case 'b', 'h', 'l', 'i':
		u.push(lua.LNumber(int64(signed(u.unsigned(field), size))))
	case 'B', 'H', 'L', 'T', 'I':
		u.push(lua.LNumber(u.unsigned(field)))
	case 'x':
	case 'f':
		u.push(lua.LNumber(math.Float32frombits(u.order().Uint32([]byte(field)))))
	case 'd':
		u.push(lua.LNumber(math.Float64frombits(u.order().Uint64([]byte(field)))))
	case 'c':
		if size == 0 {
			size = u.previous()
			u.need(size)
		}
		u.push(lua.LString(u.data[u.at : u.at+size]))
	case 's':
		end := strings.IndexByte(u.data[u.at:], 0)
		if end < 0 {
			raise(u.L, "unfinished string in data")
		}
		u.push(lua.LString(u.data[u.at : u.at+uint64(end)]))
		size = uint64(end) + 1
	default:
		u.control(option)
	}
	return size
}

// previous takes back the last value, which says how long a string is.
func (u *structUnpacker) previous() uint64 {
	if n := len(u.values); n > 0 {
		if size, ok := asNumber(u.values[n-1]); ok {
			u.values = u.values[:n-1]
			return toUint64(size)
		}
	}
	raise(u.L, "format 'c0' needs a previous size")
	return 0
}

// unsigned reads an integer; of one longer than eight bytes the upper part falls out.
func (f *structFormat) unsigned(field string) uint64 {
	v := uint64(0)
	for i := range len(field) {
		at := len(field) - 1 - i
		if f.big {
			at = i
		}
		v = v<<8 | uint64(field[at])
	}
	return v
}

// signed extends the sign of an integer of size bytes. The shift wraps at 64 as
// the processor's does, which matters from nine bytes on.
func signed(v, size uint64) uint64 {
	mask := ^uint64(0) << ((size*8 - 1) & 63)
	if v&mask != 0 {
		v |= mask
	}
	return v
}
