package server

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"firn/commands"
)

var slowlogCommands = []commands.Command{
	{Name: "SLOWLOG", Arity: -2, Summary: "A container for slow log commands", Subs: []commands.Command{
		{Name: "GET", Arity: -2, Run: onSession(slowlogGet), Flags: commands.Admin | commands.Loading, Summary: "Get the slow log's entries"},
		{Name: "LEN", Arity: 2, Run: onSession(slowlogLen), Flags: commands.Admin | commands.Loading, Summary: "Get the slow log's length"},
		{Name: "RESET", Arity: 2, Run: onSession(slowlogReset), Flags: commands.Admin | commands.Loading, Summary: "Clear all entries from the slow log"},
		{Name: "HELP", Arity: 2, Run: onSession(slowlogHelp), Flags: helpFlags, Summary: "Show helpful text about the different subcommands"},
	}},
}

// A slowEntry is one slow command, ready to be shown.
type slowEntry struct {
	id, at, micros int64 // at is unix seconds
	args           []string
	addr, name     string // the client's
}

// slowlog keeps the last slow commands. It may be used from anywhere.
type slowlog struct {
	mu      sync.Mutex
	entries []slowEntry // oldest first
	next    int64       // id; a RESET does not begin anew
}

func newSlowlog() *slowlog { return &slowlog{} }

// add notes a command, and forgets the oldest beyond maxLen.
func (l *slowlog) add(maxLen int64, s *session, c *commands.Call, micros int64) {
	e := slowEntry{
		at: time.Now().Unix(), micros: micros, args: trimArgs(c),
		addr: s.info.peer.addr, name: *s.info.name.Load(),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.id = l.next
	l.next++
	l.entries = append(l.entries, e)
	if over := int64(len(l.entries)) - maxLen; over > 0 {
		clear(l.entries[:over])
		l.entries = l.entries[over:]
	}
}

// last returns the last n entries, the newest first; all if n is negative.
func (l *slowlog) last(n int64) []slowEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := 0
	if n >= 0 && n < int64(len(l.entries)) {
		from = len(l.entries) - int(n)
	}
	found := slices.Clone(l.entries[from:])
	slices.Reverse(found)
	return found
}

func (l *slowlog) length() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

func (l *slowlog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

// How much of a command line is kept, as in Redis' slowlog.h.
const (
	slowArgs     = 32
	slowArgBytes = 128
)

// trimArgs copies what may be shown of a command line.
func trimArgs(c *commands.Call) []string {
	n := min(len(c.Args), slowArgs)
	secret := secretArgs(c)
	args := make([]string, n)
	for i, a := range c.Args[:n] {
		switch {
		case i == n-1 && len(c.Args) > n:
			args[i] = fmt.Sprintf("... (%d more arguments)", len(c.Args)-n+1)
		case slices.Contains(secret, i):
			args[i] = redacted
		case len(a) > slowArgBytes:
			args[i] = fmt.Sprintf("%s... (%d more bytes)", a[:slowArgBytes], len(a)-slowArgBytes)
		default:
			args[i] = string(a)
		}
	}
	return args
}

func slowlogGet(c *commands.Call, s *session) error {
	count := int64(10)
	if len(c.Args) > 3 {
		return subcommandSyntax(c)
	}
	if len(c.Args) == 3 {
		var ok bool
		if count, ok = commands.ParseInt(c.Args[2]); !ok || count < -1 {
			return commands.ErrSlowlogCount
		}
	}
	entries := s.srv.slow.last(count)
	c.Out.Array(len(entries))
	for i := range entries {
		entries[i].reply(c.Out)
	}
	return nil
}

func (e *slowEntry) reply(out *commands.Reply) {
	out.Array(6)
	out.Int(e.id)
	out.Int(e.at)
	out.Int(e.micros)
	out.Array(len(e.args))
	for _, a := range e.args {
		out.BulkString(a)
	}
	out.BulkString(e.addr)
	out.BulkString(e.name)
}

func slowlogLen(c *commands.Call, s *session) error {
	c.Out.Int(int64(s.srv.slow.length()))
	return nil
}

func slowlogReset(c *commands.Call, s *session) error {
	s.srv.slow.reset()
	c.Out.OK()
	return nil
}

func slowlogHelp(c *commands.Call, s *session) error {
	c.Out.Help("SLOWLOG",
		"GET [<count>]",
		"    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
		"    Entries are made of:",
		"    id, timestamp, time in microseconds, arguments array, client IP and port,",
		"    client name",
		"LEN",
		"    Return the length of the slowlog.",
		"RESET",
		"    Reset the slowlog.",
	)
	return nil
}
