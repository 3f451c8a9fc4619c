package server

import (
	"firn/commands"
	"firn/shard"
)

// execute runs what was queued, at one instant. A short transaction runs here, with
// the shards of all its keys held. A long one runs aside, as one long write.
// One with commands that look at all of the keyspace, or at the server, runs
// here however long it is, and everybody waits for it, as for any in Redis.
func execute(c *commands.Call, s *session) error {
	if !s.queueing {
		return commands.ErrExecNoMulti
	}
	t := s.multi
	if t.failed {
		s.discard()
		return commands.ErrExecAbort
	}
	if tooLong(t.queue.n+len(t.watched), heavyFrom) && !t.home {
		s.execAside(t)
		return nil
	}
	return s.execHere(c, t)
}

// execHere runs the transaction at the home, unless it is too long for that.
func (s *session) execHere(c *commands.Call, t *transaction) error {
	h, space := s.home.hold(), s.srv.shards.Space
	h.Reset()
	t.wantWatched(h)
	exclusive := t.want(s.srv.table, h)
	if l := h.Take(exclusive); l != nil {
		return s.wait(l)
	}
	if t.broken(h, space, c.Now, nil) {
		t.unmark(space, nil)
		h.Give()
		s.clear()
		c.Out.NullArray()
		return nil
	}
	if !t.home && s.heavyExec(c, h, t) {
		h.Give()
		s.execAside(t)
		return nil
	}
	t.unmark(space, nil)
	h.Open()
	defer s.clear()
	defer h.Close(c.Now)
	s.db = s.runAll(c, h, t, nil)
	return nil
}

// want makes h want what the queued commands need, as wants does.
func (t *transaction) want(table *commands.Table, h *shard.Hold) (exclusive bool) {
	t.queue.each(table, func(r *request) bool {
		exclusive = wants(h, r) || exclusive
		return true
	})
	return exclusive
}

// runAll runs the queued commands and returns the database that is selected
// after them. Pause, if not nil, is called when a slice is over.
func (s *session) runAll(c *commands.Call, h *shard.Hold, t *transaction, pause func()) (db int) {
	in := &t.call
	*in = *c
	in.Pause = pause
	c.Out.Array(t.queue.n)
	sum := series{end: s.srv.monotonic()}
	s.series = &sum
	slice := sum.end
	t.queue.each(s.srv.table, func(r *request) bool {
		_ = s.inside(in, h, *r) // the error is the reply
		if pause != nil && sum.end-slice > execSlice {
			pause()
			slice = s.srv.monotonic()
			sum.end = slice
		}
		return true
	})
	s.endSeries()
	s.series = nil
	return in.DB
}

// execSlice is for how many nanoseconds a long transaction has its shards at a
// time.
const execSlice = 100_000

// heavyExec says whether the commands together touch too much to run here. The
// shards of their keys are held. What one changes for the next is not seen.
func (s *session) heavyExec(c *commands.Call, h *shard.Hold, t *transaction) bool {
	total, in, space := t.queue.n, &t.call, s.srv.shards.Space
	*in = *c
	t.queue.each(s.srv.table, func(r *request) bool {
		if r.row.Cost == nil {
			s.follow(in, r)
			return true
		}
		in.Begin(r.row, r.args)
		h.View.LiveView(space, in.DB, c.Now)
		total += r.row.Cost(in, &h.View)
		return !tooLong(total, heavyFrom)
	})
	return tooLong(total, heavyFrom)
}

// follow makes c use the database that the request selects, if it does.
func (s *session) follow(c *commands.Call, r *request) {
	if r.row.FullName() == "select" {
		if db, err := s.srv.database(r.args[1]); err == nil {
			c.DB = db
		}
	}
}

// execAside hands the transaction to a task of the heavy pool. The session has
// none meanwhile.
func (s *session) execAside(t *transaction) {
	s.multi, s.queueing = nil, false
	s.aside(func(c *commands.Call) error {
		return c.Guard(func() error { return s.execLong(c, t) })
	})
}

// execLong runs the transaction in slices, with its keys locked, and so are those
// that it watches.
func (s *session) execLong(c *commands.Call, t *transaction) error {
	set, db, broken := s.srv.shards, c.DB, false
	c.Out.Stream(nil)
	set.Transact(shard.Transaction{
		Want: func(h *shard.Hold) { t.wantWatched(h); t.want(s.srv.table, h) },
		DBs:  t.databases(s.srv.table, c.DB, set.Space.Databases()),
		Run: func(h *shard.Hold, pause func()) {
			broken = t.broken(h, set.Space, c.Now, pause)
			if t.unmark(set.Space, pause); !broken {
				db = s.runAll(c, h, t, pause)
			}
		},
	})
	if broken {
		c.Out.NullArray()
		return nil
	}
	s.home.post(func() { s.db = db })
	return nil
}

// databases are those that the queued commands can write: the selected one, and
// those that they name.
func (t *transaction) databases(table *commands.Table, db, most int) (all []int) {
	named := make([]bool, most)
	named[db] = true
	t.queue.each(table, func(r *request) bool {
		switch r.row.FullName() {
		case "select", "move", "copy":
			for _, a := range r.args[1:] {
				if n, ok := commands.ParseInt(a); ok && n >= 0 && n < int64(most) {
					named[n] = true
				}
			}
		}
		return true
	})
	for db, is := range named {
		if is {
			all = append(all, db)
		}
	}
	return all
}

// shortOnly says whether the request can't be a part of a long transaction: it
// would see the keyspace without what the transaction has written, or touches
// what belongs to the home.
func shortOnly(r *request) bool {
	switch r.row.Run.Kind() {
	case commands.KindCut:
		return true
	case commands.KindServer:
		name := r.row.FullName()
		return name != "select" && !apartFromHome[name]
	}
	return r.row.Keys.Any(r.args)
}
