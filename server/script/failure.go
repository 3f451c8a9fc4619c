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
	// Err is what the Host's Interrupt has returned, if that ended the run.
	Err error
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
	v := errorValue(err)
	t, ok := v.(*lua.LTable)
	if !ok {
		return &Failure{Text: "ERR " + v.String()}
	}
	f := failureIn(t)
	if f.Text == "" {
		f.Text = "ERR unknown error"
	}
	return f
}

// failureIn reads an error table.
func failureIn(t *lua.LTable) *Failure {
	text := func(name string) string { s, _ := asText(t.RawGetString(name)); return s }
	counted := t.RawGetString("ignore_error_stats_update") == lua.LTrue
	return &Failure{Text: text("err"), Source: text("source"), Line: text("line"), Counted: counted}
}

// explained is the error handler of a run: it makes a table of the error and adds
// where it happened.
func (st *State) explained(l *lua.LState) int {
	v := mended(l, l.Get(1))
	t, ok := v.(*lua.LTable)
	if !ok {
		text, _ := asText(v)
		if text == "" {
			text = v.String()
		}
		t = l.NewTable()
		t.RawSetString("err", lua.LString("ERR "+text))
	}
	if d := userFrame(l); d != nil {
		t.RawSetString("source", lua.LString("@"+d.Source))
		t.RawSetString("line", lua.LNumber(d.CurrentLine))
	}
	l.Push(t)
	return 1
}

// userFrame returns the frame that an error is about: the one that failed, or
// the caller of the Go function that did.
func userFrame(l *lua.LState) *lua.Debug {
	for level := 1; level <= 2; level++ {
		d, ok := l.GetStack(level)
		if !ok {
			return nil
		}
		if _, err := l.GetInfo("Sl", d, lua.LNil); err == nil && d.CurrentLine > 0 {
			return d
		}
	}
	return nil
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
