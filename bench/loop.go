package main

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A driver says what the connections of a loop ask and looks at what they are answered. Its methods run on the loop's
// goroutine. It is the only thing that differs between a GET/SET load, scanners and a KEYS loop.
type driver interface {
	// request appends the next commands of the connection and says how many they are.
	request(c *conn, dst []byte) ([]byte, int)
	// token sees each element of a reply.
	token(c *conn, t token)
	// answered is called after the last element of each reply; counted says that it fell into the measured window.
	answered(c *conn, counted bool)
}

// A conn is one socket of a loop.
type conn struct {
	id   int
	fd   int
	file *os.File // owns fd
	p    parser
	in   []byte
	w    int // in[:w] is read but not yet parsed
	out  []byte
	sent int64 // when the commands in flight were sent, on the window's clock
	left int   // replies that they still lack
}

// A window is the measured part of a run. It is opened and closed by who started the run, while the loops go on: answers
// outside of it are not counted, so neither connecting nor winding down colours the figures.
type window struct {
	start    time.Time
	from, to atomic.Int64 // offsets from start; zero while unset
}

func newWindow() *window { return &window{start: time.Now()} }

func (w *window) now() int64 { return int64(time.Since(w.start)) }
func (w *window) open()      { w.from.Store(w.now()) }
func (w *window) close()     { w.to.Store(w.now()) }

// length is the window's duration; it must have been closed.
func (w *window) length() time.Duration { return time.Duration(w.to.Load() - w.from.Load()) }

func (w *window) holds(t int64) bool {
	from, to := w.from.Load(), w.to.Load()
	return from != 0 && t >= from && (to == 0 || t <= to)
}

// A loop drives many connections from one goroutine by epoll: each has one request (or one pipeline) in flight and sends the
// next as soon as it is answered. Measured on two cores with 50 connections against redis-server, a goroutine a
// connection costs the client two thirds more CPU an operation; the load shares its cores with the server, so that
// difference would be the server's.
type loop struct {
	ep    int
	conns []*conn
	drive driver
	win   *window
	stop  *atomic.Bool
	hist  Histogram // from sending to the last reply of a pipeline
	ops   uint64    // replies in the window
	fails uint64    // error replies among them
	fail  string    // the first
	worst int64     // the longest that went unanswered until the end
}

// newLoop connects n sockets. Their numbers start at firstID.
func newLoop(addr string, firstID, n int, d driver, w *window, stop *atomic.Bool) (*loop, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	l := &loop{ep: ep, drive: d, win: w, stop: stop}
	for i := range n {
		c, err := newConn(addr, firstID+i)
		if err != nil {
			l.close()
			return nil, err
		}
		l.conns = append(l.conns, c)
		ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}
		if err := unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, c.fd, &ev); err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

func newConn(addr string, id int) (*conn, error) {
	f, err := dialFile(addr)
	if err != nil {
		return nil, err
	}
	c := &conn{id: id, file: f, fd: int(f.Fd()), in: make([]byte, 16<<10)}
	return c, unix.SetNonblock(c.fd, true)
}

// dialFile connects and takes the socket out of the runtime's poller.
func dialFile(addr string) (*os.File, error) {
	nc, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("%s is not a TCP address", addr)
	}
	return tcp.File()
}

func (l *loop) close() {
	for _, c := range l.conns {
		_ = c.file.Close()
	}
	_ = unix.Close(l.ep)
}

// run drives the connections until stop is set.
func (l *loop) run() error {
	for _, c := range l.conns {
		if err := l.ask(c); err != nil {
			return err
		}
	}
	events := make([]unix.EpollEvent, 256)
	for !l.stop.Load() {
		n, err := unix.EpollWait(l.ep, events, 50)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("epoll: %w", err)
		}
		for i := range max(n, 0) {
			if err := l.readable(l.conns[events[i].Fd]); err != nil {
				return err
			}
		}
	}
	l.noteUnanswered()
	return nil
}

// noteUnanswered keeps requests that a stalled server never answered from vanishing from the figures.
func (l *loop) noteUnanswered() {
	for _, c := range l.conns {
		if c.left > 0 {
			l.worst = max(l.worst, l.win.to.Load()-c.sent)
		}
	}
}

func (l *loop) ask(c *conn) error {
	c.out, c.left = l.drive.request(c, c.out[:0])
	c.sent = l.win.now()
	for b := c.out; len(b) > 0; {
		n, err := unix.Write(c.fd, b)
		switch err {
		case nil:
			b = b[n:]
		case unix.EAGAIN:
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLOUT}}, 100)
		case unix.EINTR:
		default:
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

func (l *loop) readable(c *conn) error {
	if c.w == len(c.in) {
		c.in = append(c.in, make([]byte, len(c.in))...)
	}
	n, err := unix.Read(c.fd, c.in[c.w:])
	if err == unix.EAGAIN || err == unix.EINTR {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("the server closed a connection")
	}
	c.w += n
	return l.parse(c)
}

func (l *loop) parse(c *conn) error {
	r := 0
	for r < c.w {
		t, used, err := c.p.next(c.in[r:c.w])
		if err != nil {
			return err
		}
		if used == 0 {
			break
		}
		r += used
		l.take(c, t)
	}
	c.w = copy(c.in, c.in[r:c.w])
	if c.left == 0 {
		return l.ask(c)
	}
	return nil
}

func (l *loop) take(c *conn, t token) {
	l.drive.token(c, t)
	if t.kind == '-' {
		l.noteError(t)
	}
	if !c.p.done() {
		return
	}
	c.left--
	now := l.win.now()
	counted := l.win.holds(now)
	if counted {
		l.ops++
		if c.left == 0 {
			l.hist.Add(time.Duration(now - c.sent))
		}
	}
	l.drive.answered(c, counted)
}

func (l *loop) noteError(t token) {
	l.fails++
	if l.fail == "" {
		l.fail = string(t.body)
	}
}
