package commands

import "firn/mvcc"

var stringCommands = []Command{
	{Name: "GET", Arity: 2, Keys: oneKey, Run: OnView(get), Summary: "Get the value of a key"},
	{Name: "STRLEN", Arity: 2, Keys: oneKey, Run: OnView(strlen), Summary: "Get the length of the value stored in a key"},
	{Name: "GETRANGE", Arity: 4, Keys: oneKey, Run: OnView(getrange), Summary: "Get a substring of the string stored at a key"},
	{Name: "SUBSTR", Arity: 4, Keys: oneKey, Run: OnView(getrange), Summary: "Get a substring of the string stored at a key"},
	{Name: "MGET", Arity: -2, Keys: allArgs, Run: OnView(mget), Cost: keysCost, Summary: "Get the values of all the given keys"},
	{Name: "LCS", Arity: -3, Keys: twoKeys, Run: OnView(lcs), Cost: lcsCost, Summary: "Find longest common substring"},

	{Name: "SET", Arity: -3, Keys: oneKey, Run: OnOwner(set), Flags: DenyOOM, Summary: "Set the string value of a key"},
	{Name: "SETNX", Arity: 3, Keys: oneKey, Run: OnOwner(setnx), Flags: DenyOOM, Summary: "Set the value of a key, only if the key does not exist"},
	{Name: "SETEX", Arity: 4, Keys: oneKey, Run: OnOwner(setex), Flags: DenyOOM, Summary: "Set the value and expiration of a key"},
	{Name: "PSETEX", Arity: 4, Keys: oneKey, Run: OnOwner(psetex), Flags: DenyOOM, Summary: "Set the value and expiration in milliseconds of a key"},
	{Name: "GETSET", Arity: 3, Keys: oneKey, Run: OnOwner(getset), Flags: DenyOOM, Summary: "Set the string value of a key and return its old value"},
	{Name: "GETDEL", Arity: 2, Keys: oneKey, Run: OnOwner(getdel), Summary: "Get the value of a key and delete the key"},
	{Name: "GETEX", Arity: -2, Keys: oneKey, Run: OnOwner(getex), Summary: "Get the value of a key and optionally set its expiration"},
	{Name: "MSET", Arity: -3, Keys: pairs, Run: OnOwner(mset), Cost: pairsCost, Flags: DenyOOM, Summary: "Set multiple keys to multiple values"},
	{Name: "MSETNX", Arity: -3, Keys: pairs, Run: OnOwner(msetnx), Cost: pairsCost, Flags: DenyOOM, Summary: "Set multiple keys to multiple values, only if none of the keys exist"},

	{Name: "APPEND", Arity: 3, Keys: oneKey, Run: OnOwner(appendString), Flags: DenyOOM, Summary: "Append a value to a key"},
	{Name: "SETRANGE", Arity: 4, Keys: oneKey, Run: OnOwner(setrange), Flags: DenyOOM, Summary: "Overwrite part of a string at key starting at the specified offset"},

	{Name: "INCR", Arity: 2, Keys: oneKey, Run: OnOwner(incr), Flags: DenyOOM, Summary: "Increment the integer value of a key by one"},
	{Name: "DECR", Arity: 2, Keys: oneKey, Run: OnOwner(decr), Flags: DenyOOM, Summary: "Decrement the integer value of a key by one"},
	{Name: "INCRBY", Arity: 3, Keys: oneKey, Run: OnOwner(incrby), Flags: DenyOOM, Summary: "Increment the integer value of a key by the given amount"},
	{Name: "DECRBY", Arity: 3, Keys: oneKey, Run: OnOwner(decrby), Flags: DenyOOM, Summary: "Decrement the integer value of a key by the given number"},
	{Name: "INCRBYFLOAT", Arity: 3, Keys: oneKey, Run: OnOwner(incrbyfloat), Flags: DenyOOM, Summary: "Increment the float value of a key by the given amount"},
}

func get(c *Call, v *mvcc.View) error {
	e, ok := v.Get(c.Args[1])
	if !ok {
		c.Out.Null()
		return nil
	}
	if e.Type() != mvcc.String {
		return ErrWrongType
	}
	c.Out.BulkEntry(v, &e)
	return nil
}

func strlen(c *Call, v *mvcc.View) error {
	e, ok := v.Get(c.Args[1])
	if !ok {
		c.Out.Int(0)
		return nil
	}
	if e.Type() != mvcc.String {
		return ErrWrongType
	}
	c.Out.Int(e.Len())
	return nil
}

func getrange(c *Call, v *mvcc.View) error {
	start, ok := ParseInt(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	end, ok := ParseInt(c.Args[3])
	if !ok {
		return ErrNotInteger
	}
	e, ok := v.Get(c.Args[1])
	if !ok {
		c.Out.BulkString("")
		return nil
	}
	if e.Type() != mvcc.String {
		return ErrWrongType
	}
	from, to := byteRange(start, end, e.Len())
	c.Out.BulkRange(v, &e, from, to)
	return nil
}

// byteRange turns the two ends of GETRANGE, which count from the value's end if
// negative and are both part of the range, into [from, to) of size bytes.
func byteRange(start, end, size int64) (from, to int64) {
	if start < 0 && end < 0 && start > end {
		return 0, 0
	}
	if start < 0 {
		start = max(start+size, 0)
	}
	if end < 0 {
		end = max(end+size, 0)
	}
	end = min(end, size-1)
	if start > end {
		return 0, 0
	}
	return start, end + 1
}

// pauseEvery is after how many elements a loop lets other work have its turn.
const pauseEvery = 256

func mget(c *Call, v *mvcc.View) error {
	keys := c.Args[1:]
	c.Out.Array(len(keys))
	for i, key := range keys {
		c.pauseAt(i)
		c.next(v, i, key)
		if e, ok := v.Get(key); ok && e.Type() == mvcc.String {
			c.Out.BulkEntry(v, &e)
		} else {
			c.Out.Null()
		}
		c.Out.Spill()
	}
	return nil
}

// pauseAt pauses at every 256th element of a loop.
func (c *Call) pauseAt(i int) {
	if i%pauseEvery == pauseEvery-1 && c.Pause != nil {
		c.Pause()
	}
}

func keysCost(c *Call, _ *mvcc.View) int { return len(c.Args) - 1 }

func pairsCost(c *Call, _ *mvcc.View) int { return len(c.Args) / 2 }
