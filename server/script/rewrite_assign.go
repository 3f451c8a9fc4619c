package script

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua assigns a local variable before it has evaluated what stands behind:
// "a, b = b, a" makes both the same. So such an assignment is made a block:
//
//	do local (1), (2) = b, a; b = (2); a = (1) end
//
// The tables and keys that are assigned to are evaluated first, as in C Lua, and
// the assignments are made from the last to the first.

func (r *rewriter) assign(s *ast.AssignStmt) ast.Stmt {
	r.list(s.Lhs)
	r.list(s.Rhs)
	if len(s.Lhs) < 2 || !assignsVariable(s.Lhs) {
		return s
	}
	b := assignBlock{line: s.Line()}
	for i, target := range s.Lhs {
		if at, ok := target.(*ast.AttrGetExpr); ok {
			s.Lhs[i] = b.place(at)
		}
	}
	if len(b.places.Names) > 0 {
		b.add(&b.places)
	}
	values := &ast.LocalAssignStmt{Exprs: s.Rhs}
	for range s.Lhs {
		values.Names = append(values.Names, b.name())
	}
	b.add(values)
	for i := len(s.Lhs) - 1; i >= 0; i-- {
		b.add(&ast.AssignStmt{Lhs: s.Lhs[i : i+1], Rhs: []ast.Expr{b.variable(values.Names[i])}})
	}
	block := &ast.DoBlockStmt{Stmts: b.stmts}
	block.SetLine(s.Line())
	block.SetLastLine(s.LastLine())
	return block
}

// assignsVariable says whether one of the targets is a variable.
func assignsVariable(targets []ast.Expr) bool {
	for _, t := range targets {
		if _, ok := t.(*ast.IdentExpr); ok {
			return true
		}
	}
	return false
}

// An assignBlock is the block of an assignment, as it grows.
type assignBlock struct {
	stmts  []ast.Stmt
	places ast.LocalAssignStmt
	names  int
	line   int
}

func (b *assignBlock) add(s ast.Stmt) {
	s.SetLine(b.line)
	b.stmts = append(b.stmts, s)
}

// name returns a name that no script can have.
func (b *assignBlock) name() string {
	b.names++
	return "(" + strconv.Itoa(b.names) + ")"
}

func (b *assignBlock) variable(name string) ast.Expr {
	v := &ast.IdentExpr{Value: name}
	v.SetLine(b.line)
	return v
}

// place has the table and the key of a target evaluated beforehand.
func (b *assignBlock) place(at *ast.AttrGetExpr) ast.Expr {
	early := func(e ast.Expr) ast.Expr {
		switch e.(type) {
		case *ast.StringExpr, *ast.NumberExpr:
			return e
		}
		name := b.name()
		b.places.Names = append(b.places.Names, name)
		b.places.Exprs = append(b.places.Exprs, oneValue(e))
		return b.variable(name)
	}
	place := &ast.AttrGetExpr{Object: early(at.Object), Key: early(at.Key)}
	place.SetLine(at.Line())
	return place
}
