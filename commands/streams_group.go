package commands

import (
	"math"

	"firn/mvcc"
)

// groupOptions are those of XGROUP CREATE and SETID.
type groupOptions struct {
	make bool
	read int64 // -1: not known
}

func parseGroup(c *Call, create bool) (o groupOptions, err error) {
	o.read = -1
	for i := 5; i < len(c.Args); i++ {
		switch {
		case create && c.Is(i, "mkstream"):
			o.make = true
		case c.Is(i, "entriesread") && i+1 < len(c.Args):
			i++
			n, ok := ParseInt(c.Args[i])
			if !ok {
				return o, ErrNotInteger
			}
			if o.read = n; n < -1 && !c.Obey { // an effect may tell of a counter that has run over
				return o, ErrXGroupRead
			}
		default:
			return o, c.subcommandSyntax()
		}
	}
	return o, nil
}

func (c *Call) subcommandSyntax() Error { return ErrSubcommandSyntax(c.Args[0], c.Args[1]) }

// groupStream looks up the stream of an XGROUP subcommand, which must be there.
func groupStream(c *Call, tx *mvcc.Tx) (mvcc.StreamValue, error) {
	e, ok := tx.Lookup(c.Args[2])
	s, ok, err := asStream(e, ok)
	if err == nil && !ok {
		err = ErrXGroupNoKey
	}
	return s, err
}

// groupOf also looks up the group, which must be there.
func groupOf(c *Call, tx *mvcc.Tx) (s mvcc.StreamValue, g mvcc.StreamGroup, err error) {
	if s, err = groupStream(c, tx); err != nil {
		return s, g, err
	}
	g, ok := s.Group(c.Args[3])
	if !ok {
		return s, g, ErrNoGroupFor(c.Args[3], c.Args[2])
	}
	return s, g, nil
}

func xgroupCreate(c *Call, tx *mvcc.Tx) error {
	o, err := parseGroup(c, true)
	if err != nil {
		return err
	}
	e, ok := tx.Lookup(c.Args[2])
	s, ok, err := asStream(e, ok)
	switch {
	case err != nil:
		return err
	case !ok && !o.make:
		return ErrXGroupNoKey
	case len(c.Args) > 8:
		return c.subcommandSyntax()
	}
	var last mvcc.StreamID
	if ok {
		last = s.LastID()
	}
	id, err := parseGroupID(c.Args[4], last, true)
	if err != nil {
		return err
	}
	if ok {
		if _, taken := s.Group(c.Args[3]); taken {
			return ErrBusyGroup
		}
	}
	w := tx.WriteStream(c.Args[2])
	w.AddGroup(c.Args[3], id, o.read)
	w.Close()
	c.Notify('t', "xgroup-create", c.Args[2])
	c.Out.OK()
	return nil
}

// parseGroupID reads the id that a group begins behind; "$" is the stream's last.
func parseGroupID(arg []byte, last mvcc.StreamID, strict bool) (mvcc.StreamID, error) {
	if string(cutNUL(arg)) == "$" {
		return last, nil
	}
	return parseStreamID(arg, 0, strict)
}

func xgroupSetID(c *Call, tx *mvcc.Tx) error {
	o, err := parseGroup(c, false)
	if err != nil {
		return err
	}
	s, _, err := groupOf(c, tx)
	if err != nil {
		return err
	}
	if n := len(c.Args); n != 5 && n != 7 {
		return c.subcommandSyntax()
	}
	id, err := parseGroupID(c.Args[4], s.LastID(), false)
	if err != nil {
		return err
	}
	w := tx.WriteStream(c.Args[2])
	g, _ := w.Group(c.Args[3])
	g.SetLast(id, o.read)
	w.Close()
	tx.Changes++
	c.Notify('t', "xgroup-setid", c.Args[2])
	c.Out.OK()
	return nil
}

