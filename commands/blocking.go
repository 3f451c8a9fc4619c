package commands

import (
	"math"

	"firn/mvcc"
)

// A Wait is what a command leaves, instead of a reply, that has found nothing
// and whose client waits until there is something. The keys alias the command
// line.
type Wait struct {
	Keys    [][]byte  // in the order in which they are named; one may be there twice
	Type    mvcc.Type // of the values that can end the wait
	Dest    []byte    // the key that is written beside the one that has something; nil: none
	Gone    bool      // that there is no such value any more ends the wait, too
	Timeout int64     // ms; 0: for ever

	// ready says whether the value at the i-th key ends the wait; nil: any of
	// the type does.
	ready func(e *mvcc.Entry, i int) bool
	// serve is the rest of the command, with something at the i-th key.
	serve func(c *Call, tx *mvcc.Tx, i int) error
}

// Ready says whether the value at the i-th key, which is of the Wait's type, ends
// the wait.
func (w *Wait) Ready(e *mvcc.Entry, i int) bool { return w.ready == nil || w.ready(e, i) }

// ServeWait runs the rest of the command that waits, with the i-th key, and
// leaves exactly one reply. Of a Wait with Gone the key may have nothing.
func ServeWait(c *Call, tx *mvcc.Tx, w *Wait, i int) error {
	return c.guard(func() error { return w.serve(c, tx, i) })
}

// Waiting returns what the command that has run waits for; nil if the reply is
// there.
func (c *Call) Waiting() *Wait { return c.wait }

// block makes the client wait. Where it can't, in a transaction or a script, it
// says false, and the answer is that of a timeout.
func (c *Call) block(w *Wait) bool {
	if !c.CanWait {
		return false
	}
	c.wait = w
	return true
}

// blockOr is block, or null is the reply.
func (c *Call) blockOr(null func(), w *Wait) error {
	if !c.block(w) {
		null()
	}
	return nil
}

// parseWait reads a timeout in seconds, and returns it in ms.
func parseWait(c *Call, i int) (int64, error) {
	seconds, ok := ParseFloat(c.Args[i])
	if !ok {
		return 0, ErrTimeoutFloat
	}
	ms := math.Ceil(seconds * 1000)
	switch {
	case ms < 0:
		return 0, ErrTimeoutNeg
	case ms >= float64(math.MaxInt64-c.Now): // as from Redis 7.2 on; 7.0 says that it is negative, or waits for no time
		return 0, ErrTimeoutRange
	}
	return int64(ms), nil
}

var blockingCommands = []Command{
	{Name: "BLPOP", Arity: -3, Keys: beforeLast, Run: OnOwner(blpop), Flags: NoScript | Blocking, Summary: "Remove and get the first element in a list, or block until one is available"},
	{Name: "BRPOP", Arity: -3, Keys: beforeLast, Run: OnOwner(brpop), Flags: NoScript | Blocking, Summary: "Remove and get the last element in a list, or block until one is available"},
	{Name: "BLMOVE", Arity: 6, Keys: twoKeys, Run: OnOwner(blmove), Flags: DenyOOM | NoScript | Blocking, Summary: "Pop an element from a list, push it to another list and return it; or block until one is available"},
	{Name: "BRPOPLPUSH", Arity: 4, Keys: twoKeys, Run: OnOwner(brpoplpush), Flags: DenyOOM | NoScript | Blocking, Summary: "Pop an element from a list, push it to another list and return it; or block until one is available"},
	{Name: "BLMPOP", Arity: -5, Keys: numberedKeys(2), Run: OnOwner(blmpop), Cost: blmpopCost, Flags: Blocking, Summary: "Pop elements from a list, or block until one is available"},

	{Name: "BZPOPMIN", Arity: -3, Keys: beforeLast, Run: OnOwner(bzpopmin), Flags: NoScript | Blocking, Summary: "Remove and return the member with the lowest score from one or more sorted sets, or block until one is available"},
	{Name: "BZPOPMAX", Arity: -3, Keys: beforeLast, Run: OnOwner(bzpopmax), Flags: NoScript | Blocking, Summary: "Remove and return the member with the highest score from one or more sorted sets, or block until one is available"},
	{Name: "BZMPOP", Arity: -5, Keys: numberedKeys(2), Run: OnOwner(bzmpop), Cost: bzmpopCost, Flags: Blocking, Summary: "Remove and return members with scores in a sorted set or block until one is available"},
}

// beforeLast are the keys of a command whose last argument is a timeout.
var beforeLast = Keys{First: 1, Last: -2, Step: 1}
