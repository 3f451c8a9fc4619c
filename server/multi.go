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
	requests []request
	watched  []watchedKey
	marks    map[*mvcc.Mark]int // of watched, with the place of one of its keys
	failed   bool               // a command was refused: EXEC will be
	denyOOM  bool               // some command takes memory
	home     bool               // some command can only run at the home, see shortOnly

	text  []byte   // room for the bytes of arguments to come
	args  [][]byte // room for arguments to come
	bytes int64    // of all arguments
	count int      // of all arguments

	call commands.Call // the command that runs
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
	clear(t.requests)
	clear(t.args[:cap(t.args)])
	*t = transaction{requests: t.requests[:0], text: t.text[:0], args: t.args[:0], watched: t.watched[:0], marks: t.marks}
	if cap(t.requests) > keepQueued {
		t.requests = nil
	}
	if cap(t.watched) > keepQueued {
		t.watched, t.marks = nil, nil
	}
	if cap(t.text) > firstText {
		t.text = nil
	}
	if cap(t.args) > keepQueued {
		t.args = nil
	}
}

const (
	keepQueued = 128     // commands, and arguments, for which a session keeps room
	firstText  = 4 << 10 // bytes for arguments that a transaction begins with
	mostText   = 1 << 20 // bytes for arguments that it takes at a time
	mostArgs   = 64 << 10

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
	t.add(r)
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

func (t *transaction) add(r request) {
	r.args = t.copied(r.args)
	t.requests = append(t.requests, r)
	t.denyOOM = t.denyOOM || r.row.Flags&commands.DenyOOM != 0
	t.home = t.home || shortOnly(&r)
}

// copied returns a copy of the arguments, in memory that many share.
func (t *transaction) copied(args [][]byte) [][]byte {
	n := 0
	for _, a := range args {
		n += len(a)
	}
	t.bytes += int64(n)
	t.count += len(args)
	if len(t.text)+n > cap(t.text) {
		t.text = make([]byte, 0, max(n, min(2*cap(t.text), mostText), firstText))
	}
	if len(t.args)+len(args) > cap(t.args) {
		t.args = make([][]byte, 0, max(len(args), min(2*cap(t.args), mostArgs), keepQueued))
	}
	first := len(t.args)
	for _, a := range args {
		at := len(t.text)
		t.text = append(t.text, a...)
		t.args = append(t.args, t.text[at:len(t.text):len(t.text)])
	}
	return t.args[first:len(t.args):len(t.args)]
}

// memory is about what the queue takes, in bytes.
func (t *transaction) memory() int64 {
	const perCommand, perArg = 72, 24
	return t.bytes + int64(len(t.requests))*perCommand + int64(t.count)*perArg + int64(len(t.watched))*watchSize
}

// queued returns how many commands are queued, -1 outside of a transaction, how
// long their arguments are, and what all of it takes in memory.
func (s *session) queuedUp() (n int, bytes, memory int64) {
	if s.multi == nil {
		return -1, 0, 0
	}
	n = -1
	if s.queueing {
		n = len(s.multi.requests)
	}
	return n, s.multi.bytes, s.multi.memory()
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
