package commands

import (
	"bytes"

	"firn/mvcc"
)

// A groupRead is what XREADGROUP reads of one stream.
type groupRead struct {
	key     []byte
	after   mvcc.StreamID
	history bool // what is pending for the consumer, not what is new
	serve   bool
}

// xreadgroup answers with what is there. With BLOCK it waits if that is nothing.
func xreadgroup(c *Call, tx *mvcc.Tx) error {
	o, err := parseRead(c, true)
	if err != nil {
		return err
	}
	reads, err := o.groupReads(tx)
	if err != nil {
		return err
	}
	n := 0
	for i := range reads {
		if reads[i].serve {
			n++
		}
	}
	c.PropagateNothing()
	if n == 0 && o.block && c.block(o.waitReadGroup()) {
		return nil
	}
	c.readHeader(n)
	for i := range reads {
		if reads[i].serve {
			c.streamHeader(reads[i].key)
			o.readGroup(c, tx, &reads[i])
		}
	}
	return nil
}

// groupReads checks all streams before any is read.
func (o *readOptions) groupReads(tx *mvcc.Tx) ([]groupRead, error) {
	reads := make([]groupRead, len(o.keys))
	for i, key := range o.keys {
		s, ok, err := streamAt(&tx.View, key)
		if err != nil {
			return nil, err
		}
		var g mvcc.StreamGroup
		if ok {
			g, ok = s.Group(o.group)
		}
		if !ok {
			return nil, ErrXReadGroupNone(key, o.group)
		}
		r := groupRead{key: key, history: true, serve: true}
		switch string(cutNUL(o.ids[i])) {
		case "$":
			return nil, ErrXReadGroupEnd
		case ">":
			r.after, r.history = g.LastID(), false
			r.serve = news(s, r.after)
		default:
			if r.after, err = parseStreamID(o.ids[i], 0, true); err != nil {
				return nil, err
			}
			if r.after == mvcc.MaxStreamID { // Redis takes it for ">"
				r.after, r.history = g.LastID(), false
				r.serve = news(s, r.after)
			}
		}
		reads[i] = r
	}
	return reads, nil
}

func (o *readOptions) readGroup(c *Call, tx *mvcc.Tx, r *groupRead) {
	changes := tx.Changes
	w := tx.WriteStream(r.key)
	defer w.Close()
	g, _ := w.Group(o.group)
	created := g.AddConsumer(o.consumer, c.Now)
	if created {
		c.Notify('t', "xgroup-createconsumer", r.key)
		changes++
		if o.noAck {
			c.Propagate([]byte("XGROUP"), []byte("CREATECONSUMER"), r.key, o.group, o.consumer)
		}
	}
	if r.history {
		g.Touch(o.consumer, c.Now, 0)
		o.history(c, w.Value(), &g, r)
	} else {
		g.Touch(o.consumer, c.Now, c.Now)
		o.deliver(c, w.Value(), &g, r)
	}
	tx.Changes = changes + 1
}

// deliver gives the consumer what is new. No part of the reply is handed on before
// the end: the write must be told of first.
func (o *readOptions) deliver(c *Call, s mvcc.StreamValue, g *mvcc.GroupWriter, r *groupRead) {
	from, _ := r.after.Next()
	n := s.Count(from, mvcc.MaxStreamID, o.count)
	c.Out.Array(n)
	t := c.newClaimTeller(r.key, o.group, r.after)
	read, i := g.Value().Read(), 0
	s.Ascend(from, func(e *mvcc.StreamEntry) bool {
		read = readAfter(s, t.last, read, e.ID)
		t.last = e.ID
		i++
		if !o.noAck {
			g.Pend(o.consumer, e.ID, c.Now, 1)
			t.delivered(o.consumer, n, i)
		}
		c.Out.StreamEntry(e)
		c.pauseAt(i)
		return i < n
	})
	g.SetLast(t.last, read)
	if o.noAck {
		t.tellLast(read)
	}
}

// readAfter returns how many entries the group has read when it has read the one
// with the id, after having read so many up to the one with the id last; -1 if
// that is not known. (Redis 7.0 counts on even if entries were trimmed that the
// group had not read, and shows too great a lag ever after: reports K10.)
func readAfter(s mvcc.StreamValue, last mvcc.StreamID, read int64, id mvcc.StreamID) int64 {
	trimmed := last.Less(s.FirstID()) && s.Added() > int64(s.Len())
	if read != -1 && !tombstones(s, id) && !trimmed {
		return read + 1
	}
	if s.Added() == 0 {
		return read
	}
	return entriesUpTo(s, id)
}

// tombstones says whether an entry from the id on was deleted that a group might
// count as read.
func tombstones(s mvcc.StreamValue, from mvcc.StreamID) bool {
	deleted := s.MaxDeletedID()
	if s.Len() == 0 || deleted.IsZero() || deleted.Less(s.FirstID()) {
		return false
	}
	return !deleted.Less(from)
}

