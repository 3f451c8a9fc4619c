package commands

import (
	"bytes"

	"firn/mvcc"
)

// blockedCount is how many entries a read that has waited gets at most without a
// COUNT.
const blockedCount = 1000

// waitRead is what an XREAD waits for: an entry behind one of the ids. (Redis 7.0
// asks for a new last id, and so gives an empty list to a client whose entry was
// deleted in the transaction that added it. This one goes on waiting, as in 7.2.)
func (o *readOptions) waitRead(after []mvcc.StreamID) *Wait {
	keys, ids := o.keys, after
	if len(keys) > 1 {
		keys, ids = firstOfEach(o.keys, after)
	}
	r := readOptions{count: o.waitCount()}
	return &Wait{
		Keys: keys, Type: mvcc.Stream, Timeout: o.timeout,
		ready: func(e *mvcc.Entry, i int) bool { return news(e.Stream(), ids[i]) },
		serve: func(c *Call, tx *mvcc.Tx, i int) error {
			e, _ := tx.Lookup(keys[i])
			c.readHeader(1)
			r.readStream(c, e.Stream(), keys[i], ids[i])
			c.PropagateNothing()
			return nil
		},
	}
}

func (o *readOptions) waitCount() int {
	if o.count == 0 {
		return blockedCount
	}
	return o.count
}

// firstOfEach leaves out the keys, with their ids, that are named again: the first
// id counts.
func firstOfEach(keys [][]byte, ids []mvcc.StreamID) (k [][]byte, i []mvcc.StreamID) {
	seen := make(map[string]bool, len(keys))
	for n, key := range keys {
		if !seen[string(key)] {
			seen[string(key)] = true
			k, i = append(k, bytes.Clone(key)), append(i, ids[n])
		}
	}
	return k, i
}

// waitReadGroup is what an XREADGROUP waits for: an entry that the group has not
// read, or that the group or the stream is no more. The names are copies, or they
// would keep all of the buffer that the command line came in.
func (o *readOptions) waitReadGroup() *Wait {
	r := readOptions{count: o.waitCount(), noAck: o.noAck, group: bytes.Clone(o.group), consumer: bytes.Clone(o.consumer)}
	keys := o.keys
	return &Wait{
		Keys: keys, Type: mvcc.Stream, Timeout: o.timeout, Gone: true,
		ready: func(e *mvcc.Entry, _ int) bool {
			s := e.Stream()
			g, ok := s.Group(r.group)
			return !ok || news(s, g.LastID())
		},
		serve: func(c *Call, tx *mvcc.Tx, i int) error { return r.serveGroup(c, tx, keys[i]) },
	}
}

func (o *readOptions) serveGroup(c *Call, tx *mvcc.Tx, key []byte) error {
	c.PropagateNothing()
	e, ok := tx.Lookup(key)
	s, ok, err := asStream(e, ok)
	if !ok || err != nil {
		return ErrStreamGone
	}
	g, ok := s.Group(o.group)
	if !ok {
		return ErrGroupGone
	}
	c.readHeader(1)
	c.streamHeader(key)
	o.readGroup(c, tx, &groupRead{key: key, after: g.LastID()})
	return nil
}
