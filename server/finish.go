package server

import (
	"errors"
	"strings"

	"firn/commands"
	"firn/shard"

	"go.uber.org/zap"
)

// permit says whether the client may run the row now.
func (s *session) permit(row *commands.Command) error {
	if s.unknown() && row.Flags&commands.NoAuth == 0 {
		return commands.ErrNoAuth
	}
	if s.queueing && row.Flags&commands.NoMulti != 0 {
		return commands.ErrNotInMulti
	}
	if s.srv.shards.Over() > 0 {
		if err := s.makeRoom(row); err != nil {
			return err
		}
	}
	if s.subs.next > 0 {
		return s.permitSubscriber(row)
	}
	return nil
}

// makeRoom evicts what is over the memory limit; a command that takes memory is
// refused if nothing can be.
func (s *session) makeRoom(row *commands.Command) error {
	if s.srv.shards.MakeRoom(s.call.Now) == shard.RoomNone && s.deniesOOM(row) {
		return commands.ErrOOM
	}
	return nil
}

// refusal is about what it takes to refuse a command, in nanoseconds.
const refusal = 1000

// reject answers a command that is not run.
func (s *session) reject(row *commands.Command, args [][]byte, err error) {
	if row == nil && smuggled(args[0]) {
		s.srv.log.Warn("Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to Redis. This is likely due to an attacker attempting to use Cross Protocol Scripting to compromise your Redis instance. Connection aborted.",
			zap.String("client", s.info.peer.addr))
		s.peer.close()
		return
	}
	err = s.aborts(row, err)
	mark := s.out.Mark()
	s.spent += refusal
	s.out.Error(err)
	if !probes(row, args) {
		s.srv.stats.refused(row, err)
	}
	s.silence(mark)
}

// probes says whether the command is what client libraries try at every
// connect, prepared for a refusal: to count it as an error would raise alarms.
func probes(row *commands.Command, args [][]byte) bool {
	return row != nil && row.FullName() == "client" && len(args) > 1 && strings.EqualFold(string(args[1]), "maint_notifications")
}

// smuggled says whether the command is the start of an HTTP request that a
// browser was made to send here.
func smuggled(name []byte) bool {
	return strings.EqualFold(string(name), "post") || strings.EqualFold(string(name), "host:")
}

// start is when the next command begins: where the one before it in the same
// batch ended, which saves looking at the clock.
func (s *session) start() int64 {
	if s.lastEnd == 0 {
		s.lastEnd = s.srv.monotonic()
	}
	return s.lastEnd
}

// finish accounts for a command whose reply is in.
func (s *session) finish(c *commands.Call, start int64, mark int, err error) {
	s.lastEnd = s.srv.monotonic()
	nanos := s.lastEnd - start
	s.spent += nanos
	nanos = max(nanos-s.home.hold().Spent(), 0) // to serve others is no part of it
	s.tally.ran(s.srv.stats, c.Row, nanos, err)
	if row := int32(c.Row.Index()); s.info.lastRow.Load() != row {
		s.info.lastRow.Store(row)
	}
	if err != nil {
		s.srv.noteFault(err)
	}
	s.srv.observe(s, c, nanos)
	if s.srv.monitors.any() {
		s.shown(c, s.db)
	}
	s.silence(mark)
}

// noteFault logs a panic in a command.
func (srv *Server) noteFault(err error) {
	var fault *commands.Fault
	if errors.As(err, &fault) {
		srv.stats.unexpectedErrors.Add(1)
		srv.log.Error("internal error in a command", zap.String("command", fault.Command), zap.Any("panic", fault.Value), zap.ByteString("stack", fault.Stack))
	}
}

// silence cuts a reply off that CLIENT REPLY does not want, and steps on after
// a SKIP.
func (s *session) silence(mark int) {
	if s.reply != replyOn && !s.unasked {
		s.out.Truncate(mark)
	}
	s.unasked = false
	switch s.reply {
	case replySkipNext:
		s.reply = replySkip
	case replySkip:
		s.reply = replyOn
	}
}
