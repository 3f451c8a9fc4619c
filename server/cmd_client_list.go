package server

import (
	"fmt"
	"strings"
	"time"

	"firn/commands"
)

// clientInfoLine answers CLIENT INFO.
func clientInfoLine(c *commands.Call, s *session) error {
	var b strings.Builder
	s.describeSelf(&b, c)
	c.Out.Verbatim("txt", b.String())
	return nil
}

func clientList(c *commands.Call, s *session) error {
	pick := func(*clientInfo) bool { return true }
	var err error
	switch {
	case len(c.Args) == 2:
	case len(c.Args) == 4 && c.Is(2, "type"):
		pick, err = ofType(c.Args[3])
	case len(c.Args) > 3 && c.Is(2, "id"):
		return clientListIDs(c, s)
	default:
		err = commands.ErrSyntax
	}
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, other := range s.srv.clients.sessions() {
		if pick(&other.info) {
			s.describe(&b, c, other)
		}
	}
	c.Out.Verbatim("txt", b.String())
	return nil
}

// clientListIDs lists the clients in the order of the arguments.
func clientListIDs(c *commands.Call, s *session) error {
	var b strings.Builder
	for _, arg := range c.Args[3:] {
		id, ok := commands.ParseInt(arg)
		if !ok {
			return commands.ErrClientID
		}
		if other := s.srv.clients.byID(id); other != nil {
			s.describe(&b, c, other)
		}
	}
	c.Out.Verbatim("txt", b.String())
	return nil
}

// ofType returns the filter for TYPE. There are no replicas and no master so far.
func ofType(name []byte) (func(*clientInfo) bool, error) {
	switch strings.ToLower(string(name)) {
	case "normal":
		return func(i *clientInfo) bool { return !i.subscribed() }, nil
	case "pubsub":
		return (*clientInfo).subscribed, nil
	case "slave", "replica", "master":
		return func(*clientInfo) bool { return false }, nil
	}
	return nil, commands.ErrClientType(name)
}

// describe writes another client's line, or one's own.
func (s *session) describe(b *strings.Builder, c *commands.Call, other *session) {
	if other == s {
		s.describeSelf(b, c)
		return
	}
	other.info.write(b, c.Now, other.lastCommand(), running{})
}

// lastCommand is the full name of the command that ran last; from anywhere.
func (s *session) lastCommand() string {
	if i := s.info.lastRow.Load(); i >= 0 {
		return s.srv.table.ByIndex(int(i)).FullName()
	}
	return "NULL"
}

// describeSelf writes the line of the client whose command is being run: the
// command still counts as buffered, as it does in Redis.
func (s *session) describeSelf(b *strings.Builder, c *commands.Call) {
	s.info.update(s)
	s.info.write(b, c.Now, c.Row.FullName(), running{wire: wireSize(c.Args), args: argsSize(c.Args)})
}

// running is what a client's present command takes.
type running struct{ wire, args int64 }

func argsSize(args [][]byte) (n int64) {
	for _, a := range args {
		n += int64(len(a))
	}
	return n
}

// wireSize is how long a command is in RESP.
func wireSize(args [][]byte) int64 {
	n := len(fmt.Sprintf("*%d\r\n", len(args)))
	for _, a := range args {
		n += len(fmt.Sprintf("$%d\r\n", len(a))) + len(a) + len("\r\n")
	}
	return int64(n)
}

// sessionSize is about what a client takes besides its buffers.
const sessionSize = 2 << 10

// write appends the client's line in CLIENT LIST: the fields of Redis 7.0 in
// their order, and those that 7.2 added behind them.
func (i *clientInfo) write(b *strings.Builder, now int64, row string, r running) {
	qbuf := i.qbuf.Load() + r.wire
	free := max(i.qcap.Load()-qbuf, 0)
	out, peak := i.out.Load(), i.peak.Load()
	fixed := replyBuffer(peak)
	list := max(out-fixed, 0)
	events := "r"
	if out > 0 {
		events = "rw"
	}
	fmt.Fprintf(b, "id=%d addr=%s laddr=%s fd=%d name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d multi=%d",
		i.id, i.peer.addr, i.peer.laddr, i.peer.fd, *i.name.Load(), wholeSeconds(now-i.created.UnixMilli()), wholeSeconds(now-i.lastActive.Load()), i.flags(), i.db.Load(),
		i.topics[channelTopic].Load(), i.topics[patternTopic].Load(), i.topics[shardTopic].Load(), i.multi.Load()-1)
	fmt.Fprintf(b, " qbuf=%d qbuf-free=%d argv-mem=%d multi-mem=%d rbs=%d rbp=%d obl=%d oll=%d omem=%d tot-mem=%d",
		qbuf, free, r.args, i.multiBytes.Load(), fixed, peak, min(out, fixed), (list+replyBufferMax-1)/replyBufferMax, list, sessionSize+i.qcap.Load()+max(out, fixed)+r.args+i.multiBytes.Load())
	fmt.Fprintf(b, " events=%s cmd=%s user=default redir=-1 resp=%d lib-name=%s lib-ver=%s\n",
		events, row, i.proto.Load(), *i.libName.Load(), *i.libVer.Load())
}

func wholeSeconds(ms int64) int64 { return max(ms, 0) / int64(time.Second/time.Millisecond) }

const (
	replyBufferMin = 1 << 10
	replyBufferMax = 16 << 10
)

// replyBuffer is how large a reply buffer a client with replies of at most peak
// bytes keeps.
func replyBuffer(peak int64) int64 {
	n := int64(replyBufferMin)
	for n < peak && n < replyBufferMax {
		n *= 2
	}
	return n
}

// flags are the letters of CLIENT LIST.
func (i *clientInfo) flags() string {
	f := ""
	if i.monitor.Load() {
		f += "O"
	}
	if i.subscribed() {
		f += "P"
	}
	if i.multi.Load() > 0 {
		f += "x"
	}
	if i.held.Load() || i.blocked.Load() != nil {
		f += "b"
	}
	if i.peer.unix {
		f += "U"
	}
	if i.noEvict.Load() {
		f += "e"
	}
	if i.noTouch.Load() {
		f += "T"
	}
	if f == "" {
		return "N"
	}
	return f
}
