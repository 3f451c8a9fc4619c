package server

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"firn/commands"
	"firn/mvcc"
	"firn/server/resp"
	"firn/shard"

	"golang.org/x/sys/unix"
)

const (
	readSize   = 4 << 10 // least room for one read
	eventsMax  = 256     // events taken at a wake-up
	loopPeriod = 100 * time.Millisecond
)

// A loop serves many plain connections from one goroutine, by epoll with raw
// non-blocking reads and writes. Measured on two cores, 50 connections, CPU per
// operation without pipelining: a loop 10 µs, a goroutine a connection 16 µs,
// redcon 18 µs. It polls for some microseconds before it blocks (see spin).
// Yielding to other goroutines between polls was tried: each yield moves the
// loop to another thread (9.6 µs an operation against 8.9 without).
//
// It has an OS thread of its own, so that the kernel can prefer this thread to
// the others (priority_linux.go), and the caches of its core stay warm: GET 32
// deep 1.77 M a second against 1.64 M, without pipelining the same. With no more
// processors than cores (see Processors) it cost a quarter of the throughput,
// for the thread slept and was woken whenever the goroutine had lost its
// processor to another.
type loop struct {
	srv    *Server
	epoll  int
	wake   int // eventfd
	conns  []*loopConn
	n      atomic.Int32 // connections
	h      *shard.Hold
	places []mvcc.Place
	parts  [][]byte   // of one write
	ready  []*session // read into, not yet run
	ahead  int        // requests of ready
	ran    []*session // run in this turn, their replies not yet sent
	micro  int64
	large  int // bytes of reply memory that connections keep beyond commands.RecycleMax

	spin, spinLimit spin // now, and at most

	overfull bool // too much in buffers of clients that must stay: tried again in the next period

	told []*session // got letters in this turn

	mu      sync.Mutex
	posted  []func()
	answers []func() // that end waits
	letters letters
	woken   bool // a wake-up is on its way, or the loop is awake
	done    chan struct{}
	stop    bool
}

func newLoop(srv *Server, limit spin) (*loop, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		unix.Close(ep)
		return nil, err
	}
	l := &loop{srv: srv, epoll: ep, wake: wake, h: srv.shards.NewHold(), done: make(chan struct{}), spinLimit: limit}
	return l, l.add(wake, unix.EPOLLIN)
}

func (l *loop) add(fd int, events uint32) error {
	return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

func (l *loop) clock() int64      { return l.micro }
func (l *loop) hold() *shard.Hold { return l.h }

func (l *loop) scratch() *[]mvcc.Place { return &l.places }

// run serves until shutdown.
func (l *loop) run() {
	defer close(l.done)
	l.srv.comeFirst()
	events := make([]unix.EpollEvent, eventsMax)
	next := time.Now()
	for !l.stop {
		n := l.wait(events)
		now := time.Now()
		l.micro = now.UnixMicro()
		l.runPosted()
		for i := range events[:n] {
			l.event(&events[i])
		}
		l.runReady()
		l.conclude()
		if !l.overfull {
			l.overfull = !l.srv.evictClients(l.micro / 1000)
		}
		if now.After(next) {
			next = now.Add(loopPeriod)
			l.periodic()
		}
	}
	l.closeAll()
}

func (l *loop) event(e *unix.EpollEvent) {
	fd := int(e.Fd)
	if fd == l.wake {
		var b [8]byte
		_, _ = unix.Read(fd, b[:])
		return
	}
	if fd >= len(l.conns) || l.conns[fd] == nil {
		return
	}
	c := l.conns[fd]
	if e.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 && (c.s.waiting || c.growing) {
		c.close()
		return
	}
	if e.Events&unix.EPOLLRDHUP != 0 && c.leftPause() {
		return
	}
	if e.Events&unix.EPOLLOUT != 0 {
		c.writable()
	}
	if e.Events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR) != 0 && !c.s.closed {
		c.readable()
	}
}

// periodic looks after the clients that do nothing.
func (l *loop) periodic() {
	for _, c := range l.conns {
		if c != nil {
			c.s.tick(l.micro / 1000)
			c.s.trim(l.micro / 1000)
		}
	}
	l.overfull = false
}

