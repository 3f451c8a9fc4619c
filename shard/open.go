package shard

// opened is what an open Hold collects.
type opened struct {
	on      bool
	splice  bool  // what is written is spliced: see Set.Long
	lock    *Lock // of Transact
	dbs     []int // that are spliced
	muted   bool  // see Mute
	effects []Effect
}

// Open makes the commands that run from here to Close one transaction: the held
// shards stay held, Reset, Want, Take and Give do nothing, and the effects of
// all are kept to be one batch of the journal. So code that takes and gives back
// what one command needs runs unchanged inside a transaction, which must hold
// all that its commands need.
func (h *Hold) Open() { h.opened = opened{on: true} }

// IsOpen says whether the Hold is between Open and Close.
func (h *Hold) IsOpen() bool { return h.opened.on }

// Close ends the transaction: the journal is told, the accounts are settled and
// the shards given back.
func (h *Hold) Close(now int64) {
	effects := h.shut()
	h.Commit(now, effects)
	h.Give()
}

// shut ends the open mode, with the shards still held, and returns what the
// transaction has done.
func (h *Hold) shut() []Effect {
	effects := h.opened.effects
	h.opened = opened{}
	return effects
}

// gather keeps copies of the effects of one command of a transaction, whose
// arguments may be gone when it ends.
func (h *Hold) gather(effects []Effect) {
	if h.opened.muted || !h.set.Journaled() {
		return
	}
	for _, e := range effects {
		n := 0
		for _, a := range e.Args {
			n += len(a)
		}
		room, args := make([]byte, 0, n), make([][]byte, len(e.Args))
		for i, a := range e.Args {
			at := len(room)
			room = append(room, a...)
			args[i] = room[at:len(room):len(room)]
		}
		h.opened.effects = append(h.opened.effects, Effect{DB: e.DB, Args: args})
	}
}

// CutHeld returns a cut of the database as the transaction sees it: every shard
// must be held, and is frozen already. The caller releases it. It must not be
// used in a long write, which freezes don't see.
func (h *Hold) CutHeld(db int, now int64) *Cut {
	c := h.set.NewCut(db, now)
	for _, i := range h.held {
		c.versions[i] = h.set.shards[i].freeze(db)
	}
	c.held = true
	return c
}

// Begin makes h.Tx write the database at now (unix ms), as a part of the long
// write that h belongs to, if it does.
func (h *Hold) Begin(db int, now int64) {
	h.Tx.Begin(h.set.Space, db, now)
	if h.opened.splice {
		h.Tx.Splice()
	}
}

// holds says whether the shard is held by an open h, which may be nil.
func (h *Hold) holds(shard int) bool {
	if h == nil || !h.opened.on {
		return false
	}
	for _, i := range h.held {
		if i == shard {
			return true
		}
	}
	return false
}
