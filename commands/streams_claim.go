package commands

import (
	"math"

	"firn/mvcc"
)

type claimOptions struct {
	minIdle       int64
	ids           []mvcc.StreamID
	at            int64 // of the delivery, unix ms
	retries       int64 // -1: not given
	force, justID bool
	lastID        mvcc.StreamID
}

// parseMinIdle reads what an entry must have been idle for, in ms.
func parseMinIdle(arg []byte, wrong Error) (int64, error) {
	n, ok := ParseInt(arg)
	if !ok {
		return 0, wrong
	}
	return max(n, 0), nil
}

func parseClaim(c *Call) (o claimOptions, err error) {
	if o.minIdle, err = parseMinIdle(c.Args[4], ErrXClaimMinIdle); err != nil {
		return o, err
	}
	i := 5
	for ; i < len(c.Args); i++ {
		id, err := parseStreamID(c.Args[i], 0, true)
		if err != nil {
			break // the options begin
		}
		o.ids = append(o.ids, id)
	}
	o.retries, o.at = -1, -1
	for ; i < len(c.Args); i++ {
		if i, err = o.option(c, i); err != nil {
			return o, err
		}
	}
	if o.at < 0 || o.at > c.Now { // a client's clock may be wrong
		o.at = c.Now
	}
	return o, nil
}

// option reads an option and returns the last of its arguments.
func (o *claimOptions) option(c *Call, i int) (int, error) {
	more := i+1 < len(c.Args)
	number := func(wrong Error) (n int64, err error) {
		n, ok := ParseInt(c.Args[i+1])
		if !ok {
			return 0, wrong
		}
		return n, nil
	}
	var err error
	switch {
	case c.Is(i, "force"):
		o.force = true
		return i, nil
	case c.Is(i, "justid"):
		o.justID = true
		return i, nil
	case more && c.Is(i, "idle"):
		o.at, err = number(ErrXClaimIdle)
		o.at = c.Now - o.at
	case more && c.Is(i, "time"):
		o.at, err = number(ErrXClaimTime)
	case more && c.Is(i, "retrycount"):
		o.retries, err = number(ErrXClaimRetries)
	case more && c.Is(i, "lastid"):
		o.lastID, err = parseStreamID(c.Args[i+1], 0, true)
	default:
		return i, ErrXClaimOption(c.Args[i])
	}
	return i + 1, err
}

// claimGroup looks up the stream and the group of a claim, which must be there.
func claimGroup(c *Call, tx *mvcc.Tx) error {
	s, ok, err := streamAt(&tx.View, c.Args[1])
	if err != nil {
		return err
	}
	if ok {
		_, ok = s.Group(c.Args[2])
	}
	if !ok {
		return ErrNoGroup(c.Args[1], c.Args[2])
	}
	return nil
}

// A claim moves pending entries to a consumer, whom it makes when there is the
// first to move.
type claim struct {
	claimTeller
	s        mvcc.StreamValue
	g        mvcc.GroupWriter
	consumer []byte
	known    bool
	justID   bool
	claimed  []mvcc.StreamID
}

func (c *Call) newClaim(w *mvcc.StreamWriter, justID bool) *claim {
	g, _ := w.Group(c.Args[2])
	return &claim{
		claimTeller: c.newClaimTeller(c.Args[1], c.Args[2], g.Value().LastID()),
		s:           w.Value(), g: g, consumer: c.Args[3], justID: justID,
	}
}

// forget takes out a pending entry that was deleted from the stream. The
// argument is the id.
func (k *claim) forget(id mvcc.StreamID, arg []byte, p mvcc.StreamPending) {
	k.tell(arg, []byte(k.g.Value().Owner(p).Name()), p.At, p.Count)
	k.g.Ack(id)
}

// take gives the entry to the consumer. The argument is the id.
func (k *claim) take(id mvcc.StreamID, arg []byte, at, count int64) {
	if !k.known {
		k.known = true
		if k.g.AddConsumer(k.consumer, k.c.Now) {
			k.c.Notify('t', "xgroup-createconsumer", k.key)
		}
		k.g.Touch(k.consumer, k.c.Now, k.c.Now)
	}
	k.g.Pend(k.consumer, id, at, count)
	k.tell(arg, k.consumer, at, count)
	k.claimed = append(k.claimed, id)
}

// reply appends what was claimed.
func (k *claim) reply() {
	out := k.c.Out
	out.Array(len(k.claimed))
	var e mvcc.StreamEntry
	for i, id := range k.claimed {
		if k.justID {
			out.StreamID(id)
		} else if k.s.Get(id, &e) {
			out.StreamEntry(&e)
		}
		k.c.pauseAt(i)
	}
}