func (l *loop) closeAll() {
	for _, c := range l.conns {
		if c != nil {
			c.flushAll()
			c.close()
		}
	}
	l.mu.Lock()
	l.woken = true // nobody may write to the descriptor any more
	l.mu.Unlock()
	unix.Close(l.epoll)
	unix.Close(l.wake)
}

// shutdown ends the loop and waits for it.
func (l *loop) shutdown() {
	l.post(func() { l.stop = true })
	<-l.done
}

// A loopConn is the socket of a session that a loop serves.
type loopConn struct {
	l    *loop
	fd   int
	s    *session
	mask uint32 // what epoll watches

	large   int  // its part of the loop's
	growing bool // see growAside
}

const (
	largeReply = 256 << 10 // reply memory that a connection may keep for its next replies
	largeMax   = 16 << 20  // bytes that all connections of a loop may keep in this way
)

// recycle readies the session's reply for the next ones. Pipelines of long
// replies come again and again, and spent a third of their time on the growing
// of fresh memory; but only so many connections may keep theirs.
func (c *loopConn) recycle() {
	most := commands.RecycleMax
	if c.l.large-c.large+largeReply <= largeMax {
		most = largeReply
	}
	now := max(c.s.out.RecycleUpTo(most)-commands.RecycleMax, 0)
	c.l.large += now - c.large
	c.large = now
}

// adopt makes the loop serve an accepted, non-blocking socket.
func (l *loop) adopt(fd int, peer peerInfo) {
	c := &loopConn{l: l, fd: fd, mask: unix.EPOLLIN}
	if err := l.add(fd, c.mask); err != nil {
		unix.Close(fd)
		l.srv.clients.dropped()
		return
	}
	peer.fd = fd
	c.s = l.srv.newSession(l, c, peer)
	for len(l.conns) <= fd {
		l.conns = append(l.conns, nil)
	}
	l.conns[fd] = c
	l.n.Add(1)
	l.srv.clients.add(c.s)
}

// watch changes what epoll watches.
func (c *loopConn) watch(mask uint32) {
	if mask != c.mask {
		c.mask = mask
		_ = unix.EpollCtl(c.l.epoll, unix.EPOLL_CTL_MOD, c.fd, &unix.EpollEvent{Events: mask, Fd: int32(c.fd)})
	}
}

// leftPause closes the connection of a client that has left while it waits for
// the end of a pause or for a key, which may be far. (A client whose command runs aside may
// have closed its side only, to read the reply.)
func (c *loopConn) leftPause() bool {
	if c.s.idles() {
		c.close()
		return true
	}
	c.watch(c.mask &^ unix.EPOLLRDHUP)
	return false
}

func (c *loopConn) readable() {
	s := c.s
	if s.paused() || s.closing {
		mask := c.mask &^ unix.EPOLLIN
		if s.idles() {
			mask |= unix.EPOLLRDHUP
		}
		c.watch(mask)
		return
	}
	if c.growAside() {
		return
	}
	buf := s.in.Space(readSize)
	n, err := rawRead(c.fd, buf)
	switch {
	case n > 0:
	case again(err):
		return
	case err == nil && s.pending(): // it has closed its side, and may read yet
		s.closing = true
		return
	default:
		c.close()
		return
	}
	s.in.Advance(n)
	s.srv.stats.netIn.Add(int64(n))
	s.gather()
	c.l.ready = append(c.l.ready, s)
	if c.l.ahead += len(s.batch.requests); c.l.ahead >= warmMax {
		c.l.runReady()
	}
}

// growFrom is how many bytes of a command in the making are copied aside when its
// buffer grows. A copy of 256 MB, into memory that the kernel has to hand out page by
// page, kept all clients of a loop waiting for 0.3 s.
const growFrom = 1 << 20

// growAside has the buffer grown by a heavy thread, if that is much work, and says
// whether it does. Nothing is read meanwhile.
func (c *loopConn) growAside() bool {
	if c.growing {
		c.watch(c.mask &^ unix.EPOLLIN)
		return true
	}
	if c.s.in.Buffered() < growFrom {
		return false
	}
	live, size := c.s.in.Growth(readSize)
	if size == 0 {
		return false
	}
	c.growing = c.l.srv.shards.Heavy.Go(func() {
		to := make([]byte, size)
		resp.Copy(to, live)
		c.s.home.post(func() { c.grown(to) })
	})
	if c.growing {
		c.watch(c.mask &^ unix.EPOLLIN)
	}
	return c.growing
}

