package commands

import (
	"math"

	"firn/mvcc"
)

var objectCommands = []Command{
	{Name: "OBJECT", Arity: -2, Summary: "A container for object introspection commands", Subs: []Command{
		{Name: "ENCODING", Arity: 3, Keys: secondKey, Run: OnView(objectEncoding), Summary: "Inspect the internal encoding of a Redis object"},
		{Name: "FREQ", Arity: 3, Keys: secondKey, Run: OnView(objectFreq), Summary: "Get the logarithmic access frequency counter of a Redis object"},
		{Name: "HELP", Arity: 2, Run: OnConn(objectHelp), Flags: Loading, Summary: "Show helpful text about the different subcommands"},
		{Name: "IDLETIME", Arity: 3, Keys: secondKey, Run: OnView(objectIdleTime), Summary: "Get the time since a Redis object was last accessed"},
		{Name: "REFCOUNT", Arity: 3, Keys: secondKey, Run: OnView(objectRefCount), Summary: "Get the number of references to the value of the key"},
	}},
}

// secondKey is the key of a subcommand.
var secondKey = Keys{First: 2, Last: 2, Step: 1}

// objectEntry looks up what OBJECT is asked about; if it is not there it
// appends the reply.
func objectEntry(c *Call, v *mvcc.View) (mvcc.Entry, bool) {
	v.Missed = nil // a miss is no event here, as in Redis
	e, ok := v.PeekCounted(c.Args[2])
	if !ok {
		c.Out.Null()
	}
	return e, ok
}

func objectEncoding(c *Call, v *mvcc.View) error {
	if e, ok := objectEntry(c, v); ok {
		c.Out.BulkString(e.EncodingName())
	}
	return nil
}

// sharedInts is OBJ_SHARED_INTEGERS: Redis keeps one object for each integer
// below, and says so by a reference count that never changes; but not where each
// value needs an access clock of its own.
const sharedInts = 10000

// RefCount is what OBJECT REFCOUNT answers for a value.
func RefCount(a *mvcc.Access, e *mvcc.Entry) int64 {
	if n, isInt := e.Int(); isInt && n >= 0 && n < sharedInts && !a.Evicts {
		return math.MaxInt32
	}
	return 1
}

func objectRefCount(c *Call, v *mvcc.View) error {
	if e, ok := objectEntry(c, v); ok {
		c.Out.Int(RefCount(v.Space().Access(), &e))
	}
	return nil
}

func objectIdleTime(c *Call, v *mvcc.View) error {
	e, ok := objectEntry(c, v)
	if !ok {
		return nil
	}
	a := v.Space().Access()
	if a.LFU {
		return ErrLFUSelected
	}
	c.Out.Int(a.Idle(e.Clock(), v.Now) / 1000)
	return nil
}

func objectFreq(c *Call, v *mvcc.View) error {
	e, ok := objectEntry(c, v)
	if !ok {
		return nil
	}
	a := v.Space().Access()
	if !a.LFU {
		return ErrNotLFU
	}
	c.Out.Int(int64(a.Frequency(e.Clock(), v.Now)))
	return nil
}

func objectHelp(c *Call) error {
	c.Out.Help("OBJECT",
		"ENCODING <key>",
		"    Return the kind of internal representation used in order to store the value",
		"    associated with a <key>.",
		"FREQ <key>",
		"    Return the access frequency index of the <key>. The returned integer is",
		"    proportional to the logarithm of the recent access frequency of the key.",
		"IDLETIME <key>",
		"    Return the idle time of the <key>, that is the approximated number of",
		"    seconds elapsed since the last access to the key.",
		"REFCOUNT <key>",
		"    Return the number of references of the value associated with the specified",
		"    <key>.",
	)
	return nil
}
