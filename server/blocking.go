package server

import (
	"math"
	"sync/atomic"
	"time"

	"firn/commands"
	"firn/mvcc"
	"firn/shard"
)

// blockedCount counts the clients that wait in a blocking command.
type blockedCount struct {
	all   atomic.Int64
	timed atomic.Int64 // of them, with a timeout
}

// A blocked is a session that waits in a blocking command. Its home makes it and
// lets it go; who ends the wait (who serves it, its timer, CLIENT UNBLOCK, who
// kills the client, its home when the connection is gone) is who takes it out of
// the session's info.
type blocked struct {
	waiter shard.Waiter
	s      *session
	call   commands.Call
	wait   *commands.Wait
	proto  int
	timer  *time.Timer // nil: none

	// What ended the wait. From the Claim on its own, until the session has it.
	desk  *desk // with the reply; nil: that of a timeout, or err
	err   error
	nanos int64 // that it took to serve
	count bool  // as a command that has failed: CLIENT UNBLOCK
}

// block leaves the session waiting for what its command has not found. The shards
// of the keys are held.
func (s *session) block(h *shard.Hold, c *commands.Call) {
	w := c.Waiting()
	own(c.Args)
	b := &blocked{s: s, call: *c, wait: w, proto: s.out.Proto()}
	b.waiter = shard.Waiter{Client: b, DB: c.DB, Keys: w.Keys, Type: w.Type, Dest: w.Dest, Gone: w.Gone}
	s.waiting, s.blocked = true, b
	n := &s.srv.clients.blocked
	n.all.Add(1)
	if w.Timeout > 0 {
		n.timed.Add(1)
	}
	s.info.blocked.Store(b)
	h.Await(&b.waiter)
	if w.Timeout > 0 {
		b.timer = time.AfterFunc(milliseconds(w.Timeout), b.timeout)
	}
	s.began(c)
}

// own copies arguments to memory of their own, so that the session's buffer can go
// if the client waits for long (trim).
func own(args [][]byte) {
	n := 0
	for _, a := range args {
		n += len(a)
	}
	room := make([]byte, 0, n)
	for i, a := range args {
		at := len(room)
		room = append(room, a...)
		args[i] = room[at:len(room):len(room)]
	}
}

// blockedAlone says whether the session waits for a key and nothing that it has
// read comes after.
func (s *session) blockedAlone() bool {
	return s.blocked != nil && !s.yielded && s.batch.next == len(s.batch.requests)
}

// milliseconds is a Duration; of more than 292 years it is that.
func milliseconds(n int64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

// began counts a command that waits. What it takes to serve it is added then.
func (s *session) began(c *commands.Call) {
	nanos := s.srv.monotonic() - s.lastEnd
	s.spent += nanos
	s.srv.stats.began(c.Row, nanos)
	s.info.lastRow.Store(int32(c.Row.Index()))
	if s.srv.monitors.any() {
		s.srv.monitors.show(s, c, s.db, false)
	}
	s.lastEnd = 0 // the wait is no part of the next command
}

// Claim implements shard.Blocked.
func (b *blocked) Claim() bool {
	if !b.s.info.blocked.CompareAndSwap(b, nil) {
		return false
	}
	n := &b.s.srv.clients.blocked
	n.all.Add(-1)
	if b.wait.Timeout > 0 {
		n.timed.Add(-1)
	}
	return true
}

// Ready implements shard.Blocked.
func (b *blocked) Ready(e *mvcc.Entry, i int) bool { return b.wait.Ready(e, i) }

// Serve implements shard.Blocked.
func (b *blocked) Serve(tx *mvcc.Tx, i int) []shard.Effect {
	c, srv := &b.call, b.s.srv
	start := srv.monotonic()
	b.desk = srv.desks.take()
	b.desk.out.SetProto(b.proto)
	c.Begin(c.Row, c.Args)
	c.Out, c.Head, c.Now, c.WantEvents = &b.desk.out, &b.desk.head, tx.Now, srv.wantEvents()
	c.Micros = tx.Now * 1000
	srv.listenTo(c, &tx.View)
	b.err = commands.ServeWait(c, tx, b.wait, i)
	srv.stats.wrote(tx)
	srv.expired(tx.Expired)
	srv.published(c)
	b.nanos = srv.monotonic() - start
	return c.Effects(tx)
}

// Served implements shard.Blocked.
func (b *blocked) Served() { b.s.home.answer(func() { b.s.unblocked(b) }) }

func (b *blocked) timeout() {
	if b.Claim() {
		b.Served()
	}
}

// unblock ends the wait of the session as a timeout does, or with an error, from
// anywhere. It says whether there was one.
func (s *session) unblock(err error) bool {
	b := s.info.blocked.Load()
	if b == nil || !b.Claim() {
		return false
	}
	b.err, b.count = err, true
	b.Served()
	return true
}

// unblocked runs at the session's home when the wait is over: it takes the reply
// and goes on with the next command.
func (s *session) unblocked(b *blocked) {
	s.leaveLines(b)
	if b.desk != nil {
		defer s.srv.desks.give(b.desk)
	}
	if s.closed || s.blocked != b {
		return
	}
	s.waiting, s.blocked = false, nil
	now := s.home.clock()
	s.call.Micros, s.call.Now = now, now/1000
	mark := s.out.Mark()
	b.reply(s)
	s.served(b, mark)
	s.goOn()
}

// served accounts for the end of the wait, and keeps back the reply that CLIENT
// REPLY does not want.
func (s *session) served(b *blocked, mark int) {
	if b.desk != nil || b.count {
		s.srv.stats.served(b.call.Row, b.nanos, b.err, b.count)
		s.srv.observe(s, &b.call, b.nanos)
	}
	if b.err != nil {
		s.srv.noteFault(b.err)
	}
	s.silence(mark)
}

// leaveLines takes the session, whose wait is over, out of the lines of its keys.
func (s *session) leaveLines(b *blocked) {
	if b.timer != nil {
		b.timer.Stop()
	}
	s.srv.shards.Leave(&b.waiter)
}

// quitWaiting ends the wait of a session whose connection is gone. If somebody is
// serving it just then it is too late, as if the client had left after that.
func (s *session) quitWaiting() {
	if b := s.blocked; b != nil {
		b.Claim()
		s.leaveLines(b)
	}
}

// reply appends the reply: that of who served it, an error, or that of a timeout.
func (b *blocked) reply(s *session) {
	switch {
	case b.desk != nil:
		kept, shared := s.out.Len()-len(s.out.Bytes()), b.desk.out.Len()-len(b.desk.out.Bytes())
		s.out.Append(&b.desk.out)
		s.foreign += max(s.out.Len()-len(s.out.Bytes())-kept-shared, 0)
	case b.err != nil:
		s.out.Error(b.err)
	default:
		s.out.NullArray()
	}
}

// idles says whether the session waits for what may never come, and need not if
// its client has left.
func (s *session) idles() bool { return s.info.held.Load() || s.blocked != nil }