func xclaim(c *Call, tx *mvcc.Tx) error {
	if err := claimGroup(c, tx); err != nil {
		return err
	}
	o, err := parseClaim(c)
	if err != nil {
		return err
	}
	c.PropagateNothing()
	w := tx.WriteStream(c.Args[1])
	defer w.Close()
	k := c.newClaim(w, o.justID)
	changes, moved := tx.Changes, k.last.Less(o.lastID)
	if moved {
		k.last = o.lastID
		k.g.SetLast(k.last, k.g.Value().Read())
	}
	for i, id := range o.ids {
		o.claim(k, id, c.Args[5+i])
		c.pauseAt(i)
	}
	if moved && tx.Changes == changes {
		k.tellLast(k.g.Value().Read())
		tx.Changes++
	}
	k.reply()
	return nil
}

// claim takes one entry if it may. The argument is the id.
func (o *claimOptions) claim(k *claim, id mvcc.StreamID, arg []byte) {
	p, pending := k.g.Value().Pending(id)
	switch {
	case !k.s.Has(id):
		if pending {
			k.forget(id, arg, p)
		}
		return
	case !pending && !o.force:
		return
	case pending && o.minIdle > 0 && k.c.Now-p.At < o.minIdle:
		return
	case !pending:
		p.Count = 1
	}
	if o.retries >= 0 {
		p.Count = o.retries
	} else if !o.justID {
		p.Count++
	}
	k.take(id, arg, o.at, p.Count)
}

type autoClaimOptions struct {
	minIdle int64
	from    mvcc.StreamID
	count   int64
	justID  bool
}

// Of so many pending entries for each that is asked for, XAUTOCLAIM looks at most.
const claimAttempts = 10

func parseAutoClaim(c *Call) (o autoClaimOptions, err error) {
	if o.minIdle, err = parseMinIdle(c.Args[4], ErrXAutoClaimMinIdle); err != nil {
		return o, err
	}
	if o.from, err = parseStart(c.Args[5]); err != nil {
		return o, err
	}
	o.count = 100
	for i := 6; i < len(c.Args); i++ {
		switch {
		case c.Is(i, "count") && i+1 < len(c.Args):
			i++
			n, ok := ParseInt(c.Args[i])
			if o.count = n; !ok || n < 1 || n > math.MaxInt64/16 {
				return o, ErrXAutoClaimCount
			}
		case c.Is(i, "justid"):
			o.justID = true
		default:
			return o, ErrSyntax
		}
	}
	return o, nil
}

func xautoclaim(c *Call, tx *mvcc.Tx) error {
	o, err := parseAutoClaim(c)
	if err != nil {
		return err
	}
	if err := claimGroup(c, tx); err != nil {
		return err
	}
	c.PropagateNothing()
	w := tx.WriteStream(c.Args[1])
	defer w.Close()
	k := c.newClaim(w, o.justID)
	next, deleted := o.claim(k)
	c.Out.Array(3)
	c.Out.StreamID(next)
	k.reply()
	c.Out.Array(len(deleted))
	for _, id := range deleted {
		c.Out.StreamID(id)
	}
	return nil
}

// claim takes what has been idle for long enough, and returns where to go on, and
// which entries were pending but deleted.
func (o *autoClaimOptions) claim(k *claim) (next mvcc.StreamID, deleted []mvcc.StreamID) {
	from, more := o.from, true
	for i, left := int64(0), o.count; more && i < o.count*claimAttempts && left > 0; i++ {
		id, p, ok := k.g.Value().NextPending(from)
		if !ok {
			return mvcc.StreamID{}, deleted
		}
		from, more = id.Next()
		k.c.pauseAt(int(i))
		switch {
		case !k.s.Has(id):
			k.forget(id, idBytes(id), p)
			deleted = append(deleted, id)
			left--
		case o.minIdle > 0 && k.c.Now-p.At < o.minIdle:
		default:
			if !o.justID {
				p.Count++
			}
			k.take(id, idBytes(id), k.c.Now, p.Count)
			left--
		}
	}
	if more {
		next, _, _ = k.g.Value().NextPending(from)
	}
	return next, deleted
}

func xautoclaimCost(c *Call, v *mvcc.View) int {
	o, err := parseAutoClaim(c)
	s, ok := peekStream(v, c.Args[1])
	if err != nil || !ok {
		return 1
	}
	g, ok := s.Group(c.Args[2])
	if !ok {
		return 1
	}
	n := int64(g.PendingCount())
	return int(min(n, o.count) + min(n, o.count*claimAttempts)/16)
}
