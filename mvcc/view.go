package mvcc

// A View reads keys of one database. A live view reads the keyspace as it is
// and needs the ownership of the stores it is asked about; a frozen one reads
// versions and needs nothing. A command is written once, over a View, and
// cannot tell which it was given.
type View struct {
	Now     int64 // unix ms; what has expired by then is not there
	NoTouch bool  // leave access clocks alone (CLIENT NO-TOUCH)

	Hits, Misses int64 // lookups by Get, for keyspace_hits and keyspace_misses

	// Missed, if not nil, is called with each key that Misses counts, and
	// Created with each key that a Tx makes in a database.
	Missed  func(key []byte)
	Created func(db int, key []byte)

	space  *Space
	db     int
	frozen []*Version // by store; nil: live
	hint   hint
	stale  [][]byte // expired keys that a live view came across
}

// LiveView makes v read the live database.
func (v *View) LiveView(s *Space, db int, now int64) {
	*v = View{space: s, db: db, Now: now, stale: v.stale[:0], NoTouch: v.NoTouch}
}

// FrozenView makes v read versions, one a store, nil where the view is not
// asked. The versions stay their holder's to release.
func (v *View) FrozenView(s *Space, db int, now int64, versions []*Version) {
	*v = View{space: s, db: db, Now: now, frozen: versions, NoTouch: true}
}

// hint is the position of a key that the caller has hashed already. The key is
// known by where its bytes are.
type hint struct {
	key *byte
	len int
	pos uint64
}

// Hint tells the view the position of a key that is about to be looked up, by
// these very bytes, so that it is not hashed again.
func (v *View) Hint(key []byte, pos uint64) {
	if len(key) > 0 {
		v.hint = hint{&key[0], len(key), pos}
	}
}

// pos returns the position of a key.
func (v *View) pos(key []byte) uint64 {
	if len(key) > 0 && &key[0] == v.hint.key && len(key) == v.hint.len {
		return v.hint.pos
	}
	return v.space.Hash(key)
}

// DB returns the number of the database that the view reads.
func (v *View) DB() int { return v.db }

// Space returns the keyspace that the view reads.
func (v *View) Space() *Space { return v.space }

// Frozen says whether the view reads versions.
func (v *View) Frozen() bool { return v.frozen != nil }

// tablesOf returns the tables that hold the position; nil if there are none.
func (v *View) tablesOf(pos uint64) *tables {
	i := v.space.StoreOf(pos)
	if v.frozen != nil {
		return &v.frozen[i].tables
	}
	if k := v.space.Stores[i].dbs[v.db]; k != nil {
		return &k.tables
	}
	return nil
}

// find looks the key up; an expired one is not there.
func (v *View) find(key []byte) (e Entry, ok bool) {
	pos := v.pos(key)
	t := v.tablesOf(pos)
	if t == nil {
		return e, false
	}
	r, at, ok := t.find(pos, key)
	if !ok {
		return e, false
	}
	if r.expire != 0 && r.expire <= v.Now {
		if v.frozen == nil {
			v.stale = append(v.stale, key)
		}
		return e, false
	}
	return t.entry(r, at), true
}

// Get looks a key up as a read of its value: it counts as hit or miss and sets
// the access clock.
func (v *View) Get(key []byte) (e Entry, ok bool) {
	e, ok = v.find(key)
	if !ok {
		v.miss(key)
		return e, false
	}
	v.Hits++
	v.touch(&e)
	return e, true
}

// Peek looks a key up without counting it or setting its access clock.
func (v *View) Peek(key []byte) (Entry, bool) { return v.find(key) }

// PeekCounted looks a key up and counts it as hit or miss, but leaves its
// access clock alone (TTL, TYPE, OBJECT).
func (v *View) PeekCounted(key []byte) (e Entry, ok bool) {
	if e, ok = v.find(key); ok {
		v.Hits++
	} else {
		v.miss(key)
	}
	return e, ok
}

func (v *View) miss(key []byte) {
	v.Misses++
	if v.Missed != nil {
		v.Missed(key)
	}
}

func (v *View) touch(e *Entry) {
	if v.NoTouch || v.frozen != nil {
		return
	}
	a := v.space.Access()
	if c := e.rec.clock(); !a.LFU {
		if now := a.first(v.Now); now != c {
			e.rec.setClock(now)
		}
		return
	}
	e.rec.setClock(a.touched(e.rec.clock(), v.Now))
}

// Share makes what the key's store holds now immutable, so that Pieces of a
// big value may be kept without copying them: O(1).
func (v *View) Share(key []byte) {
	if v.frozen != nil {
		return
	}
	s := v.space.Stores[v.space.StoreOf(v.space.Hash(key))]
	k := s.keyspace(v.db)
	k.raise(s.epochs.next())
}

// TakeStale returns the expired keys that lookups of a live view came across
// since the last call, so that the owner can remove them. They alias the
// arguments of the lookups.
func (v *View) TakeStale() [][]byte {
	s := v.stale
	v.stale = v.stale[:0]
	return s
}

// Random returns a random key of a store, by a random number; false if the
// store is empty. Expired keys may be returned.
func (v *View) Random(store int, n uint64) (Entry, bool) {
	if v.frozen != nil {
		return v.frozen[store].random(n)
	}
	if k := v.space.Stores[store].dbs[v.db]; k != nil {
		return k.random(n)
	}
	return Entry{}, false
}
