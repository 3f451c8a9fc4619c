package server

import (
	"firn/commands"
	"firn/shard"
)

// A nest is the command of a transaction or script that a session is running.
type nest struct {
	call *commands.Call
	hold *shard.Hold // open; nil: none is running
	err  error       // of what it would have done aside
}

// hold returns the Hold for the session's command: the open one of the
// transaction that it is part of, or the home's.
func (s *session) hold() *shard.Hold {
	if s.nest.hold != nil {
		return s.nest.hold
	}
	return s.home.hold()
}

// freshHold returns a Hold for what runs aside: that of the transaction which it
// is part of, or a new one.
func (s *session) freshHold() *shard.Hold {
	if s.nest.hold != nil {
		return s.nest.hold
	}
	return s.srv.shards.NewHold()
}

// wants makes h take what the request needs, and says whether no other key may
// be locked either. A command over the whole keyspace, or one that is about the
// server and may look at all of it, needs every shard.
func wants(h *shard.Hold, r *request) (exclusive bool) {
	k := &r.row.Keys
	if single(r.row) {
		h.WantAt(r.pos)
	} else {
		k.Each(r.args, func(i int) { h.Want(r.args[i]) })
	}
	if wantsAll(r) {
		h.WantAll()
	}
	return k.Any(r.args) || r.row.FullName() == "debug" // which may write any key
}

// wantsAll says whether the request, inside a transaction, needs every shard.
func wantsAll(r *request) bool {
	switch r.row.Run.Kind() {
	case commands.KindCut:
		return true
	case commands.KindServer:
		return !keyless[r.row.FullName()]
	}
	return r.row.Keys.Any(r.args)
}

// A series is what the commands of one transaction add up to, so that the
// counters, which all sessions share, are not written for each of them.
type series struct {
	tally tally
	end   int64 // when the last one ended, monotonic; 0: there was none
}

// endSeries counts what has run, if a series is running.
func (s *session) endSeries() {
	if s.series != nil {
		s.series.tally.add(s.srv.stats)
	}
}

// inside runs a command of a transaction or script, whose shards the open Hold
// holds, whatever its kind and however long: it leaves exactly one reply on
// c.Out, gives its effects to the Hold, publishes its events, and counts it. The
// Call is the caller's; its DB follows a SELECT. With its Pause a long one gives
// others their turn. A command that could wait does not.
func (s *session) inside(c *commands.Call, h *shard.Hold, r request) error {
	outer, pause, canWait := s.nest, c.Pause, c.CanWait
	s.nest, c.CanWait, c.InScript = nest{call: c, hold: h}, false, s.inScript
	defer func() { s.nest, c.CanWait, c.InScript = outer, canWait, false }()

	c.Begin(r.row, r.args)
	c.Pause, c.WantEvents = pause, s.srv.wantEvents()
	sum := s.series
	if sum == nil || c.Row.Run.Kind() == commands.KindServer { // which may ask for the counters
		s.endSeries()
		sum = &series{}
		defer sum.tally.add(s.srv.stats)
	}
	if sum.end == 0 {
		sum.end = s.srv.monotonic()
	}
	start := sum.end
	err := s.run(c, h, r, sum)
	if err == nil {
		err = s.nest.err
	}
	sum.end = s.srv.monotonic()
	nanos := sum.end - start
	sum.tally.ran(s.srv.stats, c.Row, nanos, err)
	if err != nil {
		s.srv.noteFault(err)
	}
	s.srv.observe(s, c, nanos)
	if s.srv.monitors.any() {
		s.shown(c, c.DB)
	}
	return err
}

// run is what dispatch does, with everything held.
func (s *session) run(c *commands.Call, h *shard.Hold, r request, sum *series) (err error) {
	switch c.Row.Run.Kind() {
	case commands.KindConn:
		return commands.RunConn(c)
	case commands.KindServer:
		return s.runServer(c)
	case commands.KindCut:
		cut := h.CutHeld(c.DB, c.Now)
		defer cut.Release()
		return commands.RunCut(c, cut)
	case commands.KindView:
		h.View.LiveView(s.srv.shards.Space, c.DB, c.Now)
		h.View.NoTouch = s.noTouch
		s.srv.listenTo(c, &h.View)
		if single(c.Row) {
			h.View.Hint(c.Args[1], r.pos)
		}
		err = commands.RunView(c, &h.View)
		sum.tally.lookups(&h.View)
		s.announce(c, h.Expire(c.Now))
	default:
		h.Begin(c.DB, c.Now)
		h.Tx.NoTouch = s.noTouch
		s.srv.listenTo(c, &h.Tx.View)
		if single(c.Row) {
			h.Tx.Hint(c.Args[1], r.pos)
		}
		err = commands.RunOwner(c, &h.Tx)
		h.Commit(c.Now, c.Effects(&h.Tx))
		h.CountExpired()
		sum.tally.wrote(&h.Tx)
		s.announce(c, h.Tx.Expired)
	}
	return err
}

// runServer runs a command about the session or the server. A SELECT is for the
// commands behind it: who runs them selects for the session.
func (s *session) runServer(c *commands.Call) error {
	return c.Guard(func() error {
		if c.Row.FullName() != "select" {
			return c.Row.Run.(onSession)(c, s)
		}
		db, err := s.srv.database(c.Args[1])
		if err == nil {
			c.DB = db
			c.Out.OK()
		}
		return err
	})
}

// keyless names the commands of this package that look at no key and no shard.
var keyless = map[string]bool{
	"select": true, "publish": true, "spublish": true, "subscribe": true, "psubscribe": true, "ssubscribe": true,
	"unsubscribe": true, "punsubscribe": true, "sunsubscribe": true, "client|setname": true, "client|getname": true, "client|id": true,
	"client|setinfo": true, "client|no-evict": true, "client|no-touch": true, "client|reply": true, "config|get": true,
	"function|load": true, "function|delete": true, "function|list": true, "function|dump": true, "function|restore": true,
	"function|flush": true, "function|stats": true, "function|kill": true, "function|help": true,
}
