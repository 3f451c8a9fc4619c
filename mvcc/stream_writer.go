package mvcc

// A StreamWriter edits a stream. It makes the key if it is not there, and never
// removes it: a stream may be empty. Each change raises the Tx's Changes by one
// (correct it where Redis' dirty differs).
type StreamWriter struct{ writer }

// WriteStream begins to edit the key, which must be a stream or absent. No other
// method of tx may be called until Close.
func (tx *Tx) WriteStream(key []byte) *StreamWriter {
	w := &tx.streams
	w.open(tx, key, Stream)
	if w.obj == nil {
		w.become(newBigStream())
	}
	return w
}

// NewStream returns an empty stream that belongs to no key (see PutValue). It
// may be filled on any goroutine.
func NewStream(s *Space) *StreamWriter {
	w := &StreamWriter{detached(s, Stream)}
	w.become(newBigStream())
	return w
}

// Close ends the edit.
func (w *StreamWriter) Close() { w.close(false) }

// Value shows the stream at this moment, until the next write.
func (w *StreamWriter) Value() StreamValue { return StreamValue{w.obj.val.(*bigStream)} }

// stream returns the stream, to be written.
func (w *StreamWriter) stream() *bigStream { return w.edit().(*bigStream) }

// done keeps account after a write that changed n things.
func (w *StreamWriter) done(n int) {
	w.edited()
	w.dirty = w.dirty || n > 0
	if w.tx != nil {
		w.tx.Changes += int64(n)
	}
}

// Len returns the number of entries.
func (w *StreamWriter) Len() int { return w.Value().Len() }

// Add appends an entry with fields and values in turn. The id must be greater
// than LastID.
func (w *StreamWriter) Add(id StreamID, pairs [][]byte) {
	w.stream().add(id, pairs, w.limits)
	w.done(1)
}

// Delete takes an entry out and says whether it was there.
func (w *StreamWriter) Delete(id StreamID) bool {
	if !w.Value().Has(id) {
		return false
	}
	w.stream().delete(id)
	w.done(1)
	return true
}

// Trim takes out the oldest entries, and returns how many it was. It calls pause
// now and then, if it is not nil.
func (w *StreamWriter) Trim(t StreamTrim, pause func()) int {
	total := 0
	for {
		n, more := w.stream().trim(&t)
		total += n
		w.done(n)
		if !more {
			return total
		}
		if t.Limit > 0 {
			t.Limit -= n // more than nothing is left of it, or there were no more
		}
		if pause != nil {
			pause()
		}
	}
}

// SetLastID sets the greatest id that was ever given out. It must not be before
// that of the last entry.
func (w *StreamWriter) SetLastID(id StreamID) {
	w.stream().lastID = id
	w.done(1)
}

// SetCounters sets how many entries were ever added, and the greatest id that
// was deleted. It is no change by itself.
func (w *StreamWriter) SetCounters(added int64, maxDeleted StreamID) {
	s := w.stream()
	s.added, s.maxDeleted = added, maxDeleted
	w.done(0)
}

// AddGroup makes a consumer group, unless there is one of the name, and says
// whether it did. Read is how many entries were delivered to it, -1 if unknown.
func (w *StreamWriter) AddGroup(name []byte, last StreamID, read int64) bool {
	if w.Value().s.group(name) != nil {
		return false
	}
	g := w.stream().addGroup(name)
	g.last, g.read = last, read
	w.done(1)
	return true
}

// RemoveGroup takes a consumer group out, with its consumers and what is
// pending, and says whether it was there.
func (w *StreamWriter) RemoveGroup(name []byte) bool {
	if w.Value().s.group(name) == nil {
		return false
	}
	w.stream().dropGroup(name)
	w.done(1)
	return true
}

// Group begins to edit a consumer group, until Close.
func (w *StreamWriter) Group(name []byte) (GroupWriter, bool) {
	g := w.Value().s.group(name)
	return GroupWriter{w, g}, g != nil
}

// A GroupWriter edits a consumer group. It is good until its StreamWriter is
// closed or the group is removed.
type GroupWriter struct {
	w *StreamWriter
	g *streamGroup
}

// Value shows the group at this moment, until the next write.
func (g *GroupWriter) Value() StreamGroup { return StreamGroup{g.g} }

// write returns the stream and the group, both to be written. The group is
// looked up again after a freeze, which may come between any two writes.
func (g *GroupWriter) write() (*bigStream, *streamGroup) {
	s := g.w.stream()
	if g.g.gen != s.gen {
		g.g = s.writableGroup([]byte(g.g.name))
	}
	return s, g.g
}

// SetLast sets the id of the last entry that was delivered, and how many were; -1
// if that is not known. It is no change by itself.
func (g *GroupWriter) SetLast(id StreamID, read int64) {
	_, grp := g.write()
	grp.last, grp.read = id, read
	g.w.done(0)
}

// AddConsumer makes a consumer that was seen at now (unix ms), unless there is
// one of the name, and says whether it did.
func (g *GroupWriter) AddConsumer(name []byte, now int64) bool {
	if g.g.consumer(name) != nil {
		return false
	}
	s, grp := g.write()
	s.addConsumer(grp, name, now)
	g.w.done(1)
	return true
}

// RemoveConsumer takes a consumer out, with what is pending for it, and returns
// how much that was. It calls pause now and then, if it is not nil.
func (g *GroupWriter) RemoveConsumer(name []byte, pause func()) (pending int, ok bool) {
	c := g.g.consumer(name)
	if c == nil {
		return 0, false
	}
	ids := make([]StreamID, 0, consumerBatch)
	for {
		ids = ids[:0]
		g.g.consumer(name).pending.each(func(id StreamID, _ struct{}) bool {
			ids = append(ids, id)
			return len(ids) < consumerBatch
		})
		if len(ids) == 0 {
			break
		}
		for _, id := range ids {
			s, grp := g.write()
			s.ack(grp, id)
		}
		pending += len(ids)
		g.w.done(0)
		if pause != nil {
			pause()
		}
	}
	s, grp := g.write()
	s.dropConsumer(grp, grp.consumer(name))
	g.w.done(1)
	return pending, true
}

const consumerBatch = 256 // entries acknowledged between two pauses

// Touch notes when a consumer, who must be there, was seen, and when it was last
// given something (unix ms; 0: leave that as it is). It is no change by itself.
func (g *GroupWriter) Touch(consumer []byte, seen, active int64) {
	_, grp := g.write()
	c := grp.writableConsumer(grp.consumer(consumer).id)
	c.seen = seen
	if active != 0 {
		c.active = active
	}
	g.w.done(0)
}

// Pend makes the entry pending for a consumer, who must be there, whether or not
// it was pending for another.
func (g *GroupWriter) Pend(consumer []byte, id StreamID, at, count int64) {
	s, grp := g.write()
	c := grp.writableConsumer(grp.consumer(consumer).id)
	s.pend(grp, c, id, at, count)
	g.w.done(1)
}

// Ack takes a pending entry out and says whether it was there.
func (g *GroupWriter) Ack(id StreamID) bool {
	if _, ok := g.g.pending.get(id); !ok {
		return false
	}
	s, grp := g.write()
	s.ack(grp, id)
	g.w.done(1)
	return true
}
