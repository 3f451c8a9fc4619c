package commands

import (
	"firn/mvcc"
	"firn/scan"
)

var hashCommands = []Command{
	{Name: "HGET", Arity: 3, Keys: oneKey, Member: 2, Run: OnView(hget), Summary: "Get the value of a hash field"},
	{Name: "HMGET", Arity: -3, Keys: oneKey, Member: 2, Run: OnView(hmget), Cost: membersCost, Summary: "Get the values of all the given hash fields"},
	{Name: "HLEN", Arity: 2, Keys: oneKey, Run: OnView(hlen), Summary: "Get the number of fields in a hash"},
	{Name: "HSTRLEN", Arity: 3, Keys: oneKey, Member: 2, Run: OnView(hstrlen), Summary: "Get the length of the value of a hash field"},
	{Name: "HEXISTS", Arity: 3, Keys: oneKey, Member: 2, Run: OnView(hexists), Summary: "Determine if a hash field exists"},
	{Name: "HGETALL", Arity: 2, Keys: oneKey, Run: OnView(hgetall), Cost: countCost, Summary: "Get all the fields and values in a hash"},
	{Name: "HKEYS", Arity: 2, Keys: oneKey, Run: OnView(hkeys), Cost: countCost, Summary: "Get all the fields in a hash"},
	{Name: "HVALS", Arity: 2, Keys: oneKey, Run: OnView(hvals), Cost: countCost, Summary: "Get all the values in a hash"},
	{Name: "HRANDFIELD", Arity: -2, Keys: oneKey, Run: OnView(hrandfield), Cost: sampleCost, Summary: "Get one or multiple random fields from a hash"},
	{Name: "HSCAN", Arity: -3, Keys: oneKey, Run: OnView(hscan), Cost: scanMembersCost, Summary: "Incrementally iterate hash fields and associated values"},

	{Name: "HSET", Arity: -4, Keys: oneKey, Member: 2, Run: OnOwner(hset), Cost: fieldsCost, Flags: DenyOOM, Summary: "Set the string value of a hash field"},
	{Name: "HMSET", Arity: -4, Keys: oneKey, Member: 2, Run: OnOwner(hmset), Cost: fieldsCost, Flags: DenyOOM, Summary: "Set multiple hash fields to multiple values"},
	{Name: "HSETNX", Arity: 4, Keys: oneKey, Member: 2, Run: OnOwner(hsetnx), Flags: DenyOOM, Summary: "Set the value of a hash field, only if the field does not exist"},
	{Name: "HDEL", Arity: -3, Keys: oneKey, Member: 2, Run: OnOwner(hdel), Cost: membersCost, Summary: "Delete one or more hash fields"},
	{Name: "HINCRBY", Arity: 4, Keys: oneKey, Member: 2, Run: OnOwner(hincrby), Flags: DenyOOM, Summary: "Increment the integer value of a hash field by the given number"},
	{Name: "HINCRBYFLOAT", Arity: 4, Keys: oneKey, Member: 2, Run: OnOwner(hincrbyfloat), Flags: DenyOOM, Summary: "Increment the float value of a hash field by the given amount"},
}

// membersCost counts the members that are arguments behind the key.
func membersCost(c *Call, _ *mvcc.View) int { return len(c.Args) - 2 }

// fieldsCost counts the fields that are arguments with their values.
func fieldsCost(c *Call, _ *mvcc.View) int { return len(c.Args)/2 - 1 }

// countCost is the size of the value at the first key.
func countCost(c *Call, v *mvcc.View) int {
	if e, ok := v.Peek(c.Args[1]); ok {
		return e.Count()
	}
	return 1
}

// hashAt looks the command's key up to read it; an absent one is an empty hash.
func hashAt(c *Call, v *mvcc.View) (h mvcc.HashValue, ok bool, err error) {
	e, ok := v.Get(c.Args[1])
	switch {
	case !ok:
		return h, false, nil
	case e.Type() != mvcc.Hash:
		return h, false, ErrWrongType
	}
	return e.Hash(v.Now), true, nil
}

