package commands

import "firn/mvcc"

// infoStream looks up the stream of an XINFO subcommand, which must be there.
func infoStream(c *Call, v *mvcc.View) (mvcc.StreamValue, error) {
	s, ok, err := streamAt(v, c.Args[2])
	if err == nil && !ok {
		err = ErrNoKey
	}
	return s, err
}

func xinfoHelp(c *Call) error {
	c.Out.Help("XINFO",
		"CONSUMERS <key> <groupname>",
		"    Show consumers of <groupname>.",
		"GROUPS <key>",
		"    Show the stream consumer groups.",
		"STREAM <key> [FULL [COUNT <count>]",
		"    Show information about the stream.",
	)
	return nil
}

func xinfoConsumers(c *Call, v *mvcc.View) error {
	s, err := infoStream(c, v)
	if err != nil {
		return err
	}
	g, ok := s.Group(c.Args[3])
	if !ok {
		return ErrNoGroupFor(c.Args[3], c.Args[2])
	}
	c.Out.Array(g.ConsumerCount())
	i := 0
	g.EachConsumer(func(consumer mvcc.StreamConsumer) bool {
		c.Out.Map(3)
		c.Out.BulkString("name")
		c.Out.BulkString(consumer.Name())
		c.Out.BulkString("pending")
		c.Out.Int(int64(consumer.PendingCount()))
		c.Out.BulkString("idle")
		c.Out.Int(max(c.Now-consumer.Seen(), 0))
		c.Out.Spill()
		c.pauseAt(i)
		i++
		return true
	})
	return nil
}

func xinfoConsumersCost(c *Call, v *mvcc.View) int {
	if s, ok := peekStream(v, c.Args[2]); ok {
		if g, ok := s.Group(c.Args[3]); ok {
			return g.ConsumerCount()
		}
	}
	return 1
}

func xinfoGroups(c *Call, v *mvcc.View) error {
	s, err := infoStream(c, v)
	if err != nil {
		return err
	}
	c.Out.Array(s.GroupCount())
	i := 0
	s.EachGroup(func(g mvcc.StreamGroup) bool {
		c.Out.Map(6)
		c.Out.BulkString("name")
		c.Out.BulkString(g.Name())
		c.Out.BulkString("consumers")
		c.Out.Int(int64(g.ConsumerCount()))
		c.Out.BulkString("pending")
		c.Out.Int(int64(g.PendingCount()))
		c.groupProgress(s, g)
		c.Out.Spill()
		c.pauseAt(i)
		i++
		return true
	})
	return nil
}

func xinfoGroupsCost(c *Call, v *mvcc.View) int {
	if s, ok := peekStream(v, c.Args[2]); ok {
		return s.GroupCount()
	}
	return 1
}

// groupProgress appends three pairs about how far a group has read.
func (c *Call) groupProgress(s mvcc.StreamValue, g mvcc.StreamGroup) {
	c.Out.BulkString("last-delivered-id")
	c.Out.StreamID(g.LastID())
	c.Out.BulkString("entries-read")
	c.intOrNull(g.Read(), g.Read() != -1)
	c.Out.BulkString("lag")
	c.intOrNull(lag(s, g))
}

func (c *Call) intOrNull(n int64, known bool) {
	if known {
		c.Out.Int(n)
		return
	}
	c.Out.Null()
}

// lag returns how many entries the group has not read yet, if that is known.
func lag(s mvcc.StreamValue, g mvcc.StreamGroup) (n int64, known bool) {
	if s.Added() == 0 {
		return 0, true
	}
	if g.Read() != -1 && !tombstones(s, g.LastID()) {
		return min(s.Added()-g.Read(), int64(s.Len())), true
	}
	d := entriesUpTo(s, g.LastID())
	return s.Added() - d, d != -1
}

type infoOptions struct {
	full  bool
	count int64 // of entries, and of pending entries of each; 0: all
}

func parseInfo(c *Call) (o infoOptions, err error) {
	o.count = 10
	n := len(c.Args) - 3
	if n == 0 {
		return o, nil
	}
	o.full = true
	if n != 1 && n != 3 || !c.Is(3, "full") || n == 3 && !c.Is(4, "count") {
		return o, c.subcommandSyntax()
	}
	if n == 3 {
		count, ok := ParseInt(c.Args[5])
		if !ok {
			return o, ErrNotInteger
		}
		if o.count = count; count < 0 {
			o.count = 10
		}
	}
	return o, nil
}

