package script

import (
	"context"
	"errors"
	"time"
)

// pollEvery is how many instructions lie between two looks at the time.
const pollEvery = 1000

// A clock is the context of a state's interpreter, which asks it before each
// instruction whether it is done: it counts them, and asks the Host every so
// often. Once done it stays so until the next run, so that a script that catches
// the error does not go on.
type clock struct {
	host Host
	left int
	err  error
	done chan struct{} // closed; what Done returns when the run is over
}

var _ context.Context = (*clock)(nil)

func (c *clock) begin(h Host) { c.host, c.left, c.err = h, pollEvery, nil }

// Done implements context.Context for the interpreter.
func (c *clock) Done() <-chan struct{} {
	if c.left--; c.left > 0 {
		return nil
	}
	if c.Err() == nil {
		c.left = pollEvery
		return nil
	}
	return c.done
}

// Err asks the host. It says what ended the run, or nil.
func (c *clock) Err() error {
	if c.err == nil && c.host != nil {
		if c.err = c.host.Interrupt(); c.err != nil {
			c.left = 0
		}
	}
	return c.err
}

// stop ends the run if the error is a Stop.
func (c *clock) stop(err error) {
	var s Stop
	if errors.As(err, &s) {
		c.err, c.left = s.Err, 0
	}
}

// Deadline says that there is none.
func (c *clock) Deadline() (t time.Time, ok bool) { return t, false }

// Value knows nothing.
func (c *clock) Value(any) any { return nil }