func (c *loopConn) grown(to []byte) {
	c.growing = false
	if !c.s.closed {
		c.s.in.Grown(to)
		c.resume()
	}
}

// runReady runs what was read of several clients.
func (l *loop) runReady() {
	warm(l, l.ready...)
	for _, s := range l.ready {
		if !s.closed {
			s.process()
		}
	}
	l.ran = append(l.ran, l.ready...)
	clear(l.ready)
	l.ready, l.ahead = l.ready[:0], 0
}

// conclude sends the replies of all that ran in this turn of the loop. Sending
// them together wakes a client that serves many connections once, not once a
// reply.
func (l *loop) conclude() {
	l.runAnswers()
	l.read(false)
	for _, s := range l.ran {
		if !s.closed {
			s.conclude()
		}
	}
	clear(l.ran)
	l.ran = l.ran[:0]
	for i := 0; i < len(l.told); i++ {
		l.told[i].wasTold()
	}
	clear(l.told)
	l.told = l.told[:0]
	l.h.Cool()
}

// flush implements transport: one write in the usual case, without a copy.
func (c *loopConn) flush() {
	s := c.s
	if s.closed {
		return
	}
	if s.queued == 0 && s.out.Plain() {
		c.writePlain()
	} else {
		s.collect()
		c.drain()
	}
	if s.closed {
		return
	}
	if s.queued == 0 {
		c.watch(c.mask &^ unix.EPOLLOUT)
		if s.closing && !s.waiting {
			c.close()
		}
		return
	}
	c.watch(c.mask | unix.EPOLLOUT)
}

func (c *loopConn) writePlain() {
	s, b := c.s, c.s.out.Bytes()
	if len(b) == 0 {
		return
	}
	n, err := rawWrite(c.fd, b)
	if n == len(b) {
		s.srv.stats.netOut.Add(int64(n))
		c.recycle()
		return
	}
	if n < 0 && !again(err) {
		c.close()
		return
	}
	s.collect()
	s.wrote(max(n, 0))
}

// drainMax is how many bytes of a session are written before others of the
// loop have their turn.
const drainMax = 256 << 10

// partsMax is how many parts one write may have.
const partsMax = 64

// drain writes the queue as far as the peer takes it, or a good part of it.
func (c *loopConn) drain() {
	s := c.s
	for left := drainMax; s.queued > 0 && left > 0; {
		n, err := unix.Writev(c.fd, c.l.front(s.queue, left))
		clear(c.l.parts) // or they would be kept alive
		left -= n
		if n <= 0 {
			if !again(err) {
				c.close()
			}
			return
		}
		s.wrote(n)
	}
}

// front returns so many bytes from the front of a queue, valid until the next
// call.
func (l *loop) front(queue [][]byte, bytes int) [][]byte {
	l.parts = l.parts[:0]
	for _, p := range queue {
		p = p[:min(len(p), bytes)]
		l.parts = append(l.parts, p)
		if bytes -= len(p); bytes == 0 || len(l.parts) == partsMax {
			break
		}
	}
	return l.parts
}

// flushAll writes what the peer takes now.
func (c *loopConn) flushAll() {
	c.flush()
	for left := 0; !c.s.closed && c.s.queued > 0 && c.s.queued != left; {
		left = c.s.queued
		c.flush()
	}
}

func again(err error) bool { return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) }

func (c *loopConn) writable() {
	s := c.s
	c.flush()
	s.info.update(s)
	if s.stalled && !s.full() && !s.closed && !s.waiting && !s.yielded {
		s.goOn()
	}
}

// resume implements transport.
func (c *loopConn) resume() { c.watch(c.mask&^unix.EPOLLRDHUP | unix.EPOLLIN) }

// close implements transport.
func (c *loopConn) close() {
	if c.s.closed {
		return
	}
	unix.Close(c.fd) // takes it out of epoll as well
	c.l.conns[c.fd] = nil
	c.l.n.Add(-1)
	c.l.large -= c.large
	c.s.ended()
}
