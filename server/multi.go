package server

import (
	"strings"

	"firn/commands"
	"firn/mvcc"
	"firn/server/resp"
)

const transactionFlags = commands.Loading | commands.NoScript

var transactionCommands = []commands.Command{
	{Name: "MULTI", Arity: 1, Run: onSession(beginMulti), Flags: transactionFlags, Summary: "Mark the start of a transaction block"},
	{Name: "EXEC", Arity: 1, Run: onSession(execute), Flags: transactionFlags | commands.SkipSlow, Summary: "Execute all commands issued after MULTI"},
	{Name: "DISCARD", Arity: 1, Run: onSession(discard), Flags: transactionFlags, Summary: "Discard all commands issued after MULTI"},
	{Name: "WATCH", Arity: -2, Keys: commands.Keys{First: 1, Last: -1, Step: 1}, Run: onSession(watch), Flags: transactionFlags, Summary: "Watch the given keys to determine execution of the MULTI/EXEC block"},
	{Name: "UNWATCH", Arity: 1, Run: onSession(unwatch), Flags: transactionFlags, Summary: "Forget about all watched keys"},
}

// A transaction is what a session has queued since MULTI, and what it watches.
// It is the session's until EXEC runs it aside: then it is that task's.
type transaction struct {
	queue   lineQueue
	watched []watchedKey
	marks   map[*mvcc.Mark]int // of watched, with the place of one of its keys
	failed  bool               // a command was refused: EXEC will be
	denyOOM bool               // some command takes memory
	home    bool               // some command can only run at the home, see shortOnly
	call    commands.Call      // the command that runs
}

func beginMulti(c *commands.Call, s *session) error {
	if s.queueing {
		return commands.ErrMultiNested
	}
	s.queueing = true
	s.transaction()
	c.Out.OK()
	return nil
}

func discard(c *commands.Call, s *session) error {
	if !s.queueing {
		return commands.ErrDiscardNoMulti
	}
	s.discard()
	c.Out.OK()
	return nil
}

// transaction returns the session's transaction, made at its first use.
func (s *session) transaction() *transaction {
	if s.multi == nil {
		s.multi = &transaction{}
	}
	return s.multi
}

// discard forgets what is queued and watched.
func (s *session) discard() {
	if s.multi != nil {
		s.multi.unwatch(s.srv)
		s.clear()
	}
}

// abandon is discard of a session that is gone, of which some command may still
// hold shards.
func (s *session) abandon() {
	if t := s.multi; t != nil {
		s.multi, s.queueing = nil, false
		s.srv.shards.Heavy.Go(func() { t.unwatch(s.srv) })
	}
}

// clear ends the transaction, which watches nothing any more. Its memory is used
// for the next one unless it has grown large.
func (s *session) clear() {
	t := s.multi
	if s.queueing = false; t == nil { // the session has ended meanwhile
		return
	}
	t.queue.reset()
	*t = transaction{queue: t.queue, watched: t.watched[:0], marks: t.marks}
	if cap(t.watched) > keepWatched {
		t.watched, t.marks = nil, nil
	}
}

const (
	keepWatched = 128 // watched keys for which a session keeps room

	// queueing is about what it takes to queue a command, in nanoseconds.
	queueing = 300
)

// atOnce says whether the row runs in a transaction instead of being queued.
func atOnce(row *commands.Command) bool {
	switch row.FullName() {
	case "multi", "exec", "discard", "watch", "quit", "reset":
		return true
	}
	return false
}

// enlist keeps a command for EXEC, and says whether it did.
func (s *session) enlist(r request) bool {
	if atOnce(r.row) {
		return false
	}
	t := s.multi
	t.add(&r)
	s.spent += queueing
	s.lastEnd = 0 // it is no part of the next command's time
	mark := s.out.Mark()
	s.out.Simple("QUEUED")
	s.silence(mark)
	if t.memory()+int64(s.in.Buffered()) > s.srv.config().ClientQueryBufferLimit {
		s.refuse(resp.ErrBufferLimit)
	}
	return true
}

func (t *transaction) add(r *request) {
	t.queue.add(r)
	t.denyOOM = t.denyOOM || r.row.Flags&commands.DenyOOM != 0
	t.home = t.home || shortOnly(r)
}

// memory is about what the transaction takes, in bytes.
func (t *transaction) memory() int64 { return t.queue.room + int64(len(t.watched))*watchSize }

// queuedUp returns how many commands are queued, -1 outside of a transaction, how
// long their arguments are, and what all of it takes in memory.
func (s *session) queuedUp() (n int, bytes, memory int64) {
	if s.multi == nil {
		return -1, 0, 0
	}
	n = -1
	if s.queueing {
		n = s.multi.queue.n
	}
	return n, s.multi.queue.bytes, s.multi.memory()
}

// aborts notes that a command was refused: if others are queued, EXEC will be
// too. The error is EXEC's own if that is what was refused, where Redis leaves out
// the code of an error that has none but the usual one.
func (s *session) aborts(row *commands.Command, err error) error {
	if s.queueing {
		s.multi.failed = true
	}
	if row == nil || row.FullName() != "exec" {
		return err
	}
	s.discard()
	return commands.ErrExecAborted(commands.Error(strings.TrimPrefix(err.Error(), "ERR ")))
}

// deniesOOM says whether the row is refused while memory is over the limit. A
// queue takes memory whatever is queued.
func (s *session) deniesOOM(row *commands.Command) bool {
	if s.queueing {
		if row.FullName() == "exec" {
			return s.multi.denyOOM
		}
		if !atOnce(row) || row.FullName() == "watch" || row.FullName() == "multi" {
			return true
		}
	}
	return row.Flags&commands.DenyOOM != 0
}
