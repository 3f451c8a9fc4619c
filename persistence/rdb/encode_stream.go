package rdb

import (
	"encoding/binary"

	"firn/mvcc"
)

// A stream is written as Redis keeps it: listpacks of some entries in a row, each
// under the id of its first entry, to which the ids in it are relative:
//
//	entries that are there, entries deleted, number of names, the names, 0
//	and each entry: flags, ms and seq after the first id,
//	  unless the names are those above: number of fields, and each name and value;
//	  else the values; and how many elements that is
const (
	itemDeleted   = 1
	itemSameNames = 2

	streamNodeBytes = 4096 // as the defaults of stream-node-max-bytes
	streamNodeCount = 100  // and -entries
)

// A streamCutter says where a stream is cut into nodes, as a cutter does for a
// list.
type streamCutter struct{ bytes, count int }

// cut says whether the entry begins a node.
func (c *streamCutter) cut(e *mvcc.StreamEntry) bool {
	size := 0
	e.Each(func(field, value []byte) bool {
		size += len(field) + len(value)
		return true
	})
	if c.count == 0 || c.count >= streamNodeCount || c.bytes+size >= streamNodeBytes {
		*c = streamCutter{size, 1}
		return true
	}
	c.bytes += size
	c.count++
	return false
}

func (w *Encoder) stream(s *mvcc.StreamValue) {
	var counting, cutting streamCutter
	nodes := uint64(0)
	s.Ascend(mvcc.StreamID{}, func(e *mvcc.StreamEntry) bool {
		if counting.cut(e) {
			nodes++
		}
		return true
	})
	w.Len(nodes)
	var n streamNode
	s.Ascend(mvcc.StreamID{}, func(e *mvcc.StreamEntry) bool {
		if cutting.cut(e) {
			w.streamNode(&n)
			n.begin(e)
		}
		n.add(e)
		return true
	})
	w.streamNode(&n)
	w.Len(uint64(s.Len()))
	w.id(s.LastID())
	w.id(s.FirstID())
	w.id(s.MaxDeletedID())
	w.Len(uint64(s.Added()))
	w.Len(uint64(s.GroupCount()))
	s.EachGroup(func(g mvcc.StreamGroup) bool {
		w.group(g)
		return true
	})
}

// id writes an id as two numbers.
func (w *Encoder) id(id mvcc.StreamID) {
	w.Len(id.Ms)
	w.Len(id.Seq)
}

// rawID writes an id as 16 bytes that sort like it.
func (w *Encoder) rawID(id mvcc.StreamID) {
	w.buf = binary.BigEndian.AppendUint64(w.buf, id.Ms)
	w.buf = binary.BigEndian.AppendUint64(w.buf, id.Seq)
}

// A streamNode is a node that is being written.
type streamNode struct {
	first mvcc.StreamID
	names [][]byte // of the first entry; the stream's own bytes
	count int
	body  packWriter // the elements of the entries, without header and end
}

func (n *streamNode) begin(e *mvcc.StreamEntry) {
	n.first, n.count = e.ID, 0
	n.names, n.body.p, n.body.count = n.names[:0], n.body.p[:0], 0
	e.Each(func(field, _ []byte) bool {
		n.names = append(n.names, field)
		return true
	})
}

func (n *streamNode) add(e *mvcc.StreamEntry) {
	flags, parts := int64(itemSameNames), 3+e.Len()
	if !n.sameNames(e) {
		flags, parts = 0, 4+2*e.Len()
	}
	n.count++
	n.body.addInt(flags)
	n.body.addInt(int64(e.ID.Ms - n.first.Ms))
	n.body.addInt(int64(e.ID.Seq - n.first.Seq))
	if flags == 0 {
		n.body.addInt(int64(e.Len()))
	}
	e.Each(func(field, value []byte) bool {
		if flags == 0 {
			n.body.add(field)
		}
		n.body.add(value)
		return true
	})
	n.body.addInt(int64(parts))
}

func (n *streamNode) sameNames(e *mvcc.StreamEntry) bool {
	if e.Len() != len(n.names) {
		return false
	}
	i, same := 0, true
	e.Each(func(field, _ []byte) bool {
		same = string(field) == string(n.names[i])
		i++
		return same
	})
	return same
}

// streamNode writes a node, if one has been begun.
func (w *Encoder) streamNode(n *streamNode) {
	if n.count == 0 {
		return
	}
	w.Len(16)
	w.rawID(n.first)
	w.pack.reset()
	w.pack.addInt(int64(n.count))
	w.pack.addInt(0)
	w.pack.addInt(int64(len(n.names)))
	for _, name := range n.names {
		w.pack.add(name)
	}
	w.pack.addInt(0)
	w.pack.p = append(w.pack.p, n.body.p...)
	w.pack.count += n.body.count
	w.packedString()
}

// group writes a consumer group: what is pending in it, and then for each
// consumer the ids of that which is pending for it.
func (w *Encoder) group(g mvcc.StreamGroup) {
	w.String([]byte(g.Name()))
	w.id(g.LastID())
	w.Len(uint64(g.Read())) // -1 in eight bytes
	w.Len(uint64(g.PendingCount()))
	g.AscendPending(mvcc.StreamID{}, func(id mvcc.StreamID, p mvcc.StreamPending) bool {
		w.rawID(id)
		w.Uint64(uint64(p.At))
		w.Len(uint64(p.Count))
		w.spill()
		return true
	})
	w.Len(uint64(g.ConsumerCount()))
	g.EachConsumer(func(c mvcc.StreamConsumer) bool {
		w.String([]byte(c.Name()))
		w.Uint64(uint64(c.Seen()))
		w.Len(uint64(c.PendingCount()))
		c.AscendPending(mvcc.StreamID{}, func(id mvcc.StreamID) bool {
			w.rawID(id)
			w.spill()
			return true
		})
		w.spill()
		return true
	})
}
