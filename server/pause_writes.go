package server

import (
	"firn/commands"
	"firn/server/script"
)

// mayChange says whether a command line can have effects, so that CLIENT PAUSE
// WRITE holds it up.
func (s *session) mayChange(row *commands.Command, args [][]byte) bool {
	if row.Run == nil {
		return false
	}
	if row.Run.Kind().Writes() {
		return true
	}
	switch name := row.FullName(); name {
	case "eval":
		flags, _, err := shebang(string(args[1]))
		return err == nil && flags&scriptNoWrites == 0
	case "evalsha":
		cached := s.srv.scripts.cache.find(args[1])
		return cached == nil || cached.flags&scriptNoWrites == 0
	case "fcall":
		fn := s.srv.functions.load().Find(string(args[1]))
		return fn == nil || fn.Flags&script.NoWrites == 0
	case "exec":
		return s.queueing && s.multi.mayChange(s)
	case "function|load", "function|delete", "function|flush", "function|restore":
		return true
	default:
		return mayReplicate[name]
	}
}

// mayChange says whether some queued command can have effects.
func (t *transaction) mayChange(s *session) (yes bool) {
	t.queue.each(s.srv.table, func(r *request) bool {
		yes = s.mayChange(r.row, r.args)
		return !yes
	})
	return yes
}
