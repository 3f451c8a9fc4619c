package commands

import (
	"bytes"
	"math"

	"firn/mvcc"
)

var streamCommands = []Command{
	{Name: "XADD", Arity: -5, Keys: oneKey, Run: OnOwner(xadd), Cost: xaddCost, Flags: DenyOOM, Summary: "Appends a new entry to a stream"},
	{Name: "XDEL", Arity: -3, Keys: oneKey, Run: OnOwner(xdel), Cost: membersCost, Summary: "Removes the specified entries from the stream. Returns the number of items actually deleted, that may be different from the number of IDs passed in case certain IDs do not exist."},
	{Name: "XTRIM", Arity: -4, Keys: oneKey, Run: OnOwner(xtrim), Cost: xtrimCost, Summary: "Trims the stream to (approximately if '~' is passed) a certain size"},
	{Name: "XSETID", Arity: -3, Keys: oneKey, Run: OnOwner(xsetid), Flags: DenyOOM, Summary: "An internal command for replicating stream values"},

	{Name: "XLEN", Arity: 2, Keys: oneKey, Run: OnView(xlen), Summary: "Return the number of entries in a stream"},
	{Name: "XRANGE", Arity: -4, Keys: oneKey, Run: OnView(xrange), Cost: xrangeCost, Summary: "Return a range of elements in a stream, with IDs matching the specified IDs interval"},
	{Name: "XREVRANGE", Arity: -4, Keys: oneKey, Run: OnView(xrevrange), Cost: xrevrangeCost, Summary: "Return a range of elements in a stream, with IDs matching the specified IDs interval, in reverse order (from greater to smaller IDs) compared to XRANGE"},

	{Name: "XREAD", Arity: -4, Keys: streamsKeys, Run: OnView(xread), Cost: xreadCost, Flags: Blocking, Summary: "Return never seen elements in multiple streams, with IDs greater than the ones reported by the caller for each stream. Can block."},
	{Name: "XREADGROUP", Arity: -7, Keys: streamsKeys, Run: OnOwner(xreadgroup), Cost: xreadgroupCost, Flags: Blocking, Summary: "Return new entries from a stream using a consumer group, or access the history of the pending entries for a given consumer. Can block."},

	{Name: "XACK", Arity: -4, Keys: oneKey, Run: OnOwner(xack), Cost: membersCost, Summary: "Marks a pending message as correctly processed, effectively removing it from the pending entries list of the consumer group. Return value of the command is the number of messages successfully acknowledged, that is, the IDs we were actually able to resolve in the PEL."},
	{Name: "XPENDING", Arity: -3, Keys: oneKey, Run: OnView(xpending), Cost: xpendingCost, Summary: "Return information and entries from a stream consumer group pending entries list, that are messages fetched but never acknowledged."},
	{Name: "XCLAIM", Arity: -6, Keys: oneKey, Run: OnOwner(xclaim), Cost: membersCost, Summary: "Changes (or acquires) ownership of a message in a consumer group, as if the message was delivered to the specified consumer."},
	{Name: "XAUTOCLAIM", Arity: -6, Keys: oneKey, Run: OnOwner(xautoclaim), Cost: xautoclaimCost, Summary: "Changes (or acquires) ownership of messages in a consumer group, as if the messages were delivered to the specified consumer."},

	{Name: "XGROUP", Arity: -2, Summary: "A container for consumer groups commands", Subs: []Command{
		{Name: "CREATE", Arity: -5, Keys: secondKey, Run: OnOwner(xgroupCreate), Flags: DenyOOM, Summary: "Create a consumer group."},
		{Name: "CREATECONSUMER", Arity: 5, Keys: secondKey, Run: OnOwner(xgroupCreateConsumer), Flags: DenyOOM, Summary: "Create a consumer in a consumer group."},
		{Name: "DELCONSUMER", Arity: 5, Keys: secondKey, Run: OnOwner(xgroupDelConsumer), Cost: xgroupDelConsumerCost, Summary: "Delete a consumer from a consumer group."},
		{Name: "DESTROY", Arity: 4, Keys: secondKey, Run: OnOwner(xgroupDestroy), Summary: "Destroy a consumer group."},
		{Name: "HELP", Arity: 2, Run: OnConn(xgroupHelp), Flags: Loading, Summary: "Show helpful text about the different subcommands"},
		{Name: "SETID", Arity: -5, Keys: secondKey, Run: OnOwner(xgroupSetID), Summary: "Set a consumer group to an arbitrary last delivered ID value."},
	}},
	{Name: "XINFO", Arity: -2, Summary: "A container for stream introspection commands", Subs: []Command{
		{Name: "CONSUMERS", Arity: 4, Keys: secondKey, Run: OnView(xinfoConsumers), Cost: xinfoConsumersCost, Summary: "List the consumers in a consumer group"},
		{Name: "GROUPS", Arity: 3, Keys: secondKey, Run: OnView(xinfoGroups), Cost: xinfoGroupsCost, Summary: "List the consumer groups of a stream"},
		{Name: "HELP", Arity: 2, Run: OnConn(xinfoHelp), Flags: Loading, Summary: "Show helpful text about the different subcommands"},
		{Name: "STREAM", Arity: -3, Keys: secondKey, Run: OnView(xinfoStream), Cost: xinfoStreamCost, Summary: "Get information about a stream"},
	}},
}

