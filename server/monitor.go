package server

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"firn/commands"
)

var monitorCommands = []commands.Command{
	{Name: "MONITOR", Arity: 1, Run: onSession(monitor), Flags: commands.Admin | commands.NoScript | commands.Loading, Summary: "Listen for all requests received by the server in real time"},
}

// monitors are the sessions that are shown every command. The lines of one
// client come in the order of its commands; those of several may come in another
// order than the commands happened in where they ran on different threads at the
// same time.
type monitors struct {
	mu   sync.Mutex
	list atomic.Pointer[topic] // nil: none; replaced whole
}

// any says whether anybody monitors: all that the others' commands pay.
func (m *monitors) any() bool { return m.list.Load() != nil }

func (m *monitors) add(s *session) {
	m.change(func(t *topic) { t.add(s) })
}

func (m *monitors) remove(s *session) {
	m.change(func(t *topic) { t.remove(s) })
}

// change applies a change to a copy.
func (m *monitors) change(do func(*topic)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := &topic{}
	if old := m.list.Load(); old != nil {
		next.listeners = old.listeners
		next.audiences = slices.Clone(old.audiences)
	}
	if do(next); next.listeners == 0 {
		next = nil
	}
	m.list.Store(next)
}

// shown shows a command that was run in a database to those who monitor, unless
// it is an administrator's or has been shown before it ran.
func (s *session) shown(c *commands.Call, db int) {
	if c.Row.Flags&(commands.Admin|commands.SkipMon) == 0 {
		s.srv.monitors.show(s, c, db, s.inScript)
	}
}

// shownFirst shows the command before it runs: a script or function comes before
// what it does.
func (s *session) shownFirst(c *commands.Call) {
	if s.srv.monitors.any() {
		s.srv.monitors.show(s, c, c.DB, false)
	}
}

// show shows a command of a session; lua says that a script ran it.
func (m *monitors) show(s *session, c *commands.Call, db int, lua bool) {
	to := m.list.Load()
	if to == nil {
		return
	}
	l := letter{body: monitorLine(s, c, db, lua)}
	for i := range to.audiences {
		l.to = to.audiences[i].sessions
		to.audiences[i].home.mail(l)
	}
}

// monitorLine is the line about a command.
func monitorLine(s *session, c *commands.Call, db int, lua bool) []byte {
	now := time.Now()
	b := append([]byte(nil), '+')
	b = strconv.AppendInt(b, now.Unix(), 10)
	b = append(b, '.')
	micros := strconv.Itoa(now.Nanosecond()/1000 + 1e6)
	b = append(b, micros[1:]...)
	b = append(b, " ["...)
	b = strconv.AppendInt(b, int64(db), 10)
	switch peer := &s.info.peer; {
	case lua:
		b = append(b, " lua]"...)
	case peer.unix:
		b = append(b, " unix:"+strings.TrimSuffix(peer.addr, ":0")+"]"...)
	default:
		b = append(b, " "+peer.addr+"]"...)
	}
	secret := secretArgs(c)
	for i, a := range c.Args {
		if slices.Contains(secret, i) {
			a = []byte(redacted)
		}
		b = appendQuoted(append(b, ' '), a)
	}
	return append(b, "\r\n"...)
}

// appendQuoted appends an argument as people read it.
func appendQuoted(b, arg []byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, ch := range arg {
		switch i := strings.IndexByte("\n\r\t\a\b", ch); {
		case i >= 0:
			b = append(b, '\\', "nrtab"[i])
		case ch == '\\' || ch == '"':
			b = append(b, '\\', ch)
		case ch >= 32 && ch < 127:
			b = append(b, ch)
		default:
			b = append(b, '\\', 'x', hex[ch>>4], hex[ch&15])
		}
	}
	return append(b, '"')
}

// monitor answers a client that monitors already with nothing, as Redis does.
func monitor(c *commands.Call, s *session) error {
	if !s.atHome() {
		return commands.ErrMonitorBlocking
	}
	if s.info.monitor.Load() {
		return nil
	}
	c.Out.OK()
	s.info.monitor.Store(true)
	s.srv.monitors.add(s)
	return nil
}

// leave ends what makes the session hear of others, from anywhere, and for good
// if the session has ended.
func (s *session) leave(ended bool) {
	if ended {
		s.leaveTopics()
	} else {
		s.leaveSome(math.MaxInt, false)
	}
	if s.info.monitor.Swap(false) {
		s.srv.monitors.remove(s)
	}
}

// listens says whether the client waits for what comes unasked, which may take
// its time.
func (i *clientInfo) listens() bool { return i.subscribed() || i.monitor.Load() }
