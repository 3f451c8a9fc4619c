package script

import (
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// A Chunk is compiled source. Nobody changes it; all states share it.
type Chunk struct{ proto *lua.FunctionProto }

// Compile compiles source; name is what error messages call it ("user_script").
// An error's text is Lua's: "user_script:1: '=' expected near 'x'".
func Compile(name, source string) (*Chunk, error) {
	tree, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return nil, syntaxError(name, err)
	}
	proto, err := lua.Compile(tree, name)
	if err != nil {
		return nil, syntaxError(name, err)
	}
	return &Chunk{proto}, nil
}

// syntaxError puts the parser's error into Lua's words.
func syntaxError(name string, err error) error {
	var p *parse.Error
	if !errors.As(err, &p) {
		return err
	}
	if p.Pos.Line == parse.EOF {
		return fmt.Errorf("%s: syntax error near '<eof>'", name)
	}
	return fmt.Errorf("%s:%d: %s near '%s'", name, p.Pos.Line, p.Message, p.Token)
}
