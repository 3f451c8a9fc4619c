package script

import (
	lua "github.com/yuin/gopher-lua"
)

// C Lua names the variable that an error is about: "attempt to index local 'x'
// (a nil value)". gopher-lua tells the line but not the instruction. If one
// instruction of the line alone could have failed so, what it uses is named.

func opcode(inst uint32) int { return int(inst >> 26) }
func argA(inst uint32) int   { return int(inst>>18) & 0xff }
func argB(inst uint32) int   { return int(inst & 0x1ff) }
func argC(inst uint32) int   { return int(inst>>9) & 0x1ff }
func argBx(inst uint32) int  { return int(inst & 0x3ffff) }

// constant is the bit of an argument that means a constant and no register.
const constant = 0x100

// indexing finds the instructions that look the key up, and in which register.
func indexing(key string) func(*lua.FunctionProto, uint32) (int, bool) {
	return func(p *lua.FunctionProto, inst uint32) (int, bool) {
		reg, k := argB(inst), argC(inst)
		switch opcode(inst) {
		case lua.OP_GETTABLE, lua.OP_GETTABLEKS, lua.OP_SELF:
		case lua.OP_SETTABLE, lua.OP_SETTABLEKS:
			reg, k = argA(inst), argB(inst)
		default:
			return 0, false
		}
		return reg, k&constant == 0 || p.Constants[k&^constant].String() == key
	}
}

func calling(_ *lua.FunctionProto, inst uint32) (int, bool) {
	return argA(inst), opcode(inst) == lua.OP_CALL || opcode(inst) == lua.OP_TAILCALL
}

// passing finds the calls of "(concat)" with n arguments, and the i-th of these.
func passing(i, n int) func(*lua.FunctionProto, uint32) (int, bool) {
	return func(_ *lua.FunctionProto, inst uint32) (int, bool) {
		return argA(inst) + i, opcode(inst) == lua.OP_CALL && argB(inst) == n+1
	}
}

func measuring(_ *lua.FunctionProto, inst uint32) (int, bool) {
	return argB(inst), opcode(inst) == lua.OP_LEN
}

// operand finds the instructions of an arithmetic operation.
func operand(op string, second bool) func(*lua.FunctionProto, uint32) (int, bool) {
	codes := map[string]int{"add": lua.OP_ADD, "sub": lua.OP_SUB, "mul": lua.OP_MUL, "div": lua.OP_DIV, "mod": lua.OP_MOD, "pow": lua.OP_POW}
	return func(_ *lua.FunctionProto, inst uint32) (int, bool) {
		if second {
			return argC(inst), opcode(inst) == codes[op]
		}
		return argB(inst), opcode(inst) == codes[op]
	}
}

// nameInLine names what the one instruction of the failing line uses, or returns
// "" if there are several that use different things.
func nameInLine(L *lua.LState, in func(*lua.FunctionProto, uint32) (int, bool)) string {
	d := userFrame(L)
	if d == nil {
		return ""
	}
	v, err := L.GetInfo("f", d, lua.LNil)
	fn, ok := v.(*lua.LFunction)
	if err != nil || !ok || fn.IsG {
		return ""
	}
	found, name := 0, ""
	for pc, inst := range fn.Proto.Code {
		if fn.Proto.DbgSourcePositions[pc] != d.CurrentLine {
			continue
		}
		if reg, ok := in(fn.Proto, inst); ok {
			if n := nameOf(fn, reg, pc); found == 0 || n != name {
				name = n
				found++
			}
		}
	}
	if found != 1 {
		return ""
	}
	return name
}

// nameOf says what the source calls the register before the instruction.
func nameOf(fn *lua.LFunction, reg, pc int) string {
	p := fn.Proto
	if reg >= constant {
		return ""
	}
	if local, ok := fn.LocalName(reg+1, pc+1); ok {
		return "local '" + local + "'"
	}
	inst, at := setter(p, reg, pc)
	switch opcode(inst) {
	case lua.OP_GETGLOBAL:
		return "global '" + p.Constants[argBx(inst)].String() + "'"
	case lua.OP_MOVE:
		if b := argB(inst); at >= 0 && b < argA(inst) {
			return nameOf(fn, b, at)
		}
	case lua.OP_GETTABLE, lua.OP_GETTABLEKS:
		return "field '" + constantText(p, argC(inst)) + "'"
	case lua.OP_SELF:
		return "method '" + constantText(p, argC(inst)) + "'"
	case lua.OP_GETUPVAL:
		if b := argB(inst); b < len(p.DbgUpvalues) {
			return "upvalue '" + p.DbgUpvalues[b] + "'"
		}
	}
	return ""
}

func constantText(p *lua.FunctionProto, k int) string {
	if k&constant != 0 {
		if s, ok := p.Constants[k&^constant].(lua.LString); ok {
			return string(s)
		}
	}
	return "?"
}

// setter returns the instruction that set the register last before pc, as the
// code stands; no instruction (a jump to the next) if there is none.
func setter(p *lua.FunctionProto, reg, pc int) (inst uint32, at int) {
	for i := pc - 1; i >= 0; i-- {
		in := p.Code[i]
		if argA(in) != reg {
			continue
		}
		switch opcode(in) {
		case lua.OP_GETGLOBAL, lua.OP_MOVE, lua.OP_GETTABLE, lua.OP_GETTABLEKS, lua.OP_SELF, lua.OP_GETUPVAL:
			return in, i
		case lua.OP_SETGLOBAL, lua.OP_SETUPVAL, lua.OP_SETTABLE, lua.OP_SETTABLEKS, lua.OP_JMP, lua.OP_EQ, lua.OP_LT, lua.OP_LE, lua.OP_TEST:
			continue
		}
		return uint32(lua.OP_JMP) << 26, -1
	}
	return uint32(lua.OP_JMP) << 26, -1
}
