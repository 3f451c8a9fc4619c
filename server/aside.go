package server

import (
	"slices"
	"sync"

	"firn/commands"
	"firn/mvcc"
	"firn/shard"
)

// cutFrom is the number of keys from which a command over frozen versions runs
// aside; a SCAN with the default COUNT doesn't.
const cutFrom = 32

// scan runs a command over frozen versions.
func (s *session) scan(c *commands.Call) error {
	cut := s.srv.shards.NewCut(c.DB, c.Now)
	if c.Row.Cost != nil && tooLong(c.Row.Cost(c, nil), cutFrom) {
		s.aside(func(c *commands.Call) error {
			defer cut.Release()
			return commands.RunCut(c, cut)
		})
		return nil
	}
	defer cut.Release()
	return commands.RunCut(c, cut)
}

// readAside runs a reading command over the versions of its shards.
func (s *session) readAside(cut *shard.Cut) error {
	s.aside(func(c *commands.Call) error {
		defer cut.Release()
		return s.overCut(c, cut)
	})
	return nil
}

// readManyAside is readAside for a command of so many keys that even finding
// their shards is work.
func (s *session) readManyAside() error {
	s.aside(func(c *commands.Call) error {
		cut := s.srv.shards.Freeze(c.DB, c.Now, keysOf(&c.Row.Keys, c.Args))
		defer cut.Release()
		return s.overCut(c, cut)
	})
	return nil
}

// overCut runs a reading command over versions of the shards of its keys.
func (s *session) overCut(c *commands.Call, cut *shard.Cut) error {
	var v mvcc.View
	v.FrozenView(cut.Space(), c.DB, c.Now, cut.Versions())
	s.srv.listenTo(c, &v)
	err := commands.RunView(c, &v)
	s.srv.stats.lookups(v.Hits, v.Misses)
	s.srv.published(c)
	return err
}

// writeAside runs a heavy writing command.
func (s *session) writeAside() error {
	if s.call.Row.Run.Kind() == commands.KindStore {
		s.aside(s.srv.store)
		return nil
	}
	s.longAside()
	return nil
}

// longAside runs a long write in slices, with its keys locked.
func (s *session) longAside() {
	s.aside(func(c *commands.Call) (err error) {
		var keys [][]byte
		c.Row.Keys.Each(c.Args, func(i int) { keys = append(keys, c.Args[i]) })
		s.srv.shards.Long(keys, []int{c.DB}, func(h *shard.Hold, pause func()) []shard.Effect {
			h.Tx.Begin(s.srv.shards.Space, c.DB, c.Now)
			h.Tx.Splice()
			c.Pause = pause // a write that has begun is finished, whoever has left
			c.Out.Stream(nil)
			s.srv.listenTo(c, &h.Tx.View)
			err = commands.RunOwner(c, &h.Tx)
			h.CountExpired()
			s.srv.stats.wrote(&h.Tx)
			s.srv.expired(h.Tx.Expired)
			s.srv.published(c)
			return c.Effects(&h.Tx)
		})
		return err
	})
}

// aside runs f on the heavy pool with a Call of its own; the session waits, and
// goes on when the reply is in. The arguments stay valid meanwhile, because a
// waiting session is not read into. Inside a transaction it runs f at once.
func (s *session) aside(f func(*commands.Call) error) {
	if s.nest.hold != nil {
		s.nest.err = f(s.nest.call)
		return
	}
	s.waiting = true
	fl := &flow{s: s}
	fl.ready.L = &fl.mu
	s.flow = fl
	c, proto := s.call, s.out.Proto()
	c.Pause = fl.pause
	if !s.srv.shards.Heavy.Go(func() {
		w := s.srv.desks.take()
		w.out.SetProto(proto)
		w.out.Stream(fl.send)
		c.Out, c.Head = &w.out, &w.head
		start := s.srv.monotonic()
		fl.turn = start
		err := f(&c)
		start += fl.idle
		s.home.post(func() {
			s.rejoin(&c, start, err)
			s.srv.desks.give(w)
		})
	}) {
		s.waiting, s.flow = false, nil
		s.peer.close()
	}
}

// rejoin takes the reply of a command that ran aside and goes on with the
// session's next command. What the reply kept apart is the keyspace's.
func (s *session) rejoin(c *commands.Call, start int64, err error) {
	if s.closed {
		return
	}
	s.waiting, s.flow = false, nil
	if c.Waiting() != nil {
		s.stay, s.parked = true, c.Args // what it was to find is gone
		s.retry()
		return
	}
	mark := s.out.Mark()
	kept, shared := s.out.Len()-len(s.out.Bytes()), c.Out.Len()-len(c.Out.Bytes())
	s.out.Append(c.Out)
	s.foreign += max(s.out.Len()-len(s.out.Bytes())-kept-shared, 0)
	s.finish(c, start, mark, err)
	s.sayKept()
	s.goOn()
}

// goOn runs what the client has sent meanwhile.
func (s *session) goOn() {
	s.advance()
	if !s.closed && !s.paused() {
		s.peer.resume()
	}
}