func hget(c *Call, v *mvcc.View) error {
	h, ok, err := hashAt(c, v)
	if err != nil {
		return err
	}
	if ok {
		if value, ok := h.Get(c.Args[2]); ok {
			c.Out.Bulk(value)
			return nil
		}
	}
	c.Out.Null()
	return nil
}

func hmget(c *Call, v *mvcc.View) error {
	h, ok, err := hashAt(c, v)
	if err != nil {
		return err
	}
	fields := c.Args[2:]
	c.Out.Array(len(fields))
	for i, field := range fields {
		c.pauseAt(i)
		var value []byte
		found := false
		if ok {
			value, found = h.Get(field)
		}
		if found {
			c.Out.Bulk(value)
		} else {
			c.Out.Null()
		}
		c.Out.Spill()
	}
	return nil
}

func hlen(c *Call, v *mvcc.View) error {
	h, ok, err := hashAt(c, v)
	if err != nil {
		return err
	}
	n := 0
	if ok {
		n = h.Len()
	}
	c.Out.Int(int64(n))
	return nil
}

func hstrlen(c *Call, v *mvcc.View) error {
	h, ok, err := hashAt(c, v)
	if err != nil {
		return err
	}
	var value []byte
	if ok {
		value, _ = h.Get(c.Args[2])
	}
	c.Out.Int(int64(len(value)))
	return nil
}

func hexists(c *Call, v *mvcc.View) error {
	h, ok, err := hashAt(c, v)
	if err != nil {
		return err
	}
	if ok {
		_, ok = h.Get(c.Args[2])
	}
	c.Out.Int(toInt(ok))
	return nil
}

func hgetall(c *Call, v *mvcc.View) error {
	h, ok, err := hashAt(c, v)
	if err != nil {
		return err
	}
	n := fieldCount(h, ok)
	c.Out.Map(n)
	if n == 0 {
		return nil
	}
	i := 0
	h.Each(func(field, value []byte) bool {
		c.Out.Bulk(field)
		c.Out.Bulk(value)
		c.listed(&i)
		return true
	})
	return nil
}

func hkeys(c *Call, v *mvcc.View) error {
	return listFields(c, v, func(field, _ []byte) []byte { return field })
}

func hvals(c *Call, v *mvcc.View) error {
	return listFields(c, v, func(_, value []byte) []byte { return value })
}

func listFields(c *Call, v *mvcc.View, part func(field, value []byte) []byte) error {
	h, ok, err := hashAt(c, v)
	if err != nil {
		return err
	}
	n := fieldCount(h, ok)
	c.Out.Array(n)
	if n == 0 {
		return nil
	}
	i := 0
	h.Each(func(field, value []byte) bool {
		c.Out.Bulk(part(field, value))
		c.listed(&i)
		return true
	})
	return nil
}

// listed is called after each element of a long reply.
func (c *Call) listed(i *int) {
	c.Out.Spill()
	c.pauseAt(*i)
	*i++
}

// fieldCount is how many fields of a hash Each yields: Len counts those too that
// have expired but were not removed yet.
func fieldCount(h mvcc.HashValue, ok bool) int {
	switch {
	case !ok:
		return 0
	case !h.HasExpiries():
		return h.Len()
	}
	n := 0
	h.Each(func(_, _ []byte) bool { n++; return true })
	return n
}

func hscan(c *Call, v *mvcc.View) error {
	cursor, ok := scan.ParseCursor(c.Args[2])
	if !ok {
		return ErrInvalidCursor
	}
	h, ok, err := hashAt(c, v)
	if err != nil {
		return err
	}
	if !ok {
		return scanEmpty(c)
	}
	return scanMembers(c, v, cursor, memberSource{small: h.Small(), values: true, each: h.Each, from: h.AscendPos})
}