func xinfoStream(c *Call, v *mvcc.View) error {
	s, err := infoStream(c, v)
	if err != nil {
		return err
	}
	o, err := parseInfo(c)
	if err != nil {
		return err
	}
	if o.full {
		c.Out.Map(9)
	} else {
		c.Out.Map(10)
	}
	c.streamInfo(s)
	if o.full {
		c.Out.BulkString("entries")
		c.streamRange(s, mvcc.StreamID{}, mvcc.MaxStreamID, int(o.count), false)
		c.Out.BulkString("groups")
		c.Out.Array(s.GroupCount())
		s.EachGroup(func(g mvcc.StreamGroup) bool {
			o.group(c, s, g)
			return true
		})
		return nil
	}
	c.Out.BulkString("groups")
	c.Out.Int(int64(s.GroupCount()))
	c.Out.BulkString("first-entry")
	c.edge(s, mvcc.StreamID{}, s.Ascend)
	c.Out.BulkString("last-entry")
	c.edge(s, mvcc.MaxStreamID, s.Descend)
	return nil
}

// streamInfo appends the seven pairs that both forms of XINFO STREAM begin with.
func (c *Call) streamInfo(s mvcc.StreamValue) {
	number := func(name string, n int64) {
		c.Out.BulkString(name)
		c.Out.Int(n)
	}
	id := func(name string, id mvcc.StreamID) {
		c.Out.BulkString(name)
		c.Out.StreamID(id)
	}
	number("length", int64(s.Len()))
	number("radix-tree-keys", int64(s.Nodes()))
	number("radix-tree-nodes", int64(s.RadixNodes()))
	id("last-generated-id", s.LastID())
	id("max-deleted-entry-id", s.MaxDeletedID())
	number("entries-added", s.Added())
	id("recorded-first-entry-id", s.FirstID())
}

// edge appends the first entry of a walk.
func (c *Call) edge(s mvcc.StreamValue, from mvcc.StreamID, walk func(mvcc.StreamID, func(*mvcc.StreamEntry) bool)) {
	if s.Len() == 0 {
		c.Out.Null()
		return
	}
	walk(from, func(e *mvcc.StreamEntry) bool {
		c.Out.StreamEntry(e)
		return false
	})
}

// group appends all about a consumer group.
func (o *infoOptions) group(c *Call, s mvcc.StreamValue, g mvcc.StreamGroup) {
	c.Out.Map(7)
	c.Out.BulkString("name")
	c.Out.BulkString(g.Name())
	c.groupProgress(s, g)
	c.Out.BulkString("pel-count")
	c.Out.Int(int64(g.PendingCount()))
	c.Out.BulkString("pending")
	n := o.some(g.PendingCount())
	c.Out.Array(n)
	i := 0
	g.AscendPending(mvcc.StreamID{}, func(id mvcc.StreamID, p mvcc.StreamPending) bool {
		c.pauseAt(i)
		if i++; i > n {
			return false
		}
		c.Out.Array(4)
		c.Out.StreamID(id)
		c.Out.BulkString(g.Owner(p).Name())
		c.Out.Int(p.At)
		c.Out.Int(p.Count)
		c.Out.Spill()
		return true
	})
	c.Out.BulkString("consumers")
	c.Out.Array(g.ConsumerCount())
	g.EachConsumer(func(consumer mvcc.StreamConsumer) bool {
		o.consumer(c, g, consumer)
		return true
	})
}

// some is how many of n are shown.
func (o *infoOptions) some(n int) int {
	if o.count == 0 {
		return n
	}
	return int(min(o.count, int64(n)))
}

// consumer appends all about a consumer.
func (o *infoOptions) consumer(c *Call, g mvcc.StreamGroup, consumer mvcc.StreamConsumer) {
	c.Out.Map(4)
	c.Out.BulkString("name")
	c.Out.BulkString(consumer.Name())
	c.Out.BulkString("seen-time")
	c.Out.Int(consumer.Seen())
	c.Out.BulkString("pel-count")
	c.Out.Int(int64(consumer.PendingCount()))
	c.Out.BulkString("pending")
	n := o.some(consumer.PendingCount())
	c.Out.Array(n)
	i := 0
	consumer.AscendPending(mvcc.StreamID{}, func(id mvcc.StreamID) bool {
		c.pauseAt(i)
		if i++; i > n {
			return false
		}
		p, _ := g.Pending(id)
		c.Out.Array(3)
		c.Out.StreamID(id)
		c.Out.Int(p.At)
		c.Out.Int(p.Count)
		c.Out.Spill()
		return true
	})
}

func xinfoStreamCost(c *Call, v *mvcc.View) int {
	s, ok := peekStream(v, c.Args[2])
	o, err := parseInfo(c)
	if !ok || err != nil {
		return 1
	}
	cost := 1 + s.Nodes()/32
	if !o.full {
		return cost
	}
	cost += o.some(s.Len())
	s.EachGroup(func(g mvcc.StreamGroup) bool {
		cost += 2*o.some(g.PendingCount()) + g.ConsumerCount()
		return cost < 1e6
	})
	return cost
}
