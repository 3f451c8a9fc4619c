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

// RunOwner runs a writing command, an OnStore as a small one, and leaves
// exactly one reply.
func RunOwner(c *Call, tx *mvcc.Tx) error {
	if c.Row.Run.Kind() == KindStore {
		return RunStore(c, tx)
	}
	return c.guard(func() error { return c.Row.Run.(OnOwner)(c, tx) })
}

// RunStore runs both parts of a storing command on the live keyspace and leaves
// exactly one reply. Inputs that have expired are removed between them.
func RunStore(c *Call, tx *mvcc.Tx) error {
	return c.guard(func() error {
		commit, err := c.Row.Run.(OnStore)(c, &tx.View)
		for _, key := range tx.TakeStale() {
			tx.Expire(key)
		}
		if err != nil || commit == nil {
			return err
		}
		return commit(tx)
	})
}

// PrepareStore runs the first part of a heavy storing command over a frozen
// view. If it returns a commit, that is for CommitStore to run; if not, the one
// reply is there.
func PrepareStore(c *Call, v *mvcc.View) (commit func(tx *mvcc.Tx) error, err error) {
	err = c.guard(func() error {
		commit, err = c.Row.Run.(OnStore)(c, v)
		return err
	})
	if err != nil {
		c.effects = c.effects[:0]
		return nil, err
	}
	return commit, nil
}

// CommitStore runs the second part and leaves exactly one reply.
func CommitStore(c *Call, commit func(tx *mvcc.Tx) error, tx *mvcc.Tx) error {
	c.Pause = nil // shards are held
	err := c.guard(func() error { return commit(tx) })
	if err != nil {
		c.effects = c.effects[:0]
	}
	return err
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
