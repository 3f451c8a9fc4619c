package mvcc

// A Mark watches the place of a key: a position in a database of a store,
// whether or not there is a key, and whichever keyspace the database is after a
// swap. It belongs to who owns the store. Keys that share a position share
// their mark.
type Mark struct {
	// Changes grows with every change of the key: when it is written, deleted,
	// flushed, or swapped for another. It does not grow when the key expires;
	// whoever saw it there can see for himself that it is gone. A write that
	// changed nothing does not count.
	Changes uint64
	// Blocked is how many clients wait for the key. The server counts them. While
	// there are any, TakeTouched returns the mark after each change.
	Blocked int
	// Types has the bit 1<<t for each type t of values for which they wait.
	Types uint32

	db      int
	pos     uint64
	refs    int
	touched bool // is in its store's list
	made    bool // while touched: a key was made
	order   uint64
}

// DB returns the number of the database.
func (m *Mark) DB() int { return m.db }

// Order grows with the instant at which the mark got among the touched ones, or at
// which the key was made after that, over all stores of the keyspace.
func (m *Mark) Order() uint64 { return m.order }

// Pos returns the position.
func (m *Mark) Pos() uint64 { return m.pos }

// marks are those of one database of a store, of which there is one at least.
type marks struct {
	at    map[uint64]*Mark
	store *Store
}

// Mark returns the mark of a place, which is kept until Unmark has been called
// as often.
func (s *Store) Mark(db int, pos uint64) *Mark {
	if s.marks == nil {
		s.marks = make([]*marks, len(s.dbs))
	}
	if s.marks[db] == nil {
		s.setMarks(db, &marks{at: map[uint64]*Mark{}, store: s})
	}
	m := s.marks[db].at[pos]
	if m == nil {
		m = &Mark{db: db, pos: pos}
		s.marks[db].at[pos] = m
	}
	m.refs++
	return m
}

// Unmark lets go of a mark.
func (s *Store) Unmark(m *Mark) {
	if m.refs--; m.refs > 0 {
		return
	}
	if m.touched {
		left := s.touched[:0]
		for _, o := range s.touched {
			if o != m {
				left = append(left, o)
			}
		}
		clear(s.touched[len(left):])
		s.touched = left
	}
	delete(s.marks[m.db].at, m.pos)
	if len(s.marks[m.db].at) == 0 {
		s.setMarks(m.db, nil)
	}
}

// Marks returns how many marks the store has.
func (s *Store) Marks() (n int) {
	for _, ms := range s.marks {
		if ms != nil {
			n += len(ms.at)
		}
	}
	return n
}

// AnyTouched says whether TakeTouched would return marks.
func (s *Store) AnyTouched() bool { return len(s.touched) > 0 }

// TakeTouched returns the marks with Blocked clients whose keys were changed, or
// have expired, since the last call, in the order in which that happened first.
// The slice is valid until the next change.
func (s *Store) TakeTouched() []*Mark {
	if len(s.touched) == 0 {
		return nil
	}
	all := s.touched
	for _, m := range all {
		m.touched, m.made = false, false
	}
	s.touched = nil
	return all
}

func (s *Store) setMarks(db int, ms *marks) {
	s.marks[db] = ms
	if k := s.dbs[db]; k != nil {
		k.marks = ms
	}
}

// marksOf returns the marks of a database, nil if there are none.
func (s *Store) marksOf(db int) *marks {
	if s.marks == nil {
		return nil
	}
	return s.marks[db]
}

// touch notes a change of the key at the position.
func (k *keyspace) touch(pos uint64) {
	if k.marks != nil {
		k.marks.touch(pos, true)
	}
}

// born notes that a key was made where there was none. If clients wait for the type
// that counts for the order: who waits for keys that a transaction deletes and makes is served in the order
// in which it makes them, as in Redis.
func (ms *marks) born(pos uint64, t Type) {
	if m := ms.at[pos]; m != nil && m.touched && !m.made && m.Types&(1<<t) != 0 {
		m.made, m.order = true, ms.store.epochs.next()
	}
}

// faded notes that a key at the position has expired.
func (k *keyspace) faded(pos uint64) {
	if k.marks != nil {
		k.marks.touch(pos, false)
	}
}

func (ms *marks) touch(pos uint64, changed bool) {
	if m := ms.at[pos]; m != nil {
		m.touch(ms.store, changed)
	}
}

func (m *Mark) touch(s *Store, changed bool) {
	if changed {
		m.Changes++
	}
	if m.Blocked > 0 && !m.touched {
		m.touched, m.order = true, s.epochs.next()
		s.touched = append(s.touched, m)
	}
}

// alive says whether the keyspace, which may be nil, has a key at the position
// that has not expired by now (unix ms).
func (k *keyspace) alive(pos uint64, now int64) (yes bool) {
	if k == nil {
		return false
	}
	at, ok := k.index.Get(pos)
	if !ok {
		return false
	}
	live := func(at ref) bool { e := k.recordExpire(at); return e == 0 || e > now }
	if at != twinned {
		return live(at)
	}
	k.eachTwin(pos, func(tw ref) bool { yes = yes || live(tw); return !yes })
	return yes
}

// replaced notes for each mark of the database that one keyspace takes the place
// of another; either may be nil. What is there neither before nor after, or has
// expired by now, was not changed.
func (s *Store) replaced(db int, before, after *keyspace, now int64) {
	ms := s.marksOf(db)
	if after != nil {
		after.marks = ms
	}
	if ms == nil {
		return
	}
	for pos, m := range ms.at {
		m.touch(s, before.alive(pos, now) || after.alive(pos, now))
	}
}
