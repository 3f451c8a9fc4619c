package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"math"

	"firn/commands"
)

const openToAll = commands.NoAuth | commands.Loading

var connectionCommands = []commands.Command{
	{Name: "HELLO", Arity: -1, Run: onSession(hello), Flags: openToAll | commands.NoScript, Summary: "Handshake with Redis"},
	{Name: "AUTH", Arity: -2, Run: onSession(auth), Flags: openToAll | commands.NoScript, Summary: "Authenticate to the server"},
	{Name: "SELECT", Arity: 2, Run: onSession(selectDB), Flags: commands.Loading, Summary: "Change the selected database for the current connection"},
	{Name: "QUIT", Arity: -1, Run: onSession(quit), Flags: openToAll | commands.NoScript, Summary: "Close the connection"},
	{Name: "RESET", Arity: 1, Run: onSession(reset), Flags: openToAll | commands.NoScript, Summary: "Reset the connection"},
}

// helloOptions is what follows HELLO.
type helloOptions struct {
	proto int
	auth  bool   // user and password were given, and are right
	name  []byte // nil: no SETNAME
}

// parseHello finds what is wrong in the order of the arguments, as Redis does.
func (s *session) parseHello(c *commands.Call) (o helloOptions, err error) {
	if len(c.Args) == 1 {
		return o, nil
	}
	n, ok := commands.ParseInt(c.Args[1])
	if !ok {
		return o, commands.ErrProtoNotInt
	}
	if n != commands.RESP2 && n != commands.RESP3 {
		return o, commands.ErrNoProto
	}
	o.proto = int(n)
	for i := 2; i < len(c.Args); i++ {
		left := len(c.Args) - i - 1
		switch {
		case c.Is(i, "AUTH") && left >= 2:
			if !s.knows(c.Args[i+1], c.Args[i+2]) {
				return o, commands.ErrWrongPass
			}
			o.auth = true
			i += 2
		case c.Is(i, "SETNAME") && left >= 1:
			if o.name = c.Args[i+1]; !validName(o.name) {
				return o, commands.ErrClientName
			}
			i++
		default:
			return o, commands.ErrHelloOption(c.Args[i])
		}
	}
	return o, nil
}

// hello changes nothing unless all of it can be done.
func hello(c *commands.Call, s *session) error {
	o, err := s.parseHello(c)
	if err != nil {
		return err
	}
	if !s.authed && !o.auth {
		return commands.ErrHelloNoAuth
	}
	s.authed = true
	if o.name != nil {
		s.setName(string(o.name))
	}
	if o.proto != 0 {
		s.setProto(o.proto)
	}
	s.greet(c.Out)
	return nil
}

func (s *session) greet(out *commands.Reply) {
	out.Map(7)
	out.BulkString("server")
	out.BulkString("redis")
	out.BulkString("version")
	out.BulkString(redisVersion)
	out.BulkString("proto")
	out.Int(int64(out.Proto()))
	out.BulkString("id")
	out.Int(s.info.id)
	out.BulkString("mode")
	out.BulkString("standalone")
	out.BulkString("role")
	out.BulkString("master")
	out.BulkString("modules")
	out.Array(0)
}

func (s *session) setProto(p int) {
	s.out.SetProto(p)
	s.info.proto.Store(int32(p))
}

func (s *session) setName(name string) { s.info.name.Store(&name) }

// validName says whether a client or library name has only printable characters
// and no space, so that CLIENT LIST stays readable.
func validName(b []byte) bool {
	for _, ch := range b {
		if ch < '!' || ch > '~' {
			return false
		}
	}
	return true
}

func auth(c *commands.Call, s *session) error {
	if len(c.Args) > 3 {
		return commands.ErrSyntax
	}
	user, pass := []byte("default"), c.Args[len(c.Args)-1]
	if len(c.Args) == 3 {
		user = c.Args[1]
	} else if s.srv.config().RequirePass == "" {
		return commands.ErrNoPassword
	}
	if !s.knows(user, pass) {
		return commands.ErrWrongPass
	}
	s.authed = true
	c.Out.OK()
	return nil
}

// unknown says whether the client has yet to say who it is. It need not any more
// when the password has been taken away meanwhile.
func (s *session) unknown() bool { return !s.authed && s.srv.config().RequirePass != "" }

// knows checks user and password in a time that does not depend on them.
func (s *session) knows(user, pass []byte) bool {
	want := s.srv.config().RequirePass
	a, b := sha256.Sum256(pass), sha256.Sum256([]byte(want))
	good := subtle.ConstantTimeCompare(a[:], b[:]) == 1 || want == ""
	return good && string(user) == "default"
}

func selectDB(c *commands.Call, s *session) error {
	db, err := s.srv.database(c.Args[1])
	if err != nil {
		return err
	}
	s.db = db
	c.Out.OK()
	return nil
}

// database reads the number of a database.
func (srv *Server) database(b []byte) (int, error) {
	n, ok := commands.ParseInt(b)
	switch {
	case !ok:
		return 0, commands.ErrNotInteger
	case n < math.MinInt32 || n > math.MaxInt32:
		return 0, commands.ErrRange(math.MinInt32, math.MaxInt32)
	case n < 0 || n >= int64(srv.config().Databases):
		return 0, commands.ErrDBIndex
	}
	return int(n), nil
}

func quit(c *commands.Call, s *session) error {
	c.Out.OK()
	s.closing = true
	return nil
}

// reset makes the connection as it was when it was new.
func reset(c *commands.Call, s *session) error {
	s.leave(false)
	s.home.readMail()
	s.discard()
	s.db, s.noTouch, s.reply = 0, false, replyOn
	s.setProto(commands.RESP2)
	s.setName("")
	s.info.noEvict.Store(false)
	s.info.noTouch.Store(false)
	s.authed = s.srv.config().RequirePass == ""
	c.Out.Simple("RESET")
	return nil
}