// streamAt looks up a stream to read it.
func streamAt(v *mvcc.View, key []byte) (s mvcc.StreamValue, ok bool, err error) {
	e, ok := v.Get(key)
	return asStream(e, ok)
}

func asStream(e mvcc.Entry, found bool) (s mvcc.StreamValue, ok bool, err error) {
	switch {
	case !found:
		return s, false, nil
	case e.Type() != mvcc.Stream:
		return s, false, ErrWrongType
	}
	return e.Stream(), true, nil
}

// peekStream is streamAt for the cost of a command.
func peekStream(v *mvcc.View, key []byte) (mvcc.StreamValue, bool) {
	e, ok := v.Peek(key)
	s, ok, _ := asStream(e, ok)
	return s, ok
}

// maxIDLen is the length from which on an id is refused unread.
const maxIDLen = 128

// parseStreamID reads an id. One without a sequence number gets the one that is
// given. "-" and "+", the least and the greatest id, are none if it is strict.
func parseStreamID(arg []byte, missing uint64, strict bool) (id mvcc.StreamID, err error) {
	id, _, err = parseAutoID(arg, missing, strict, false)
	return id, err
}

// parseAutoID is parseStreamID which may know "123-*", an id whose sequence number
// is not given.
func parseAutoID(arg []byte, missing uint64, strict, auto bool) (id mvcc.StreamID, seqGiven bool, err error) {
	if len(arg) >= maxIDLen {
		return id, false, ErrStreamID
	}
	if i := bytes.IndexByte(arg, 0); i >= 0 {
		arg = arg[:i]
	}
	if len(arg) == 1 && (arg[0] == '-' || arg[0] == '+') {
		if strict {
			return id, false, ErrStreamID
		}
		if arg[0] == '+' {
			id = mvcc.MaxStreamID
		}
		return id, true, nil
	}
	ms, seq, dash := bytes.Cut(arg, []byte{'-'})
	id.Seq, seqGiven = missing, true
	var ok, fine bool
	id.Ms, ok = ParseUint(ms)
	switch {
	case !dash:
		fine = true
	case auto && len(seq) == 1 && seq[0] == '*':
		id.Seq, seqGiven, fine = 0, false, true
	default:
		id.Seq, fine = ParseUint(seq)
	}
	if !ok || !fine {
		return mvcc.StreamID{}, false, ErrStreamID
	}
	return id, seqGiven, nil
}

// parseStart reads the lower end of a range: "(" in front leaves the id out.
func parseStart(arg []byte) (mvcc.StreamID, error) {
	if len(arg) < 2 || arg[0] != '(' {
		return parseStreamID(arg, 0, false)
	}
	id, err := parseStreamID(arg[1:], 0, true)
	if err != nil {
		return id, err
	}
	id, ok := id.Next()
	if !ok {
		return id, ErrStreamStart
	}
	return id, nil
}

// parseEnd reads the upper end of a range.
func parseEnd(arg []byte) (mvcc.StreamID, error) {
	if len(arg) < 2 || arg[0] != '(' {
		return parseStreamID(arg, math.MaxUint64, false)
	}
	id, err := parseStreamID(arg[1:], math.MaxUint64, true)
	if err != nil {
		return id, err
	}
	id, ok := id.Prev()
	if !ok {
		return id, ErrStreamEnd
	}
	return id, nil
}

