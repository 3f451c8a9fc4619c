package script

import (
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua's ".." writes numbers otherwise than C Lua ("%.14g"), which scripts
// put into keys and values. So it is made a call of our own function, which the
// chunk has in a local variable of a name that no script can have. Number
// literals are read as C Lua does, too: 010 is ten.

const concatName = "(concat)"

// The tree of a chunk is walked by recursion, here and in the compiler: these
// bound it. C Lua has 200 for nested blocks and brackets.
const (
	maxNesting = 200
	maxDepth   = 10_000
	// maxOperands is how many operands one call gets, which must find room in
	// the registers of the function.
	maxOperands = 50
)

// A rewriter walks a tree.
type rewriter struct {
	used  bool // some ".." was made a call
	deep  bool // the tree is deeper than maxDepth
	depth int
}

func (r *rewriter) block(stmts []ast.Stmt) {
	for _, s := range stmts {
		r.stmt(s)
	}
}

func (r *rewriter) list(exprs []ast.Expr) {
	for i := range exprs {
		exprs[i] = r.expr(exprs[i])
	}
}

func (r *rewriter) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		r.list(s.Lhs)
		r.list(s.Rhs)
	case *ast.LocalAssignStmt:
		r.list(s.Exprs)
	case *ast.FuncCallStmt:
		s.Expr = r.expr(s.Expr)
	case *ast.DoBlockStmt:
		r.block(s.Stmts)
	case *ast.WhileStmt:
		s.Condition = r.expr(s.Condition)
		r.block(s.Stmts)
	case *ast.RepeatStmt:
		s.Condition = r.expr(s.Condition)
		r.block(s.Stmts)
	case *ast.IfStmt:
		s.Condition = r.expr(s.Condition)
		r.block(s.Then)
		r.block(s.Else)
	case *ast.NumberForStmt:
		s.Init, s.Limit, s.Step = r.expr(s.Init), r.expr(s.Limit), r.expr(s.Step)
		r.block(s.Stmts)
	case *ast.GenericForStmt:
		r.list(s.Exprs)
		r.block(s.Stmts)
	case *ast.FuncDefStmt:
		s.Name.Func, s.Name.Receiver = r.expr(s.Name.Func), r.expr(s.Name.Receiver)
		r.block(s.Func.Stmts)
	case *ast.ReturnStmt:
		r.list(s.Exprs)
	}
}

// expr returns what stands in the place of e.
func (r *rewriter) expr(e ast.Expr) ast.Expr {
	if e == nil || r.deep {
		return e
	}
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxDepth {
		r.deep = true
		return e
	}
	switch e := e.(type) {
	case *ast.NumberExpr:
		e.Value = literal(e.Value)
	case *ast.AttrGetExpr:
		e.Object, e.Key = r.expr(e.Object), r.expr(e.Key)
	case *ast.TableExpr:
		for _, f := range e.Fields {
			f.Key, f.Value = r.expr(f.Key), r.expr(f.Value)
		}
	case *ast.FuncCallExpr:
		e.Func, e.Receiver = r.expr(e.Func), r.expr(e.Receiver)
		r.list(e.Args)
	case *ast.FunctionExpr:
		r.block(e.Stmts)
	case *ast.StringConcatOpExpr:
		return r.concat(e)
	default:
		r.operator(e)
	}
	return e
}

func (r *rewriter) operator(e ast.Expr) {
	switch e := e.(type) {
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs), r.expr(e.Rhs)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs), r.expr(e.Rhs)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs), r.expr(e.Rhs)
	case *ast.UnaryMinusOpExpr:
		e.Expr = r.expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		e.Expr = r.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = r.expr(e.Expr)
	}
}

// concat makes a call of a chain of "..".
func (r *rewriter) concat(e *ast.StringConcatOpExpr) ast.Expr {
	r.used = true
	var operands []ast.Expr
	at := ast.Expr(e)
	for len(operands) < maxOperands {
		c, ok := at.(*ast.StringConcatOpExpr)
		if !ok {
			break
		}
		operands = append(operands, oneValue(r.expr(c.Lhs)))
		at = c.Rhs
	}
	operands = append(operands, oneValue(r.expr(at)))
	name := &ast.IdentExpr{Value: concatName}
	call := &ast.FuncCallExpr{Func: name, Args: operands, AdjustRet: true}
	name.SetLine(e.Line())
	call.SetLine(e.Line())
	call.SetLastLine(e.LastLine())
	return call
}

// oneValue makes an expression give one value, also as the last of a list.
func oneValue(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
	return e
}

// literal writes a number as gopher-lua reads it right.
func literal(s string) string {
	f, ok := parseNumber(s)
	if !ok || math.IsInf(f, 0) {
		return s
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// concatenate is "..".
func concatenate(L *lua.LState) int {
	n := L.GetTop()
	size := 0
	for i := 1; i <= n; i++ {
		text, ok := asText(L.Get(i))
		if !ok {
			return concatenateSlowly(L, n)
		}
		size += len(text)
	}
	checkLength(L, size)
	buf := make([]byte, 0, size)
	for i := 1; i <= n; i++ {
		text, _ := asText(L.Get(i))
		buf = append(buf, text...)
	}
	L.Push(lua.LString(buf))
	return 1
}

// concatenateSlowly goes from the right and knows metamethods.
func concatenateSlowly(L *lua.LState, n int) int {
	right := L.Get(n)
	for i := n - 1; i >= 1; i-- {
		left := L.Get(i)
		l, ok1 := asText(left)
		r, ok2 := asText(right)
		if ok1 && ok2 {
			checkLength(L, len(l)+len(r))
			right = lua.LString(l + r)
			continue
		}
		op := L.GetMetaField(left, "__concat")
		if op == lua.LNil {
			op = L.GetMetaField(right, "__concat")
		}
		if op == lua.LNil {
			if ok1 {
				left = right
			}
			raise(L, "attempt to concatenate a %s value", left.Type().String())
		}
		L.Push(op)
		L.Push(left)
		L.Push(right)
		L.Call(2, 1)
		right = L.Get(-1)
		L.Pop(1)
	}
	L.Push(right)
	return 1
}

// nesting returns how deep brackets nest in the source, more or less: it counts
// those in strings and comments too.
func nesting(source string) (most int) {
	depth := 0
	for i := 0; i < len(source); i++ {
		switch source[i] {
		case '(', '{', '[':
			depth++
			most = max(most, depth)
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
	}
	return most
}
