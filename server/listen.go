package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// A listener accepts connections of one kind on one address.
type listener struct {
	net.Listener
	tls *tls.Config // nil: plain
}

// listen opens all the addresses of the configuration.
func (srv *Server) listen() error {
	c := srv.config()
	if c.Port != 0 {
		if err := srv.listenTCP(c.Port, nil); err != nil {
			return err
		}
	}
	if c.TLS.Port != 0 {
		t, err := tlsConfig(&c.TLS)
		if err != nil {
			return err
		}
		if err := srv.listenTCP(c.TLS.Port, t); err != nil {
			return err
		}
	}
	if c.UnixSocket == "" {
		return nil
	}
	return srv.listenUnix(c.UnixSocket, os.FileMode(c.UnixSocketPerm))
}

// listenTCP listens on the port of every bind address. An address with a "-"
// in front may be missing on this machine.
func (srv *Server) listenTCP(port int, t *tls.Config) error {
	n := 0
	for _, addr := range srv.config().Bind {
		optional := strings.HasPrefix(addr, "-")
		l, err := listenOn(strings.TrimPrefix(addr, "-"), port)
		if err != nil {
			if optional && !errors.Is(err, unix.EADDRINUSE) {
				continue
			}
			srv.log.Warn(fmt.Sprintf("Could not create server TCP listening socket %s:%d: %v", addr, port, err))
			srv.log.Warn(fmt.Sprintf("Failed listening on port %d (TCP), aborting.", port))
			return err
		}
		srv.listeners = append(srv.listeners, &listener{l, t})
		n++
	}
	if n == 0 {
		return fmt.Errorf("no address to listen on at port %d", port)
	}
	return nil
}

func listenOn(addr string, port int) (net.Listener, error) {
	network := "tcp"
	switch {
	case addr == "*":
		network, addr = "tcp4", ""
	case addr == "::*":
		network, addr = "tcp6", ""
	case strings.Contains(addr, ":"):
		network = "tcp6"
	}
	return (&net.ListenConfig{KeepAlive: -1}).Listen(context.Background(), network, net.JoinHostPort(addr, strconv.Itoa(port)))
}

func (srv *Server) listenUnix(path string, mode os.FileMode) error {
	os.Remove(path) // a socket left behind by a server that was killed
	l, err := net.Listen("unix", path)
	if err != nil {
		srv.log.Warn(fmt.Sprintf("Failed opening Unix socket: bind: %v", err))
		return err
	}
	srv.listeners = append(srv.listeners, &listener{l, nil})
	if mode != 0 {
		return os.Chmod(path, mode)
	}
	return nil
}

func (srv *Server) unlisten() {
	for _, l := range srv.listeners {
		l.Close()
	}
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
	srv.stats.connections.Add(1)
	peer := peerOf(nc, l.tls != nil)
	if err := srv.admit(&peer); err != nil {
		srv.stats.rejectedConns.Add(1)
		nc.SetWriteDeadline(time.Now().Add(time.Second))
		fmt.Fprintf(nc, "-%s\r\n", err)
		nc.Close()
		return
	}
	if t, ok := nc.(*net.TCPConn); ok {
		t.SetNoDelay(true)
		keepAlive(t, srv.config().TCPKeepAlive)
	}
	if l.tls != nil {
		srv.serveConn(tls.Server(nc, l.tls), peer)
		return
	}
	srv.serveRaw(nc, peer)
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
