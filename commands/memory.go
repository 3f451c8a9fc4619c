package commands

import "firn/mvcc"

// memoryCommands is the part of MEMORY that asks about a key; package server
// has the rest in a MEMORY row of its own.
var memoryCommands = []Command{
	{Name: "MEMORY", Arity: -2, Summary: "A container for memory diagnostics commands", Subs: []Command{
		{Name: "USAGE", Arity: -3, Keys: secondKey, Run: OnView(memoryUsage), Summary: "Estimate the memory usage of a key"},
	}},
}

// memoryUsage is MEMORY USAGE. SAMPLES is checked, but not needed: sizes are
// kept, not estimated.
func memoryUsage(c *Call, v *mvcc.View) error {
	for i := 3; i < len(c.Args); i += 2 {
		if !c.Is(i, "samples") || i+1 == len(c.Args) {
			return ErrSyntax
		}
		n, ok := ParseInt(c.Args[i+1])
		if !ok {
			return ErrNotInteger
		}
		if n < 0 {
			return ErrSyntax
		}
	}
	e, ok := v.Peek(c.Args[2])
	if !ok {
		c.Out.Null()
		return nil
	}
	c.Out.Int(e.Size())
	return nil
}
