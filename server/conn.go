package server

import (
	"crypto/tls"
	"net"
	"sync"
	"time"

	"firn/mvcc"
	"firn/shard"
)

// A netConn serves one connection from goroutines of its own: what a loop can't
// (TLS), and every connection where there is no epoll. One goroutine reads, one
// is the session's home; the socket is written from there.
type netConn struct {
	srv    *Server
	c      net.Conn
	s      *session
	h      *shard.Hold
	places []mvcc.Place
	micro  int64

	mu      sync.Mutex
	posted  []func()
	letters letters
	wake    chan struct{} // something was posted
	done    chan struct{} // the home has ended
	more    chan bool     // the reader may read on; true: ahead
	read    bool          // the reader is reading
	early   []byte        // what it has read ahead
}

// writeLimit is how long a write of a TLS connection may take before its client
// counts as gone.
const writeLimit = 30 * time.Second

func (srv *Server) serveConn(nc net.Conn, peer peerInfo) {
	c := &netConn{
		srv: srv, c: nc, h: srv.shards.NewHold(),
		wake: make(chan struct{}, 1), done: make(chan struct{}), more: make(chan bool, 1),
	}
	c.s = srv.newSession(c, c, peer)
	srv.clients.add(c.s)
	srv.conns.Add(2)
	go c.reader()
	go c.run()
}

func (c *netConn) clock() int64      { return c.micro }
func (c *netConn) hold() *shard.Hold { return c.h }

func (c *netConn) scratch() *[]mvcc.Place { return &c.places }

// later implements home.
func (c *netConn) later(func()) bool { return false }

// post implements home. It does not wait: two connections may post to each
// other.
func (c *netConn) post(f func()) {
	c.mu.Lock()
	c.posted = append(c.posted, f)
	c.mu.Unlock()
	c.rouse()
}

// answer implements home.
func (c *netConn) answer(f func()) { c.post(f) }

// mail implements home. The home may be waiting for a client that does not
// read, so the output limit is kept here: nobody who publishes waits for it.
func (c *netConn) mail(l letter) (behind bool) {
	c.mu.Lock()
	c.letters.put(l)
	size := int64(c.letters.size)
	c.mu.Unlock()
	if most := c.srv.config().OutputLimits[c.s.info.class()].Hard; most > 0 && size > most && !c.s.info.killed.Swap(true) {
		c.srv.stats.outputClosed.Add(1)
		c.cut()
	}
	c.rouse()
	return false
}

func (c *netConn) rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// readMail implements home.
func (c *netConn) readMail() {
	c.mu.Lock()
	all := c.letters.take()
	c.mu.Unlock()
	deliver(all, true, func(*session) {})
}

// runPosted runs what was posted and delivers the letters.
func (c *netConn) runPosted() {
	c.mu.Lock()
	fs := c.posted
	c.posted = nil
	c.mu.Unlock()
	for _, f := range fs {
		f()
	}
	if c.readMail(); c.s.told {
		c.s.wasTold()
	}
}

// reader reads into the session's buffer, in turns with the home, or ahead.
func (c *netConn) reader() {
	defer c.srv.conns.Done()
	for {
		var ahead bool
		select {
		case ahead = <-c.more:
		case <-c.done:
			return
		}
		if ahead {
			buf := make([]byte, readSize)
			n, err := c.c.Read(buf)
			c.post(func() { c.arrivedAhead(buf[:n], err) })
			continue
		}
		buf := c.s.in.Space(readSize)
		n, err := c.c.Read(buf)
		c.post(func() { c.arrived(n, err) })
	}
}

func (c *netConn) run() {
	defer c.srv.conns.Done()
	defer close(c.done)
	tick := time.NewTicker(loopPeriod)
	defer tick.Stop()
	c.resume()
	for !c.s.closed {
		select {
		case <-c.wake:
			c.micro = time.Now().UnixMicro()
			c.runPosted()
			c.lookAhead()
		case <-tick.C:
			c.micro = time.Now().UnixMicro()
			c.s.tick(c.micro / 1000)
		}
	}
}

func (c *netConn) arrived(n int, err error) {
	c.read = false
	if c.s.closed {
		return
	}
	if n > 0 {
		c.s.in.Advance(n)
		c.srv.stats.netIn.Add(int64(n))
		c.s.process()
		c.h.Cool()
		c.flush()
		c.s.info.update(c.s)
	}
	if err != nil {
		c.close()
		return
	}
	if !c.s.closed && !c.s.paused() {
		c.resume()
	}
}

// flush implements transport. It may block for a client that does not read, up
// to writeLimit; only this client's own goroutine waits.
func (c *netConn) flush() {
	s := c.s
	if s.closed {
		return
	}
	s.collect()
	for s.queued > 0 && !s.closed {
		c.c.SetWriteDeadline(time.Now().Add(writeLimit))
		n, err := c.c.Write(s.queue[0])
		s.wrote(n)
		if err != nil {
			c.close()
			return
		}
	}
	if s.closing && !s.waiting {
		c.close()
	}
}

// resume implements transport.
func (c *netConn) resume() {
	if c.s.closed {
		return
	}
	if len(c.early) > 0 {
		c.post(c.catchUp)
		return
	}
	if c.read {
		return
	}
	c.read = true
	c.more <- false
}

// cut breaks the connection off; callable from any goroutine, and it never
// waits for the peer.
func (c *netConn) cut() {
	if t, ok := c.c.(*tls.Conn); ok {
		t.NetConn().Close()
		return
	}
	c.c.Close()
}

// close implements transport.
func (c *netConn) close() {
	if !c.s.closed {
		c.c.Close()
		c.s.ended()
	}
}
