package server

import (
	"crypto/tls"
	"net"
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

	posted chan func()
	done   chan struct{} // the home has ended
	more   chan struct{} // the reader may read on
	read   bool          // the reader is reading
}

// writeLimit is how long a write of a TLS connection may take before its client
// counts as gone.
const writeLimit = 30 * time.Second

func (srv *Server) serveConn(nc net.Conn, peer peerInfo) {
	c := &netConn{
		srv: srv, c: nc, h: srv.shards.NewHold(),
		posted: make(chan func(), 16), done: make(chan struct{}), more: make(chan struct{}, 1),
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

// post implements home. The channel's bound only delays the poster; after the
// end it is not read any more.
func (c *netConn) post(f func()) {
	select {
	case c.posted <- f:
	case <-c.done:
	}
}

// reader reads into the session's buffer, in turns with the home.
func (c *netConn) reader() {
	defer c.srv.conns.Done()
	for {
		select {
		case <-c.more:
		case <-c.done:
			return
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
		case f := <-c.posted:
			c.micro = time.Now().UnixMicro()
			f()
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
	if c.read || c.s.closed {
		return
	}
	c.read = true
	c.more <- struct{}{}
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
