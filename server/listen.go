package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"firn/server/config"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// A reach is one address at which the server can be reached.
type reach struct {
	network, addr string // as net.Listen takes them
	port          int
	secure        bool // TLS
	optional      bool // the address may be missing on this machine
}

// A listener accepts connections at one reach.
type listener struct {
	net.Listener
	at reach
}

// listening is where the server is reached now.
type listening struct {
	tls atomic.Pointer[tls.Config] // nil: no TLS yet

	listenMu   sync.Mutex
	listeners  []*listener
	unlistened bool // for good
}

// reaches gives all addresses of a configuration.
func reaches(c *config.Config) (all []reach) {
	for _, addr := range c.Bind {
		if c.Port != 0 {
			all = append(all, reachOf(addr, c.Port, false))
		}
	}
	for _, addr := range c.Bind {
		if c.TLS.Port != 0 {
			all = append(all, reachOf(addr, c.TLS.Port, true))
		}
	}
	if c.UnixSocket != "" {
		all = append(all, reach{network: "unix", addr: c.UnixSocket})
	}
	return all
}

// reachOf translates an address of `bind`. One with a "-" in front may be
// missing on this machine.
func reachOf(addr string, port int, secure bool) reach {
	r := reach{network: "tcp", port: port, secure: secure}
	addr, r.optional = strings.CutPrefix(addr, "-")
	switch {
	case addr == "*":
		r.network, addr = "tcp4", ""
	case addr == "::*":
		r.network, addr = "tcp6", ""
	case strings.Contains(addr, ":"):
		r.network = "tcp6"
	}
	r.addr = net.JoinHostPort(addr, strconv.Itoa(port))
	return r
}

// listen makes the server reachable where the configuration says, and only
// there. If an address can't be had, everything stays as it was.
func (srv *Server) listen(c *config.Config) error {
	srv.listenMu.Lock()
	defer srv.listenMu.Unlock()
	if srv.unlistened {
		return net.ErrClosed
	}
	want := reaches(c)
	var kept, gone []*listener
	for _, l := range srv.listeners {
		if slices.Contains(want, l.at) {
			kept = append(kept, l)
			want = slices.DeleteFunc(want, func(r reach) bool { return r == l.at })
		} else {
			gone = append(gone, l)
		}
	}
	back := closeRivals(gone, want)
	opened, err := srv.open(want, c)
	if err != nil {
		opened, _ = srv.open(back, c)
		srv.listeners = append(slices.DeleteFunc(srv.listeners, func(l *listener) bool { return slices.Contains(back, l.at) }), opened...)
		return err
	}
	for _, l := range gone {
		l.Close()
	}
	srv.listeners = append(kept, opened...)
	return nil
}

// closeRivals closes the listeners that stand in the way of those wanted, as
// 127.0.0.1 does of all addresses, and returns where they were.
func closeRivals(gone []*listener, want []reach) (closed []reach) {
	for _, l := range gone {
		if slices.ContainsFunc(want, func(r reach) bool { return r.port == l.at.port && r.port != 0 }) {
			l.Close()
			closed = append(closed, l.at)
		}
	}
	return closed
}

// open listens at all reaches, or at none, and accepts what comes.
func (srv *Server) open(all []reach, c *config.Config) (opened []*listener, err error) {
	for _, r := range all {
		l, err := openOne(r, c)
		switch {
		case err == nil:
			opened = append(opened, &listener{l, r})
		case r.optional && !errors.Is(err, unix.EADDRINUSE):
		default:
			srv.complain(r, err)
			for _, l := range opened {
				l.Close()
			}
			return nil, err
		}
	}
	for _, l := range opened {
		srv.conns.Add(1)
		go srv.accept(l)
	}
	return opened, nil
}

func openOne(r reach, c *config.Config) (net.Listener, error) {
	if r.network != "unix" {
		return (&net.ListenConfig{KeepAlive: -1}).Listen(context.Background(), r.network, r.addr)
	}
	os.Remove(r.addr) // a socket left behind by a server that was killed
	l, err := net.Listen("unix", r.addr)
	if err == nil && c.UnixSocketPerm != 0 {
		err = os.Chmod(r.addr, os.FileMode(c.UnixSocketPerm))
	}
	return l, err
}