// parseIDs reads arguments that are ids, all of them before any is used.
func parseIDs(args [][]byte) ([]mvcc.StreamID, error) {
	ids := make([]mvcc.StreamID, len(args))
	for i, arg := range args {
		id, err := parseStreamID(arg, 0, true)
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	return ids, nil
}

// StreamID appends an id as a string.
func (r *Reply) StreamID(id mvcc.StreamID) {
	var scratch [2*maxIntLen + 1]byte
	r.Bulk(id.Append(scratch[:0]))
}

// StreamEntry appends an entry: its id, then its fields and values in turn.
func (r *Reply) StreamEntry(e *mvcc.StreamEntry) {
	r.Array(2)
	r.StreamID(e.ID)
	r.Array(2 * e.Len())
	e.Each(func(field, value []byte) bool {
		r.Bulk(field)
		r.Bulk(value)
		return true
	})
}

// streamRange appends the entries of a range, but no more than count unless that is
// 0.
func (c *Call) streamRange(s mvcc.StreamValue, from, to mvcc.StreamID, count int, reverse bool) {
	n := s.Count(from, to, count)
	c.Out.Array(n)
	walk := s.Ascend
	if reverse {
		walk, from = s.Descend, to
	}
	if n == 0 {
		return
	}
	i := 0
	walk(from, func(e *mvcc.StreamEntry) bool {
		c.Out.StreamEntry(e)
		c.Out.Spill()
		c.pauseAt(i)
		i++
		return i < n
	})
}

type rangeOptions struct {
	from, to mvcc.StreamID
	count    int64 // -1: all
}

func parseRange(c *Call, start, end []byte) (o rangeOptions, err error) {
	if o.from, err = parseStart(start); err != nil {
		return o, err
	}
	if o.to, err = parseEnd(end); err != nil {
		return o, err
	}
	o.count = -1
	for i := 4; i < len(c.Args); i += 2 {
		if !c.Is(i, "count") || i+1 >= len(c.Args) {
			return o, ErrSyntax
		}
		n, ok := ParseInt(c.Args[i+1])
		if !ok {
			return o, ErrNotInteger
		}
		o.count = max(n, 0)
	}
	return o, nil
}

func xrange(c *Call, v *mvcc.View) error {
	o, err := parseRange(c, c.Args[2], c.Args[3])
	if err != nil {
		return err
	}
	return o.reply(c, v, false)
}

func xrevrange(c *Call, v *mvcc.View) error {
	o, err := parseRange(c, c.Args[3], c.Args[2])
	if err != nil {
		return err
	}
	return o.reply(c, v, true)
}

func (o *rangeOptions) reply(c *Call, v *mvcc.View, reverse bool) error {
	s, ok, err := streamAt(v, c.Args[1])
	switch {
	case err != nil:
		return err
	case !ok:
		c.Out.Array(0)
	case o.count == 0:
		c.Out.NullArray()
	default:
		c.streamRange(s, o.from, o.to, int(max(o.count, 0)), reverse)
	}
	return nil
}

func xrangeCost(c *Call, v *mvcc.View) int {
	o, err := parseRange(c, c.Args[2], c.Args[3])
	return o.cost(c, v, err)
}

func xrevrangeCost(c *Call, v *mvcc.View) int {
	o, err := parseRange(c, c.Args[3], c.Args[2])
	return o.cost(c, v, err)
}

func (o *rangeOptions) cost(c *Call, v *mvcc.View, err error) int {
	s, ok := peekStream(v, c.Args[1])
	if err != nil || !ok {
		return 1
	}
	n := s.About(o.from, o.to)
	if o.from == o.to {
		n = min(n, 1)
	}
	if o.count >= 0 {
		n = int(min(int64(n), o.count))
	}
	return n
}

func xlen(c *Call, v *mvcc.View) error {
	s, ok, err := streamAt(v, c.Args[1])
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

func xdel(c *Call, tx *mvcc.Tx) error {
	e, ok := tx.Lookup(c.Args[1])
	_, ok, err := asStream(e, ok)
	if err != nil {
		return err
	}
	if !ok {
		c.Out.Int(0)
		return nil
	}
	ids, err := parseIDs(c.Args[2:])
	if err != nil {
		return err
	}
	deleted := int64(0)
	w := tx.WriteStream(c.Args[1])
	for i, id := range ids {
		if w.Delete(id) {
			deleted++
		}
		c.pauseAt(i)
	}
	w.Close()
	if deleted > 0 {
		c.Notify('t', "xdel", c.Args[1])
	}
	c.Out.Int(deleted)
	return nil
}

func xsetid(c *Call, tx *mvcc.Tx) error {
	o, err := parseSetID(c)
	if err != nil {
		return err
	}
	e, ok := tx.Lookup(c.Args[1])
	s, ok, err := asStream(e, ok)
	if err != nil {
		return err
	}
	if !ok {
		return ErrNoKey
	}
	if top, ok := s.LastEntryID(); ok && o.id.Less(top) {
		return ErrXSetIDSmall
	} else if ok && o.added != -1 && int64(s.Len()) > o.added {
		return ErrXSetIDAdded
	}
	added, deleted := s.Added(), s.MaxDeletedID()
	if o.added != -1 {
		added = o.added
	}
	if !o.maxDeleted.IsZero() {
		deleted = o.maxDeleted
	}
	w := tx.WriteStream(c.Args[1])
	w.SetLastID(o.id)
	w.SetCounters(added, deleted)
	w.Close()
	c.Notify('t', "xsetid", c.Args[1])
	c.Out.OK()
	return nil
}

type setIDOptions struct {
	id, maxDeleted mvcc.StreamID
	added          int64 // -1: as it is
}

func parseSetID(c *Call) (o setIDOptions, err error) {
	o.added = -1
	if o.id, err = parseStreamID(c.Args[2], 0, true); err != nil {
		return o, err
	}
	for i := 3; i < len(c.Args); i += 2 {
		switch {
		case c.Is(i, "entriesadded") && i+1 < len(c.Args):
			n, ok := ParseInt(c.Args[i+1])
			if !ok {
				return o, ErrNotInteger
			}
			if o.added = n; n < 0 {
				return o, ErrXSetIDNegative
			}
		case c.Is(i, "maxdeletedid") && i+1 < len(c.Args):
			if o.maxDeleted, err = parseStreamID(c.Args[i+1], 0, true); err != nil {
				return o, err
			}
			if o.id.Less(o.maxDeleted) {
				return o, ErrXSetIDDeleted
			}
		default:
			return o, ErrSyntax
		}
	}
	return o, nil
}
