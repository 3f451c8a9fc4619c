package script

import (
	"strings"

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

// A candidate says whether the instruction at pc could have failed, and in which
// register stands what it failed for.
type candidate func(p *lua.FunctionProto, pc int) (reg int, ok bool)

// constant is the bit of an argument that means a constant and no register.
const constant = 0x100

// indexing finds the instructions that look the key up, and in which register.
func indexing(key string) candidate {
	return func(p *lua.FunctionProto, pc int) (int, bool) {
		inst := p.Code[pc]
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

func calling(p *lua.FunctionProto, pc int) (int, bool) {
	inst := p.Code[pc]
	return argA(inst), opcode(inst) == lua.OP_CALL || opcode(inst) == lua.OP_TAILCALL
}

// passing finds the calls of one of our operators with n arguments, and the i-th of
// these.
func passing(i, n int) candidate {
	return func(p *lua.FunctionProto, pc int) (int, bool) {
		inst := p.Code[pc]
		if opcode(inst) != lua.OP_CALL || argB(inst) != n+1 {
			return 0, false
		}
		if by, _ := setter(p, argA(inst), pc); opcode(by) != lua.OP_GETUPVAL || !strings.HasPrefix(p.DbgUpvalues[argB(by)], "(") {
			return 0, false
		}
		return argA(inst) + i, true
	}
}

// using finds the instructions of an operator with one operand.
func using(op int) candidate {
	return func(p *lua.FunctionProto, pc int) (int, bool) { return argB(p.Code[pc]), opcode(p.Code[pc]) == op }
}

// operand finds the instructions of an arithmetic operation.
func operand(op string, second bool) candidate {
	codes := map[string]int{"add": lua.OP_ADD, "sub": lua.OP_SUB, "mul": lua.OP_MUL, "div": lua.OP_DIV, "mod": lua.OP_MOD, "pow": lua.OP_POW}
	return func(p *lua.FunctionProto, pc int) (int, bool) {
		inst := p.Code[pc]
		if second {
			return argC(inst), opcode(inst) == codes[op]
		}
		return argB(inst), opcode(inst) == codes[op]
	}
}

// A culprit is what an instruction uses wrongly: its type, and its name if that is
// plain.
type culprit struct{ kind, name string }

func (c culprit) String() string {
	if c.name == "" {
		return "a " + c.kind + " value"
	}
	return c.name + " (a " + c.kind + " value)"
}

// culprits looks through the failing line for instructions that could have failed:
// in says in which register, and wrong whether its value, as it is now, is one to
// fail for. If they all blame the same it is returned; ok is false, and the culprit
// empty, if they don't, or if there is none.
func culprits(L *lua.LState, in candidate, wrong func(v lua.LValue) bool) (found culprit, ok bool) {
	d := userFrame(L)
	if d == nil {
		return found, false
	}
	v, err := L.GetInfo("f", d, lua.LNil)
	fn, isFn := v.(*lua.LFunction)
	if err != nil || !isFn || fn.IsG {
		return found, false
	}
	n := 0
	for pc := range fn.Proto.Code {
		if fn.Proto.DbgSourcePositions[pc] != d.CurrentLine {
			continue
		}
		reg, fits := in(fn.Proto, pc)
		if !fits || reg >= constant {
			continue
		}
		_, v := L.GetLocal(d, reg+1)
		if v == nil || !wrong(v) {
			continue
		}
		if c := (culprit{v.Type().String(), nameOf(fn, reg, pc)}); n == 0 || c != found {
			found = c
			n++
		}
	}
	if n != 1 {
		return culprit{}, false
	}
	return found, true
}

// nameOf says what the source calls the register before the instruction.
func nameOf(fn *lua.LFunction, reg, pc int) string {
	p := fn.Proto
	if reg >= constant {
		return ""
	}
	if local, ok := fn.LocalName(reg+1, pc+1); ok {
		if local[0] == '(' {
			return "" // one of ours
		}
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