// complain logs in the words that programs which start servers look for.
func (srv *Server) complain(r reach, err error) {
	if r.network == "unix" {
		srv.log.Warn(fmt.Sprintf("Failed opening Unix socket: bind: %v", err))
		return
	}
	srv.log.Warn(fmt.Sprintf("Could not create server TCP listening socket %s: %v", r.addr, err))
	srv.log.Warn(fmt.Sprintf("Failed listening on port %d (TCP)", r.port))
}

// unlisten ends all listening for good.
func (srv *Server) unlisten() {
	srv.listenMu.Lock()
	defer srv.listenMu.Unlock()
	srv.unlistened = true
	for _, l := range srv.listeners {
		l.Close()
	}
}

// Addrs returns the addresses that the server listens on.
func (srv *Server) Addrs() []net.Addr {
	srv.listenMu.Lock()
	defer srv.listenMu.Unlock()
	var all []net.Addr
	for _, l := range srv.listeners {
		all = append(all, l.Addr())
	}
	return all
}

// accept takes connections until the listener is closed.
func (srv *Server) accept(l *listener) {
	defer srv.conns.Done()
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			srv.log.Warn("Accepting client connection", zap.Error(err))
			time.Sleep(10 * time.Millisecond) // out of descriptors: let some go
			continue
		}
		srv.welcome(nc, l)
	}
}

// welcome lets a connection in, or tells it why not.
func (srv *Server) welcome(nc net.Conn, l *listener) {
	peer := peerOf(nc, l.at.secure)
	if err := srv.admit(&peer); err != nil {
		srv.stats.rejectedConns.Add(1)
		if !l.at.secure {
			nc.SetWriteDeadline(time.Now().Add(time.Second))
			fmt.Fprintf(nc, "-%s\r\n", err)
		}
		nc.Close()
		return
	}
	srv.stats.connections.Add(1)
	if t, ok := nc.(*net.TCPConn); ok {
		t.SetNoDelay(true)
		keepAlive(t, srv.config().TCPKeepAlive)
	}
	if l.at.secure {
		peer.fd = descriptor(nc)
		srv.serveConn(tls.Server(nc, srv.tls.Load()), peer)
		return
	}
	srv.serveRaw(nc, peer)
}

// descriptor is the number of the socket, to be shown; 0 if there is none.
func descriptor(nc net.Conn) (fd int) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := sc.SyscallConn()
	if err == nil {
		err = raw.Control(func(n uintptr) { fd = int(n) })
	}
	if err != nil {
		return 0
	}
	return fd
}

func keepAlive(t *net.TCPConn, seconds int) {
	period := time.Duration(seconds) * time.Second
	t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: seconds > 0, Idle: period, Interval: max(period/3, time.Second), Count: 3})
}

// serveRaw hands the socket of a plain connection to the loop with the fewest.
func (srv *Server) serveRaw(nc net.Conn, peer peerInfo) {
	fd, err := detach(nc)
	if err != nil {
		srv.clients.dropped()
		return
	}
	best := srv.loops[0]
	for _, l := range srv.loops[1:] {
		if l.n.Load() < best.n.Load() {
			best = l
		}
	}
	best.post(func() { best.adopt(fd, peer) })
}

// detach takes the socket out of the runtime's hands.
func detach(nc net.Conn) (fd int, err error) {
	defer nc.Close()
	sc, ok := nc.(interface{ File() (*os.File, error) })
	if !ok {
		return 0, fmt.Errorf("no descriptor in a %T", nc)
	}
	f, err := sc.File()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	fd, err = unix.Dup(int(f.Fd()))
	if err != nil {
		return 0, err
	}
	unix.CloseOnExec(fd)
	return fd, unix.SetNonblock(fd, true)
}
