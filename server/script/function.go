package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Library is what one FUNCTION LOAD has loaded. Nobody changes it.
type Library struct {
	Name string
	Code string // with its first line
	// Functions has them in the order of their names.
	Functions []*Function
	rest      string // the code behind the first line
	chunk     *Chunk
}

// A Function is what redis.register_function has registered.
type Function struct {
	Name        string
	Description string
	Described   bool // it has a description, be it an empty one
	Flags       FunctionFlags
	Library     *Library
}

// FunctionFlags say what a function may do, and where.
type FunctionFlags uint

// The flags, in the order in which FUNCTION LIST shows them.
const (
	NoWrites FunctionFlags = 1 << iota
	AllowOOM
	AllowStale
	NoCluster
	AllowCrossSlotKeys
)

// Names returns the names of the flags that are set.
func (f FunctionFlags) Names() []string {
	var names []string
	for i, name := range flagNames() {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

func flagNames() []string {
	return []string{"no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"}
}

// ParseFunctionFlag returns the flag of a name, in whatever case.
func ParseFunctionFlag(name string) (FunctionFlags, bool) {
	i := slices.IndexFunc(flagNames(), func(n string) bool { return strings.EqualFold(n, name) })
	return 1 << max(i, 0), i >= 0
}

// Functions are all libraries at one moment: a change makes another one. The
// zero value has none.
type Functions struct {
	libraries map[string]*Library
	functions map[string]*Function // by lower-case name
}

// Libraries returns the libraries by name.
func (f *Functions) Libraries() []*Library {
	return slices.SortedFunc(maps.Values(f.libraries), func(a, b *Library) int { return strings.Compare(a.Name, b.Name) })
}

// Library returns the library of that name, or nil.
func (f *Functions) Library(name string) *Library { return f.libraries[name] }

// Find returns the function of that name, in whatever case, or nil.
func (f *Functions) Find(name string) *Function { return f.functions[strings.ToLower(name)] }

// Len returns how many libraries and functions there are.
func (f *Functions) Len() (libraries, functions int) { return len(f.libraries), len(f.functions) }

// Bytes is how much memory names, descriptions and code take.
func (f *Functions) Bytes() (n int64) {
	for _, lib := range f.libraries {
		n += int64(len(lib.Name) + len(lib.Code))
		for _, fn := range lib.Functions {
			n += int64(len(fn.Name) + len(fn.Description))
		}
	}
	return n
}

// With returns the libraries with one more, or with another one in place of
// that of its name.
func (f *Functions) With(lib *Library, replace bool) (*Functions, error) {
	if f.libraries[lib.Name] != nil && !replace {
		return nil, libraryExists(lib.Name)
	}
	next := f.Without(lib.Name)
	for _, fn := range lib.Functions {
		if next.Find(fn.Name) != nil {
			return nil, functionExists(fn.Name)
		}
	}
	next.add(lib)
	return next, nil
}

// libraryExists is what FUNCTION LOAD says; FUNCTION RESTORE doesn't quote.
func libraryExists(name string) error { return fmt.Errorf("Library '%s' already exists", name) }

func functionExists(name string) error { return fmt.Errorf("Function %s already exists", name) }

// Without returns the libraries without that of the name.
func (f *Functions) Without(name string) *Functions {
	next := &Functions{libraries: maps.Clone(f.libraries), functions: maps.Clone(f.functions)}
	if next.libraries == nil {
		next.libraries, next.functions = map[string]*Library{}, map[string]*Function{}
	}
	lib := next.libraries[name]
	if lib == nil {
		return next
	}
	delete(next.libraries, name)
	for _, fn := range lib.Functions {
		if next.Find(fn.Name) == fn {
			delete(next.functions, strings.ToLower(fn.Name))
		}
	}
	return next
}

// Join returns these libraries and the others together. A library that both
// have is the other's if replace is set, and else an error.
func (f *Functions) Join(other *Functions, replace bool) (*Functions, error) {
	next := f.Without("")
	for _, lib := range other.Libraries() {
		if next.libraries[lib.Name] == nil {
			continue
		}
		if !replace {
			return nil, fmt.Errorf("Library %s already exists", lib.Name)
		}
		next = next.Without(lib.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(other.functions)) {
		if next.functions[name] != nil {
			return nil, functionExists(other.functions[name].Name)
		}
	}
	for _, lib := range other.libraries {
		next.add(lib)
	}
	return next, nil
}

func (f *Functions) add(lib *Library) {
	f.libraries[lib.Name] = lib
	for _, fn := range lib.Functions {
		if key := strings.ToLower(fn.Name); f.functions[key] == nil {
			f.functions[key] = fn
		}
	}
}

// What is wrong with a library, in Redis' words.
var (
	errNoMetadata  = errors.New("Missing library metadata")
	errBadMetadata = errors.New("Invalid library metadata")
	errNameTwice   = errors.New("Invalid metadata value, name argument was given multiple times")
	errNoName      = errors.New("Library name was not given")
	errBadName     = errors.New("Library names can only contain letters, numbers, or underscores(_) and must be at least one character long")
	errNoFunctions = errors.New("No functions registered")
)

// checkName says whether a library or a function may be called so.
func checkName(name string) error {
	for i := range len(name) {
		if c := name[i]; !isLetter(c) && !isDigit(c) && c != '_' {
			return errBadName
		}
	}
	if name == "" {
		return errBadName
	}
	return nil
}
