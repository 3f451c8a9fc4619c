package script

import (
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// A Chunk is compiled source. Nobody changes it; all states share it.
type Chunk struct {
	proto *lua.FunctionProto
	// wrapped says that the proto, called with the concatenation, returns the
	// chunk's function.
	wrapped bool
}

// precompiled is how compiled code begins.
const precompiled = "\x1bLua"

// Limits of a source, because compiling takes up to 150 times its length, and 17
// KiB a function.
const (
	maxSource    = 4 << 20 // bytes
	maxFunctions = 10_000  // times that the word stands in it
)

// Compile compiles source; name is what error messages call it ("user_script").
// An error's text is about Lua's: "user_script:1: syntax error near 'x'".
func Compile(name, source string) (*Chunk, error) {
	if strings.HasPrefix(source, precompiled) {
		return nil, fmt.Errorf("%s: precompiled chunks are not accepted", name)
	}
	if len(source) > maxSource || strings.Count(source, "function") > maxFunctions {
		return nil, fmt.Errorf("%s:1: chunk is too large", name)
	}
	if depth := nesting(source); depth > maxNesting {
		return nil, fmt.Errorf("%s:1: chunk has too many syntax levels", name)
	}
	tree, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return nil, syntaxError(name, source, err)
	}
	var r rewriter
	r.block(tree)
	if r.deep {
		return nil, fmt.Errorf("%s:1: chunk has too many syntax levels", name)
	}
	if r.used {
		tree = wrap(tree)
	}
	proto, err := lua.Compile(tree, name)
	if err != nil {
		return nil, syntaxError(name, source, err)
	}
	withoutArg(proto)
	if r.used {
		withoutArg(proto.FunctionPrototypes[0])
	}
	return &Chunk{proto, r.used}, nil
}

// withoutArg spares the function of a chunk the table "arg" of its arguments,
// which C Lua gives to other functions only.
func withoutArg(p *lua.FunctionProto) { p.IsVarArg &^= lua.VarArgNeedsArg }

// wrap makes "local <concat>, <number>, <length> = ...; return function(...) <tree> end" of a tree.
func wrap(tree []ast.Stmt) []ast.Stmt {
	last := 1
	if len(tree) > 0 {
		last = max(tree[len(tree)-1].LastLine(), tree[len(tree)-1].Line()) + 1
	}
	body := &ast.FunctionExpr{ParList: &ast.ParList{HasVargs: true}, Stmts: tree}
	body.SetLine(0)
	body.SetLastLine(last)
	take := &ast.LocalAssignStmt{Names: []string{concatName, numberName, lengthName}, Exprs: []ast.Expr{&ast.Comma3Expr{}}}
	give := &ast.ReturnStmt{Exprs: []ast.Expr{body}}
	return []ast.Stmt{take, give}
}

// syntaxMessages are C Lua's words for the parser's. Where C Lua says what it
// expects this is not known.
var syntaxMessages = map[string]string{
	"syntax error": "unexpected symbol", "parse error": "unexpected symbol", "Invalid token": "unexpected symbol", "Invalid '~' token": "unexpected symbol",
	"unterminated string": "unfinished string", "unterminated multiline string": "unfinished long string", "invalid multiline comment": "unfinished long comment",
	"illegal hexadecimal number": "malformed number",
}

// syntaxError puts the parser's error into Lua's words.
func syntaxError(name, source string, err error) error {
	var p *parse.Error
	var c *lua.CompileError
	switch {
	case errors.As(err, &p):
		line, token := p.Pos.Line, p.Token
		if line == parse.EOF {
			line, token = strings.Count(source, "\n")+1, "<eof>"
		}
		message := p.Message
		if ours, ok := syntaxMessages[message]; ok {
			message = ours
		}
		return fmt.Errorf("%s:%d: %s near '%s'", name, line, message, token)
	case errors.As(err, &c):
		return fmt.Errorf("%s:%d: %s", name, c.Line, c.Message)
	}
	return err
}
