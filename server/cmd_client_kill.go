package server

import (
	"firn/commands"
)

// killFilter says which clients CLIENT KILL ends; nil fields don't matter.
type killFilter struct {
	id          int64 // 0: any
	addr, laddr []byte
	ofType      func(*clientInfo) bool
	skipMe      bool
}

func (f *killFilter) matches(i *clientInfo) bool {
	switch {
	case f.id != 0 && i.id != f.id:
	case f.addr != nil && i.peer.addr != string(f.addr):
	case f.laddr != nil && i.peer.laddr != string(f.laddr):
	case f.ofType != nil && !f.ofType(i):
	default:
		return true
	}
	return false
}

func parseKill(c *commands.Call) (f killFilter, err error) {
	f.skipMe = true
	for i := 2; i < len(c.Args); i += 2 {
		if i+1 == len(c.Args) {
			return f, commands.ErrSyntax
		}
		if err := f.option(c, i); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f *killFilter) option(c *commands.Call, i int) (err error) {
	arg := c.Args[i+1]
	switch {
	case c.Is(i, "id"):
		id, ok := commands.ParseInt(arg)
		if !ok || id < 1 {
			return commands.ErrClientIDRange
		}
		f.id = id
	case c.Is(i, "type"):
		f.ofType, err = ofType(arg)
	case c.Is(i, "addr"):
		f.addr = arg
	case c.Is(i, "laddr"):
		f.laddr = arg
	case c.Is(i, "user"):
		if string(arg) != "default" {
			return commands.ErrNoUser(arg)
		}
	case c.Is(i, "skipme") && (c.Is(i+1, "yes") || c.Is(i+1, "no")):
		f.skipMe = c.Is(i+1, "yes")
	default:
		return commands.ErrSyntax
	}
	return err
}

func clientKill(c *commands.Call, s *session) error {
	if len(c.Args) == 3 { // the old form
		if s.kill(&killFilter{addr: c.Args[2]}) == 0 {
			return commands.ErrNoClient
		}
		c.Out.OK()
		return nil
	}
	f, err := parseKill(c)
	if err != nil {
		return err
	}
	c.Out.Int(s.kill(&f))
	return nil
}

// kill ends the clients of the filter and returns how many they were. They run
// no further command and are gone from CLIENT LIST at once. The caller itself
// gets its reply first.
func (s *session) kill(f *killFilter) (n int64) {
	for _, other := range s.srv.clients.sessions() {
		if !f.matches(&other.info) || other == s && f.skipMe {
			continue
		}
		n++
		if other == s {
			s.closing = true
			continue
		}
		s.srv.clients.end(other)
	}
	return n
}

// sever ends a session from outside its home.
func (s *session) sever() {
	if c, ok := s.peer.(*netConn); ok {
		c.cut()
	}
	s.home.post(s.peer.close)
}