// entriesUpTo returns how many entries were added up to the one with the id; -1 if
// that can't be told.
func entriesUpTo(s mvcc.StreamValue, id mvcc.StreamID) int64 {
	if s.Added() == 0 {
		return 0
	}
	order := id.Compare(s.LastID())
	if order == 0 || s.Len() == 0 && order < 0 {
		return s.Added()
	}
	deleted := s.MaxDeletedID()
	if order > 0 || !deleted.IsZero() && !deleted.Less(s.FirstID()) {
		return -1
	}
	switch order = id.Compare(s.FirstID()); {
	case order < 0:
		return s.Added() - int64(s.Len())
	case order == 0:
		return s.Added() - int64(s.Len()) + 1
	}
	return -1
}

// history gives the consumer once more what it has not acknowledged. Of an entry
// that was deleted only the id is left.
func (o *readOptions) history(c *Call, s mvcc.StreamValue, g *mvcc.GroupWriter, r *groupRead) {
	from, _ := r.after.Next()
	consumer, _ := g.Value().Consumer(o.consumer)
	n := 0
	consumer.AscendPending(from, func(mvcc.StreamID) bool {
		n++
		return o.count == 0 || n < o.count
	})
	c.Out.Array(n)
	if n == 0 {
		return
	}
	i := 0
	var e mvcc.StreamEntry
	consumer.AscendPending(from, func(id mvcc.StreamID) bool {
		if s.Get(id, &e) {
			p, _ := g.Value().Pending(id)
			g.Pend(o.consumer, id, c.Now, p.Count+1)
			c.Out.StreamEntry(&e)
		} else {
			c.Out.Array(2)
			c.Out.StreamID(id)
			c.Out.NullArray()
		}
		c.pauseAt(i)
		i++
		return i < n
	})
}

func xreadgroupCost(c *Call, v *mvcc.View) int {
	o, err := parseRead(c, true)
	if err != nil {
		return 1
	}
	cost := 0
	for i, key := range o.keys {
		cost++
		s, ok := peekStream(v, key)
		if !ok {
			continue
		}
		g, ok := s.Group(o.group)
		if !ok {
			continue
		}
		if string(o.ids[i]) == ">" {
			cost += o.cost(s, g.LastID())
			continue
		}
		consumer, ok := g.Consumer(o.consumer)
		if ok && o.count > 0 {
			cost += min(o.count, consumer.PendingCount())
		} else if ok {
			cost += consumer.PendingCount()
		}
	}
	return cost
}

// A claimTeller makes the effects of deliveries: XCLAIM commands that may be
// repeated, and don't read the entries.
type claimTeller struct {
	c          *Call
	key, group []byte
	last       mvcc.StreamID // of the group
	words      [7][]byte
	together   [][]byte // an effect of several ids, so far
}

func (c *Call) newClaimTeller(key, group []byte, last mvcc.StreamID) claimTeller {
	words := bytes.Fields([]byte("XCLAIM 0 TIME RETRYCOUNT FORCE JUSTID LASTID"))
	return claimTeller{c: c, key: key, group: group, last: last, words: [7][]byte(words)}
}

// tell says that the entry is pending for the consumer.
func (t *claimTeller) tell(id, consumer []byte, at, count int64) {
	t.c.Propagate(t.end(t.begin(consumer, 14), id, at, count)...)
}

func (t *claimTeller) begin(consumer []byte, room int) [][]byte {
	return append(make([][]byte, 0, room), t.words[0], t.key, t.group, consumer, t.words[1])
}

func (t *claimTeller) end(args [][]byte, id []byte, at, count int64) [][]byte {
	w := &t.words
	return append(args, id, w[2], AppendInt(nil, at), w[3], AppendInt(nil, count), w[4], w[5], w[6], idBytes(t.last))
}

func idBytes(id mvcc.StreamID) []byte { return id.Append(make([]byte, 0, 24)) }

// Redis tells of each delivery by itself. Where there are many, Firn tells of some
// hundred at once, which comes to the same and takes a tenth of the memory.
const (
	tellApart    = 64  // entries at most of a read of which each is told by itself
	tellTogether = 256 // entries at most that are told together
)

// delivered says that t.last, which is the i-th of n entries, was just delivered.
func (t *claimTeller) delivered(consumer []byte, n, i int) {
	id := idBytes(t.last)
	if n <= tellApart {
		t.tell(id, consumer, t.c.Now, 1)
		return
	}
	if t.together == nil {
		t.together = t.begin(consumer, min(n-i, tellTogether)+14)
	}
	if i < n && i%tellTogether != 0 {
		t.together = append(t.together, id)
		return
	}
	t.c.Propagate(t.end(t.together, id, t.c.Now, 1)...)
	t.together = nil
}

// tellLast says how far the group has come.
func (t *claimTeller) tellLast(read int64) {
	t.c.Propagate([]byte("XGROUP"), []byte("SETID"), t.key, t.group, idBytes(t.last),
		[]byte("ENTRIESREAD"), AppendInt(nil, read))
}