func xgroupDestroy(c *Call, tx *mvcc.Tx) error {
	s, err := groupStream(c, tx)
	if err != nil {
		return err
	}
	_, ok := s.Group(c.Args[3])
	if ok {
		w := tx.WriteStream(c.Args[2])
		w.RemoveGroup(c.Args[3])
		w.Close()
		c.Notify('t', "xgroup-destroy", c.Args[2])
	}
	c.Out.Int(toInt(ok))
	return nil
}

func xgroupCreateConsumer(c *Call, tx *mvcc.Tx) error {
	_, g, err := groupOf(c, tx)
	if err != nil {
		return err
	}
	_, there := g.Consumer(c.Args[4])
	if !there {
		w := tx.WriteStream(c.Args[2])
		g, _ := w.Group(c.Args[3])
		g.AddConsumer(c.Args[4], c.Now)
		w.Close()
		c.Notify('t', "xgroup-createconsumer", c.Args[2])
	}
	c.Out.Int(toInt(!there))
	return nil
}

func xgroupDelConsumer(c *Call, tx *mvcc.Tx) error {
	_, g, err := groupOf(c, tx)
	if err != nil {
		return err
	}
	pending := 0
	if _, ok := g.Consumer(c.Args[4]); ok {
		w := tx.WriteStream(c.Args[2])
		g, _ := w.Group(c.Args[3])
		pending, _ = g.RemoveConsumer(c.Args[4], c.Pause)
		w.Close()
		c.Notify('t', "xgroup-delconsumer", c.Args[2])
	}
	c.Out.Int(int64(pending))
	return nil
}

func xgroupDelConsumerCost(c *Call, v *mvcc.View) int {
	if s, ok := peekStream(v, c.Args[2]); ok {
		if g, ok := s.Group(c.Args[3]); ok {
			if consumer, ok := g.Consumer(c.Args[4]); ok {
				return consumer.PendingCount()
			}
		}
	}
	return 1
}

func xgroupHelp(c *Call) error {
	c.Out.Help("XGROUP",
		"CREATE <key> <groupname> <id|$> [option]",
		"    Create a new consumer group. Options are:",
		"    * MKSTREAM",
		"      Create the empty stream if it does not exist.",
		"    * ENTRIESREAD entries_read",
		"      Set the group's entries_read counter (internal use).",
		"CREATECONSUMER <key> <groupname> <consumer>",
		"    Create a new consumer in the specified group.",
		"DELCONSUMER <key> <groupname> <consumer>",
		"    Remove the specified consumer.",
		"DESTROY <key> <groupname>",
		"    Remove the specified group.",
		"SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
		"    Set the current group ID and entries_read counter.",
	)
	return nil
}

func xack(c *Call, tx *mvcc.Tx) error {
	s, ok, err := streamAt(&tx.View, c.Args[1])
	if err != nil {
		return err
	}
	if ok {
		_, ok = s.Group(c.Args[2])
	}
	if !ok {
		c.Out.Int(0)
		return nil
	}
	ids, err := parseIDs(c.Args[3:])
	if err != nil {
		return err
	}
	w := tx.WriteStream(c.Args[1])
	g, _ := w.Group(c.Args[2])
	n := int64(0)
	for i, id := range ids {
		if g.Ack(id) {
			n++
		}
		c.pauseAt(i)
	}
	w.Close()
	c.Out.Int(n)
	return nil
}

type pendingOptions struct {
	summary  bool
	minIdle  int64 // ms; 0: any
	from, to mvcc.StreamID
	count    int64
	consumer []byte // nil: of all
}

func parsePending(c *Call) (o pendingOptions, err error) {
	n, at := len(c.Args), 3
	if o.summary = n == 3; o.summary {
		return o, nil
	}
	if n < 6 || n > 9 {
		return o, ErrSyntax
	}
	var ok bool
	if c.Is(3, "idle") {
		if o.minIdle, ok = ParseInt(c.Args[4]); !ok {
			return o, ErrNotInteger
		}
		if at += 2; n < 8 {
			return o, ErrSyntax
		}
	}
	if o.count, ok = ParseInt(c.Args[at+2]); !ok {
		return o, ErrNotInteger
	}
	o.count = max(o.count, 0)
	if o.from, err = parseStart(c.Args[at]); err != nil {
		return o, err
	}
	if o.to, err = parseEnd(c.Args[at+1]); err != nil {
		return o, err
	}
	if at+3 < n {
		o.consumer = c.Args[at+3]
	}
	return o, nil
}

