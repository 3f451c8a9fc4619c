package commands

import (
	"firn/mvcc"
	"firn/scan"
)

var setCommands = []Command{
	{Name: "SISMEMBER", Arity: 3, Keys: oneKey, Member: 2, Run: OnView(sismember), Summary: "Determine if a given value is a member of a set"},
	{Name: "SMISMEMBER", Arity: -3, Keys: oneKey, Member: 2, Run: OnView(smismember), Cost: membersCost, Summary: "Returns the membership associated with the given elements for a set"},
	{Name: "SCARD", Arity: 2, Keys: oneKey, Run: OnView(scard), Summary: "Get the number of members in a set"},
	{Name: "SMEMBERS", Arity: 2, Keys: oneKey, Run: OnView(smembers), Cost: countCost, Summary: "Get all the members in a set"},
	{Name: "SRANDMEMBER", Arity: -2, Keys: oneKey, Run: OnView(srandmember), Cost: sampleCost, Summary: "Get one or multiple random members from a set"},
	{Name: "SSCAN", Arity: -3, Keys: oneKey, Run: OnView(sscan), Cost: scanMembersCost, Summary: "Incrementally iterate Set elements"},

	{Name: "SADD", Arity: -3, Keys: oneKey, Member: 2, Run: OnOwner(sadd), Cost: membersCost, Flags: DenyOOM, Summary: "Add one or more members to a set"},
	{Name: "SREM", Arity: -3, Keys: oneKey, Member: 2, Run: OnOwner(srem), Cost: membersCost, Summary: "Remove one or more members from a set"},
	{Name: "SMOVE", Arity: 4, Keys: twoKeys, Run: OnOwner(smove), Summary: "Move a member from one set to another"},
	{Name: "SPOP", Arity: -2, Keys: oneKey, Run: OnOwner(spop), Cost: sampleCost, Summary: "Remove and return one or multiple random members from a set"},
}

// setAt looks the command's key up to read it; an absent one is an empty set.
func setAt(c *Call, v *mvcc.View) (s mvcc.SetValue, ok bool, err error) {
	e, ok := v.Get(c.Args[1])
	switch {
	case !ok:
		return s, false, nil
	case e.Type() != mvcc.Set:
		return s, false, ErrWrongType
	}
	return e.Set(v.Now), true, nil
}

func sismember(c *Call, v *mvcc.View) error {
	s, ok, err := setAt(c, v)
	if err != nil {
		return err
	}
	c.Out.Int(toInt(ok && s.Has(c.Args[2])))
	return nil
}

func smismember(c *Call, v *mvcc.View) error {
	s, ok, err := setAt(c, v)
	if err != nil {
		return err
	}
	members := c.Args[2:]
	c.Out.Array(len(members))
	for i, m := range members {
		c.Out.Int(toInt(ok && s.Has(m)))
		c.listed(&i)
	}
	return nil
}

func scard(c *Call, v *mvcc.View) error {
	s, ok, err := setAt(c, v)
	if err != nil {
		return err
	}
	n := 0
	if ok {
		n = s.Len()
	}
	c.Out.Int(int64(n))
	return nil
}

func smembers(c *Call, v *mvcc.View) error {
	s, ok, err := setAt(c, v)
	if err != nil {
		return err
	}
	n := memberCount(s, ok)
	c.Out.Set(n)
	if n == 0 {
		return nil
	}
	i := 0
	s.Each(func(member []byte) bool {
		c.Out.Bulk(member)
		c.listed(&i)
		return true
	})
	return nil
}

// memberCount is how many members of a set Each yields: Len counts those too
// that have expired but were not removed yet.
func memberCount(s mvcc.SetValue, ok bool) int {
	switch {
	case !ok:
		return 0
	case !s.HasExpiries():
		return s.Len()
	}
	n := 0
	s.Each(func([]byte) bool { n++; return true })
	return n
}

func sscan(c *Call, v *mvcc.View) error {
	cursor, ok := scan.ParseCursor(c.Args[2])
	if !ok {
		return ErrInvalidCursor
	}
	s, ok, err := setAt(c, v)
	if err != nil {
		return err
	}
	if !ok {
		return scanEmpty(c)
	}
	return scanMembers(c, v, cursor, memberSource{
		small: s.Small(),
		each: func(yield func(member, value []byte) bool) {
			s.Each(func(m []byte) bool { return yield(m, nil) })
		},
		from: func(pos uint64, yield func(pos uint64, member, value []byte) bool) {
			s.AscendPos(pos, func(at uint64, m []byte) bool { return yield(at, m, nil) })
		},
	})
}
