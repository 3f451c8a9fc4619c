package script

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

// A Failure is an error that a script has not caught.
type Failure struct {
	Text   string // with its code, without the dash
	Source string // "@user_script", or empty
	Line   string
	// Counted says that the error is one of a command and is in the
	// statistics already.
	Counted bool
}

// Message returns the error line, without the dash; name is the script's SHA or
// the function's name.
func (f *Failure) Message(name string) string {
	if f.Source == "" || f.Line == "" {
		return f.Text
	}
	return fmt.Sprintf("%s script: %s, on %s:%s.", f.Text, name, f.Source, f.Line)
}

func failureOf(err error) *Failure {
	api, ok := err.(*lua.ApiError)
	if !ok {
		return &Failure{Text: "ERR " + err.Error()}
	}
	t, ok := api.Object.(*lua.LTable)
	if !ok {
		return &Failure{Text: "ERR " + api.Object.String()}
	}
	return failureIn(t)
}

// failureIn reads an error table.
func failureIn(t *lua.LTable) *Failure {
	text := func(name string) string { return lua.LVAsString(t.RawGetString(name)) }
	return &Failure{text("err"), text("source"), text("line"), t.RawGetString("ignore_error_stats_update") == lua.LTrue}
}

// explain is the error handler: it makes a table of the error and adds where it
// happened.
func (st *State) explain(l *lua.LState) int {
	t, ok := l.Get(1).(*lua.LTable)
	if !ok {
		t = l.NewTable()
		t.RawSetString("err", lua.LString("ERR "+l.Get(1).String()))
	}
	l.Push(t)
	return 1
}

// errorTable returns an error value of a text with or without "-CODE ".
func errorTable(l *lua.LState, text string) *lua.LTable {
	t := l.NewTable()
	t.RawSetString("err", lua.LString(errorText(text)))
	return t
}

// throw ends the running function with an error table.
func throw(l *lua.LState, text string) int {
	l.Error(errorTable(l, text), 1)
	return 0
}
