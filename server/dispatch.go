package server

import "firn/commands"

// heavyFrom is the cost from which a command runs aside: about the number of
// elements, or microseconds, that a loop may spend on one client.
const heavyFrom = 200

// dispatch takes one command from its arguments to its reply. A command that
// goes aside, or waits in line, leaves the session waiting; its reply comes
// later, and the session's next command after it.
func (s *session) dispatch(r request) {
	c := &s.call
	c.DB = s.db

	// It was looked up when it was read (batch.go); may this client run it now?
	args, row, err := r.args, r.row, r.err
	if err == nil {
		err = s.permit(row)
	}
	if err != nil {
		s.reject(row, args, err)
		return
	}
	if s.holdBack(row, args) {
		return
	}
	if s.queueing && s.enlist(r) {
		return
	}

	// Route: to the session, to the shards of its keys, or aside.
	if c.Row != row {
		s.tally.add(s.srv.stats) // this one may ask for it
	}
	c.Begin(row, args)
	c.WantEvents = s.srv.wantEvents()
	start, mark := s.start(), c.Out.Mark()
	switch row.Run.Kind() {
	case commands.KindConn:
		err = commands.RunConn(c)
	case commands.KindServer:
		err = c.Guard(func() error { return row.Run.(onSession)(c, s) })
	case commands.KindView:
		err = s.read(c, r)
	case commands.KindOwner, commands.KindStore:
		err = s.write(c, r)
	case commands.KindCut:
		err = s.scan(c)
	}
	if s.waiting {
		return
	}

	// Account, and keep back the reply that CLIENT REPLY does not want.
	s.finish(c, start, mark, err)
}

// read runs a command on the live keyspace with its shards held, or sends it
// aside with their versions.
func (s *session) read(c *commands.Call, r request) error {
	if many(c) && !s.stay {
		return s.readManyAside()
	}
	h := s.home.hold()
	if l := s.take(h, c, r.pos, false); l != nil {
		return s.wait(l)
	}
	defer h.Give()
	h.View.LiveView(s.srv.shards.Space, c.DB, c.Now)
	h.View.NoTouch = s.noTouch
	s.srv.listenTo(c, &h.View)
	if single(c.Row) {
		h.View.Hint(c.Args[1], r.pos)
		h.Seat(r.warm, r.pos)
	}
	h.WarmHeld(c.DB)
	if !s.stay && heavy(c, h, &h.View) {
		return s.readAside(h.Freeze(c.DB, c.Now))
	}
	c.Held = h
	err := commands.RunView(c, &h.View)
	s.tally.lookups(&h.View)
	s.announce(c, h.Expire(c.Now))
	if c.Waiting() != nil {
		s.block(h, c)
	}
	return err
}

// write runs a command, of those that store also the reading part, with its
// shards held: apply, then tell the journal, and only then give the shards back,
// so that the journal has the order in which things happened. The reply leaves
// after that.
func (s *session) write(c *commands.Call, r request) error {
	if s.repliesFirst(c) {
		return nil
	}
	if many(c) && !s.stay {
		return s.writeAside()
	}
	h := s.home.hold()
	if l := s.take(h, c, r.pos, c.Row.Keys.All); l != nil {
		return s.wait(l)
	}
	defer h.Give()
	h.Tx.Begin(s.srv.shards.Space, c.DB, c.Now)
	h.Tx.NoTouch = s.noTouch
	s.srv.listenTo(c, &h.Tx.View)
	if single(c.Row) {
		h.Tx.Hint(c.Args[1], r.pos)
		h.Seat(r.warm, r.pos)
	}
	h.WarmHeld(c.DB)
	if !s.stay && heavy(c, h, &h.Tx.View) {
		return s.writeAside()
	}
	c.Held = h
	err := commands.RunOwner(c, &h.Tx)
	h.Commit(c.Now, c.Effects(&h.Tx))
	h.CountExpired()
	s.tally.wrote(&h.Tx)
	s.announce(c, h.Tx.Expired)
	if c.Waiting() != nil {
		s.block(h, c)
	}
	return err
}
