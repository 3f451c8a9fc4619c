package commands

import "firn/mvcc"

// liveMember tells a sampler which members have not expired; nil: all.
func liveMember(s mvcc.SetValue) func(i int) bool {
	if !s.HasExpiries() {
		return nil
	}
	return func(i int) bool { return s.Has(s.At(i)) }
}

func memberSampler(c *Call, s mvcc.SetValue) sampler {
	return sampler{c: c, size: s.Len(), live: liveMember(s)}
}

func srandmember(c *Call, v *mvcc.View) error {
	switch len(c.Args) {
	case 2:
		return randomMember(c, v)
	case 3:
		return randomMembers(c, v)
	}
	return ErrSyntax
}

func randomMember(c *Call, v *mvcc.View) error {
	s, ok, err := setAt(c, v)
	if err != nil {
		return err
	}
	if ok {
		draw := memberSampler(c, s)
		if i, ok := draw.one(); ok {
			c.Out.Bulk(s.At(i))
			return nil
		}
	}
	c.Out.Null()
	return nil
}

func randomMembers(c *Call, v *mvcc.View) error {
	n, err := parseSampleCount(c.Args[2])
	if err != nil {
		return err
	}
	s, ok, err := setAt(c, v)
	if err != nil {
		return err
	}
	if !ok || n == 0 {
		c.Out.Array(0)
		return nil
	}
	if n < 0 {
		repeatedMembers(c, s, -n)
	} else {
		differentMembers(c, s, n)
	}
	return nil
}

// repeatedMembers answers n members, any of which may come again. An endless
// number is sent until the client has enough.
func repeatedMembers(c *Call, s mvcc.SetValue, n int64) {
	draw := memberSampler(c, s)
	if _, ok := draw.one(); !ok {
		n = 0
	}
	c.Out.Array(int(n))
	for i := int64(0); i < n; i++ {
		at, _ := draw.one()
		c.Out.Bulk(s.At(at))
		c.Out.Spill()
		c.pauseAt(int(i % pauseEvery))
	}
}

// differentMembers answers up to n members, each once.
func differentMembers(c *Call, s mvcc.SetValue, n int64) {
	draw := memberSampler(c, s)
	if draw.live == nil && n >= int64(draw.size) {
		c.Out.Array(draw.size)
		i := 0
		s.Each(func(member []byte) bool {
			c.Out.Bulk(member)
			c.listed(&i)
			return true
		})
		return
	}
	chosen := draw.some(int(min(n, int64(draw.size))))
	c.Out.Array(len(chosen))
	for i, at := range chosen {
		c.Out.Bulk(s.At(at))
		c.listed(&i)
	}
}

func spop(c *Call, tx *mvcc.Tx) error {
	switch len(c.Args) {
	case 2:
		return popMember(c, tx)
	case 3:
		return popMembers(c, tx)
	}
	return ErrSyntax
}

func popMember(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	e, there, err := findSet(tx, key)
	if err != nil {
		return err
	}
	if !there {
		c.Out.Null()
		return nil
	}
	w := tx.EditSet(key, &e)
	defer w.Close()
	s := w.Value()
	draw := memberSampler(c, s)
	i, ok := draw.one()
	if !ok {
		c.Out.Null()
		return nil
	}
	member := w.Pop(i, nil) // a copy, for the effect keeps it
	c.Out.Bulk(member)
	c.removed('s', "spop", key, 1, w.Len() == 0)
	c.Propagate([]byte("SREM"), key, member)
	return nil
}

func popMembers(c *Call, tx *mvcc.Tx) error {
	n, ok := ParseInt(c.Args[2])
	if !ok || n < 0 {
		return ErrNotPositive
	}
	key := c.Args[1]
	e, ok := tx.Lookup(key)
	switch {
	case ok && e.Type() != mvcc.Set:
		return ErrWrongType
	case !ok || n == 0:
		c.Out.Set(0)
		return nil
	case n >= int64(e.Count()):
		popAll(c, tx, &e)
		return nil
	}
	popSome(c, tx, int(n))
	return nil
}

// popAll answers the whole set and deletes it. The reply of a write is not
// spilled: it must not wait for a client while others wait for the key.
func popAll(c *Call, tx *mvcc.Tx, e *mvcc.Entry) {
	key := c.Args[1]
	changes := tx.Changes + int64(e.Count())
	s, i := e.Set(tx.Now), 0
	c.Out.Set(memberCount(s, true))
	s.Each(func(member []byte) bool {
		c.Out.Bulk(member)
		c.pauseAt(i)
		i++
		return true
	})
	tx.Delete(key)
	tx.Changes = changes
	c.removed('s', "spop", key, 1, true)
	c.Propagate([]byte("DEL"), key)
}

// effectMembers is how many members one effect of a long SPOP names.
const effectMembers = 1024

// popSome takes out n members, fewer than there are.
func popSome(c *Call, tx *mvcc.Tx, n int) {
	key := c.Args[1]
	w := tx.WriteSet(key)
	s := w.Value()
	draw := memberSampler(c, s)
	chosen := draw.some(n)
	members := copyMembers(c, s, chosen)
	c.Out.Set(len(members))
	for i, m := range members {
		w.Remove(m)
		c.Out.Bulk(m)
		c.pauseAt(i)
	}
	emptied := w.Len() == 0
	w.Close()
	c.removed('s', "spop", key, len(members), emptied)
	c.PropagateNothing()
	for len(members) > 0 {
		part := members[:min(len(members), effectMembers)]
		members = members[len(part):]
		c.Propagate(append([][]byte{[]byte("SREM"), key}, part...)...)
	}
}

// copyMembers copies the members with these indices; they lie together.
func copyMembers(c *Call, s mvcc.SetValue, chosen []int) [][]byte {
	var room []byte
	ends := make([]int, len(chosen))
	for j, i := range chosen {
		room = append(room, s.At(i)...)
		ends[j] = len(room)
		c.pauseAt(j)
	}
	members, from := make([][]byte, len(chosen)), 0
	for j, to := range ends {
		members[j], from = room[from:to:to], to
	}
	return members
}
