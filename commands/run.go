package commands

import (
	"errors"
	"fmt"
	"runtime/debug"

	"firn/mvcc"
)

// A Fault is a panic in a command: a bug of ours. The client gets an error, the
// log gets the stack, the server lives.
type Fault struct {
	Command string
	Value   any
	Stack   []byte
}

func (f *Fault) Error() string {
	return fmt.Sprintf("internal error in '%s': %v", f.Command, f.Value)
}

// ErrGone is what Pause and Spill panic with when the client has left; the
// command ends there and its reply goes nowhere.
var ErrGone = errors.New("the client has left")

// RunView runs a reading command and leaves exactly one reply.
func RunView(c *Call, v *mvcc.View) error {
	return c.guard(func() error { return c.Row.Run.(OnView)(c, v) })
}

// RunCut runs a command over frozen versions and leaves exactly one reply.
func RunCut(c *Call, cut mvcc.Cut) error {
	return c.guard(func() error { return c.Row.Run.(OnCut)(c, cut) })
}

// RunOwner runs a writing command and leaves exactly one reply.
func RunOwner(c *Call, tx *mvcc.Tx) error {
	return c.guard(func() error { return c.Row.Run.(OnOwner)(c, tx) })
}

// RunConn runs a command that needs no keys and leaves exactly one reply.
func RunConn(c *Call) error {
	return c.guard(func() error { return c.Row.Run.(OnConn)(c) })
}

// Guard runs f as a command of the row that c began: an error it returns, or a
// panic, becomes the one reply, and what it had appended is cut off. It returns
// that error, for the statistics and the log.
func (c *Call) Guard(f func() error) error { return c.guard(f) }

func (c *Call) guard(f func() error) (err error) {
	mark := c.Out.Mark()
	defer func() {
		if p := recover(); p != nil {
			err = caught(c, p)
		}
		if err != nil {
			c.Out.Truncate(mark)
			c.Out.Error(err)
		}
	}()
	return f()
}

func caught(c *Call, p any) error {
	if err, ok := p.(error); ok && errors.Is(err, ErrGone) {
		return ErrGone
	}
	return &Fault{c.Row.full, p, debug.Stack()}
}
