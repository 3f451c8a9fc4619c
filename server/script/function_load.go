package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"firn/server/resp"

	lua "github.com/yuin/gopher-lua"
)

// functionChunk is what messages call the code of a library.
const functionChunk = "user_function"

// metadata takes the first line of a library apart ("#!lua name=mylib"). What
// follows it begins with the line end, so that lines keep their numbers.
func metadata(code string) (engine, name, rest string, err error) {
	if !strings.HasPrefix(code, "#!") {
		return "", "", "", errNoMetadata
	}
	end := strings.IndexByte(cString(code), '\n')
	if end < 0 {
		return "", "", "", errBadMetadata
	}
	words, err := resp.SplitArgs([]byte(code[:end]))
	if err != nil || len(words) == 0 {
		return "", "", "", errBadMetadata
	}
	named := false
	for _, word := range words[1:] {
		switch {
		case !hasFold(string(word), "name="):
			return "", "", "", fmt.Errorf("Invalid metadata value given: %s", cString(string(word)))
		case named:
			return "", "", "", errNameTwice
		}
		name, named = string(word[len("name="):]), true
	}
	if !named {
		return "", "", "", errNoName
	}
	return string(words[0][2:]), name, code[end:], nil
}

// A library that is being loaded into a state.
type loading struct {
	found     []*Function
	functions map[string]*lua.LFunction
}

// ParseLibrary reads the first line of a library. It has no functions yet:
// FunctionEngine.Load finds them.
func ParseLibrary(code string) (*Library, error) {
	engine, name, rest, err := metadata(code)
	if err != nil {
		return nil, err
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	if !strings.EqualFold(engine, "lua") {
		return nil, fmt.Errorf("Engine '%s' not found", engine)
	}
	return &Library{Name: name, Code: code, rest: rest}, nil
}

// compile makes the library one that can be loaded.
func (lib *Library) compile() (err error) {
	if lib.chunk, err = Compile(functionChunk, lib.rest); err != nil {
		return fmt.Errorf("Error compiling function: %w", err)
	}
	return nil
}

// register is redis.register_function.
func (fs *FunctionState) register(L *lua.LState) int {
	if fs.loading == nil {
		return throw(L, "redis.register_function can only be called on FUNCTION LOAD command")
	}
	fn, callback, err := registration(L)
	if err != nil {
		return throw(L, err.Error())
	}
	if err := checkName(fn.Name); err != nil {
		return throw(L, err.Error())
	}
	if fs.loading.functions[fn.Name] != nil {
		return throw(L, "Function already exists in the library")
	}
	fs.loading.functions[fn.Name] = callback
	fs.loading.found = append(fs.loading.found, fn)
	return 0
}

// registration reads the arguments: a name and a function, or a table of both and more.
func registration(L *lua.LState) (*Function, *lua.LFunction, error) {
	switch L.GetTop() {
	case 1:
		t, ok := L.Get(1).(*lua.LTable)
		if !ok {
			return nil, nil, errors.New("calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments).")
		}
		return namedRegistration(t)
	case 2:
		name, ok := asString(L.Get(1))
		if !ok {
			return nil, nil, errors.New("first argument to redis.register_function must be a string")
		}
		callback, ok := L.Get(2).(*lua.LFunction)
		if !ok {
			return nil, nil, errors.New("second argument to redis.register_function must be a function")
		}
		return &Function{Name: name}, callback, nil
	}
	return nil, nil, errors.New("wrong number of arguments to redis.register_function")
}

func namedRegistration(t *lua.LTable) (*Function, *lua.LFunction, error) {
	var fn Function
	var callback *lua.LFunction
	named := false
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		key, ok := asString(k)
		if !ok {
			return nil, nil, errors.New("named argument key given to redis.register_function is not a string")
		}
		switch strings.ToLower(cString(key)) {
		case "function_name":
			if fn.Name, named = asString(v); !named {
				return nil, nil, errors.New("function_name argument given to redis.register_function must be a string")
			}
		case "description":
			if fn.Description, fn.Described = asString(v); !fn.Described {
				return nil, nil, errors.New("description argument given to redis.register_function must be a string")
			}
		case "callback":
			if callback, ok = v.(*lua.LFunction); !ok {
				return nil, nil, errors.New("callback argument given to redis.register_function must be a function")
			}
		case "flags":
			if err := readFlags(v, &fn.Flags); err != nil {
				return nil, nil, err
			}
		default:
			return nil, nil, errors.New("unknown argument given to redis.register_function")
		}
	}
	if !named {
		return nil, nil, errors.New("redis.register_function must get a function name argument")
	}
	if callback == nil {
		return nil, nil, errors.New("redis.register_function must get a callback argument")
	}
	return &fn, callback, nil
}

func readFlags(v lua.LValue, flags *FunctionFlags) error {
	t, ok := v.(*lua.LTable)
	if !ok {
		return errors.New("flags argument to redis.register_function must be a table representing function flags")
	}
	for i := 1; t.RawGet(lua.LNumber(i)) != lua.LNil; i++ {
		name, ok := asString(t.RawGet(lua.LNumber(i)))
		if !ok {
			return errors.New("unknown flag given")
		}
		flag, ok := ParseFunctionFlag(cString(name))
		if !ok {
			return errors.New("unknown flag given")
		}
		*flags |= flag
	}
	return nil
}

// complete puts what was found into a new library.
func (l *loading) complete(lib *Library) error {
	if len(l.found) == 0 {
		return errNoFunctions
	}
	slices.SortFunc(l.found, func(a, b *Function) int { return strings.Compare(a.Name, b.Name) })
	for _, fn := range l.found {
		fn.Library = lib
	}
	lib.Functions = l.found
	return nil
}
