package script

import (
	"math"
	"slices"
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua's ".." writes numbers otherwise than C Lua ("%.14g"), which scripts
// put into keys and values. So it is made a call of our own function, which the
// chunk has in a local variable of a name that no script can have. Number
// literals are read as C Lua does, too: 010 is ten. The bounds of a numeric for may
// be strings. And "#" is a call, because of tables with very many elements (arrays.go).

const (
	concatName = "(concat)"
	numberName = "(number)"
	lengthName = "(length)"
)

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
	used  bool // something was made a call
	deep  bool // the tree is deeper than maxDepth
	args  bool // "arg" may be a local variable from here on
	depth int
	nest  int // of blocks
}

// block walks a block. The compiler goes through all blocks around it for each
// variable and each end of a block, so many of them would take it long.
func (r *rewriter) block(stmts []ast.Stmt) {
	r.nest++
	defer func() { r.nest-- }()
	if r.nest > maxNesting {
		r.deep = true
		return
	}
	for i, s := range stmts {
		if a, ok := s.(*ast.AssignStmt); ok {
			stmts[i] = r.assign(a)
			continue
		}
		r.stmt(s)
	}
}

// otherwise walks what follows an else. An elseif is an if in it, which Lua does
// not count as nested.
func (r *rewriter) otherwise(stmts []ast.Stmt) {
	if len(stmts) != 1 {
		r.block(stmts)
		return
	}
	if _, ok := stmts[0].(*ast.IfStmt); !ok {
		r.block(stmts)
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxDepth {
		r.deep = true
		return
	}
	r.stmt(stmts[0])
}

func (r *rewriter) list(exprs []ast.Expr) {
	for i := range exprs {
		exprs[i] = r.expr(exprs[i])
	}
}

func (r *rewriter) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.LocalAssignStmt:
		r.list(s.Exprs)
		r.declare(s.Names)
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
		r.otherwise(s.Else)
	case *ast.NumberForStmt:
		s.Init, s.Limit, s.Step = r.bound(s.Init, "initial value"), r.bound(s.Limit, "limit"), r.bound(s.Step, "step")
		r.block(s.Stmts)
	case *ast.GenericForStmt:
		r.list(s.Exprs)
		r.declare(s.Names)
		r.block(s.Stmts)
	case *ast.FuncDefStmt:
		s.Name.Func, s.Name.Receiver = r.expr(s.Name.Func), r.expr(s.Name.Receiver)
		r.function(s.Func)
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
		r.function(e)
	case *ast.IdentExpr:
		if e.Value == "arg" && !r.args {
			return global(e)
		}
	case *ast.StringConcatOpExpr:
		return r.concat(e)
	case *ast.UnaryLenOpExpr:
		r.used = true
		return hidden(lengthName, e, oneValue(r.expr(e.Expr)))
	default:
		r.operator(e)
	}
	return e
}

// function walks the body of a function. One with "..." has a local variable arg.
func (r *rewriter) function(f *ast.FunctionExpr) {
	before := r.args
	r.declare(f.ParList.Names)
	r.args = r.args || f.ParList.HasVargs
	r.block(f.Stmts)
	r.args = before
}

// declare notes names that are local variables from here on.
func (r *rewriter) declare(names []string) { r.args = r.args || slices.Contains(names, "arg") }

// global makes a name one that is looked up in _G, because the function that wrap
// makes of a chunk would have it as a local variable.
func global(e *ast.IdentExpr) ast.Expr {
	g, key := &ast.IdentExpr{Value: "_G"}, &ast.StringExpr{Value: e.Value}
	at := &ast.AttrGetExpr{Object: g, Key: key}
	for _, made := range []ast.Expr{g, key, at} {
		made.SetLine(e.Line())
		made.SetLastLine(e.LastLine())
	}
	return at
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
	}
}

// bound makes a number of a bound of a for.
func (r *rewriter) bound(e ast.Expr, what string) ast.Expr {
	if _, ok := e.(*ast.UnaryLenOpExpr); ok {
		return r.expr(e)
	}
	switch e := r.expr(e).(type) {
	case nil, *ast.NumberExpr, *ast.ArithmeticOpExpr:
		return e
	default:
		r.used = true
		return hidden(numberName, e, oneValue(e), &ast.StringExpr{Value: what})
	}
}

// hidden is a call of one of our functions, in the line of an expression.
func hidden(name string, at ast.Expr, args ...ast.Expr) ast.Expr {
	fn := &ast.IdentExpr{Value: name}
	call := &ast.FuncCallExpr{Func: fn, Args: args, AdjustRet: true}
	fn.SetLine(at.Line())
	call.SetLine(at.Line())
	call.SetLastLine(at.LastLine())
	return call
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
	return hidden(concatName, e, operands...)
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