func xpending(c *Call, v *mvcc.View) error {
	o, err := parsePending(c)
	if err != nil {
		return err
	}
	s, ok, err := streamAt(v, c.Args[1])
	if err != nil {
		return err
	}
	var g mvcc.StreamGroup
	if ok {
		g, ok = s.Group(c.Args[2])
	}
	if !ok {
		return ErrNoGroup(c.Args[1], c.Args[2])
	}
	if o.summary {
		pendingSummary(c, g)
		return nil
	}
	o.list(c, g)
	return nil
}

func pendingSummary(c *Call, g mvcc.StreamGroup) {
	c.Out.Array(4)
	n := g.PendingCount()
	c.Out.Int(int64(n))
	if n == 0 {
		c.Out.Null()
		c.Out.Null()
		c.Out.NullArray()
		return
	}
	first, last := g.PendingRange()
	c.Out.StreamID(first)
	c.Out.StreamID(last)
	busy := 0
	g.EachConsumer(func(consumer mvcc.StreamConsumer) bool {
		if consumer.PendingCount() > 0 {
			busy++
		}
		return true
	})
	c.Out.Array(busy)
	i := 0
	g.EachConsumer(func(consumer mvcc.StreamConsumer) bool {
		if n := consumer.PendingCount(); n > 0 {
			c.Out.Array(2)
			c.Out.BulkString(consumer.Name())
			c.Out.BulkInt(int64(n))
			c.Out.Spill()
		}
		c.pauseAt(i)
		i++
		return true
	})
}

// list answers with the pending entries one by one.
func (o *pendingOptions) list(c *Call, g mvcc.StreamGroup) {
	n := int64(0)
	o.each(c, g, func(mvcc.StreamID, mvcc.StreamPending) { n++ })
	c.Out.Array(int(n))
	o.each(c, g, func(id mvcc.StreamID, p mvcc.StreamPending) {
		c.Out.Array(4)
		c.Out.StreamID(id)
		c.Out.BulkString(g.Owner(p).Name())
		c.Out.Int(max(c.Now-p.At, 0))
		c.Out.Int(p.Count)
		c.Out.Spill()
	})
}

// each yields the entries that are asked for.
func (o *pendingOptions) each(c *Call, g mvcc.StreamGroup, yield func(mvcc.StreamID, mvcc.StreamPending)) {
	left, i := o.count, 0
	one := func(id mvcc.StreamID, p mvcc.StreamPending) bool {
		if left == 0 || o.to.Less(id) {
			return false
		}
		c.pauseAt(i)
		i++
		if o.minIdle == 0 || c.Now-p.At >= o.minIdle {
			left--
			yield(id, p)
		}
		return true
	}
	if o.consumer == nil {
		g.AscendPending(o.from, one)
		return
	}
	if consumer, ok := g.Consumer(o.consumer); ok {
		consumer.AscendPending(o.from, func(id mvcc.StreamID) bool {
			p, _ := g.Pending(id)
			return one(id, p)
		})
	}
}

func xpendingCost(c *Call, v *mvcc.View) int {
	s, ok := peekStream(v, c.Args[1])
	if !ok {
		return 1
	}
	g, ok := s.Group(c.Args[2])
	o, err := parsePending(c)
	if !ok || err != nil {
		return 1
	}
	if o.summary {
		return 1 + g.ConsumerCount()/4
	}
	n := int64(g.PendingCount())
	cost := min(n, o.count)
	if o.minIdle > 0 {
		cost += n / 16 // those that are passed over
	}
	return int(min(cost, math.MaxInt32))
}