// wait puts the session in line behind a long write or a store.
func (s *session) wait(l *shard.Lock) error {
	s.waiting, s.parked = true, s.call.Args
	start := s.srv.monotonic()
	l.Wait(func() {
		s.srv.spike(eventLockWait, s.srv.monotonic()-start)
		s.home.post(s.retry)
	})
	return nil
}

// retry runs the command that waited in line.
func (s *session) retry() {
	if s.closed || s.parked == nil {
		return
	}
	args := s.parked
	s.waiting, s.parked = false, nil
	s.info.held.Store(false)
	s.lastEnd = 0 // the wait is no part of the command
	now := s.home.clock()
	s.call.Micros, s.call.Now = now, now/1000
	s.dispatch(s.srv.look(args))
	s.stay = false
	s.goOn()
}

// A desk is what a command that runs aside writes its reply on. SCAN by ten
// clients, 5 M keys a second, made 57 MB of garbage a second with new memory for
// each call, and so 3 to 5 collections; with desks there is one in two seconds.
type desk struct{ out, head commands.Reply }

// desksMax is how many desks are kept for the next commands.
const desksMax = 16

// desks are those that nobody uses.
type desks struct {
	mu   sync.Mutex
	free []*desk
}

func (d *desks) take() *desk {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.free)
	if n == 0 {
		return &desk{}
	}
	w := d.free[n-1]
	d.free = d.free[:n-1]
	return w
}

// give takes a desk back, whose reply has been taken over.
func (d *desks) give(w *desk) {
	w.out.Recycle()
	w.head.Recycle()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.free) < desksMax {
		d.free = append(d.free, w)
	}
}

const (
	heavySlice = 1e6     // nanoseconds after which a command that runs aside lets another have its turn
	flowWindow = 1 << 20 // bytes of a streamed reply that may wait for the socket
)

// A flow streams the reply of a command that runs aside to its session, no
// faster than the client reads.
type flow struct {
	s     *session
	mu    sync.Mutex
	ready sync.Cond
	ahead int // bytes handed to the session and not yet written
	gone  bool

	// A block that was written is filled again, so that a reply of any length
	// takes about flowWindow of memory and leaves no garbage.
	sent   int64   // bytes handed to the session
	blocks []block // of those not yet written, oldest first
	free   [][]byte

	// idle is for how many nanoseconds the command has waited for the client or
	// for its turn, which is not its own time. The command's alone.
	idle int64
	turn int64 // when the command's present turn began, monotonic. The command's alone.

	// total is the length of the reply so far, at the session's home. The output
	// limits go by it, as if the reply were made at once.
	total int64

	delivered int64 // bytes that have come to the session's home, which counts them
}

// A block is one that the session has to write, and where it ends in the reply.
type block struct {
	buf []byte
	end int64
}

// send hands parts to the session, and waits while too much is ahead of the
// client. The wait takes up no place of the pool. It is a commands.Sink.
func (f *flow) send(parts [][]byte, own bool) (done []byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	f.mu.Lock()
	f.ahead += n
	f.sent += int64(n)
	if own {
		f.blocks = append(f.blocks, block{parts[0], f.sent})
	}
	gone, full := f.gone, f.ahead > flowWindow
	f.mu.Unlock()
	if gone {
		panic(commands.ErrGone)
	}
	f.s.home.post(func() { f.deliver(parts) })
	if full {
		start := f.s.srv.monotonic()
		f.s.srv.shards.Heavy.Block(f.waitRoom)
		f.idle += f.s.srv.monotonic() - start
	}
	return f.written()
}

// written returns a block that was written; nil if there is none.
func (f *flow) written() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.free)
	if n == 0 {
		return nil
	}
	b := f.free[n-1]
	f.free = f.free[:n-1]
	return b
}

// deliver runs at the session's home.
func (f *flow) deliver(parts [][]byte) {
	if f.s.closed {
		return
	}
	for _, p := range parts {
		f.delivered += int64(len(p))
		if f.s.reply == replyOn {
			f.total += int64(len(p))
			f.s.enqueue(p)
		}
	}
	f.s.checkOutput()
	if !f.s.closed {
		f.s.peer.flush()
		f.s.info.update(f.s)
		f.drained(f.s.queued)
	}
}

func (f *flow) waitRoom() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.ahead > flowWindow/2 && !f.gone {
		f.ready.Wait()
	}
}

// drained says how many bytes the session still has to write, what it had before
// this reply among them.
func (f *flow) drained(left int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ahead = left
	n := 0
	for n < len(f.blocks) && f.blocks[n].end <= f.delivered-int64(left) {
		f.free = append(f.free, f.blocks[n].buf)
		n++
	}
	f.blocks = slices.Delete(f.blocks, 0, n)
	f.ready.Signal()
}

// abort says that the client is gone.
func (f *flow) abort() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = true
	f.ready.Signal()
}

// pause lets other heavy work have its turn; if the client is gone it ends the
// command.
func (f *flow) pause() {
	f.mu.Lock()
	gone := f.gone
	f.mu.Unlock()
	if gone {
		panic(commands.ErrGone)
	}
	start := f.s.srv.monotonic()
	if start-f.turn < heavySlice {
		return
	}
	f.s.srv.shards.Heavy.Yield()
	f.turn = f.s.srv.monotonic()
	f.idle += f.turn - start
}
