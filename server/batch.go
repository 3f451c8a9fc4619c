package server

import (
	"bytes"

	"firn/commands"
	"firn/mvcc"
)

const (
	// batchMax is how many commands of a pipeline are read ahead.
	batchMax = 64
	// batchArgs is the number of arguments from which a command ends its batch.
	batchArgs = 32
	// warmMax is about how many commands of several clients are warmed together.
	warmMax = 64
)

// A request is a command line that has been looked up.
type request struct {
	args [][]byte
	row  *commands.Command // nil for an unknown command
	err  error             // why it can't be run at all
	pos  uint64            // of its key, if it has one key, which is the first argument
	warm int               // which of the home's warmed places is the key's
}

// single says whether all that the row touches is the key in its first argument.
func single(row *commands.Command) bool {
	k := &row.Keys
	return k.First == 1 && k.Last == 1 && k.Find == nil
}

// look looks a command line up.
func (srv *Server) look(args [][]byte) request {
	r := request{args: args}
	r.row, r.err = srv.table.Resolve(args)
	srv.place(&r)
	return r
}

func (srv *Server) place(r *request) {
	if r.err == nil && single(r.row) {
		r.pos = srv.shards.Space.Hash(r.args[1])
	}
}

// lookLike is look for a command line behind another one, which most often names
// the same command.
func (srv *Server) lookLike(args [][]byte, last *request) request {
	if last.err != nil || !last.row.Fits(args) || !bytes.Equal(args[0], last.args[0]) {
		return srv.look(args)
	}
	r := request{args: args, row: last.row}
	if single(r.row) && bytes.Equal(args[1], last.args[1]) {
		r.pos = last.pos
	} else {
		srv.place(&r)
	}
	return r
}

// A batch is the commands of a session that have been read ahead. What their
// keys need is fetched into the caches together (mvcc.Warmer), which saves
// about half of the time of their lookups. A command of many keys does that for
// itself when it runs (shard.Hold.WarmHeld): with the keys of all such commands
// of a batch, the first would be out of the caches again before its turn.
type batch struct {
	requests []request
	next     int      // the first that was not run
	argv     [][]byte // the arguments of all, but of the last if they are many
	err      error    // what ends the connection after them
}

func (b *batch) empty() bool { return b.next == len(b.requests) && b.err == nil }

// gather reads ahead what has arrived, if nothing is left of the last time. The
// arguments stay in the reader's buffer, which is not filled before they are
// run. A client that has not authenticated gets one command at a time, because
// what it may send depends on the command before.
func (s *session) gather() {
	b := &s.batch
	if !b.empty() {
		return
	}
	b.requests, b.next, b.argv = b.requests[:0], 0, b.argv[:0]
	s.limits(s.srv.config())
	most := batchMax
	if s.unknown() {
		most = 1
	}
	for len(b.requests) < most {
		args, err := s.in.Next(&s.lim)
		if err != nil {
			b.err = err
			return
		}
		if args == nil {
			return
		}
		if !s.admit(args) {
			return
		}
	}
}

// admit looks a command line up and adds it; false if it ends the batch.
func (s *session) admit(args [][]byte) bool {
	b := &s.batch
	last := len(args) >= batchArgs
	if !last {
		n := len(b.argv)
		b.argv = append(b.argv, args...)
		args = b.argv[n:len(b.argv):len(b.argv)]
	}
	if n := len(b.requests); n > 0 {
		b.requests = append(b.requests, s.srv.lookLike(args, &b.requests[n-1]))
	} else {
		b.requests = append(b.requests, s.srv.look(args))
	}
	return !last
}

// keys adds the keys that the batch will look up.
func (s *session) keys(to []mvcc.Place) []mvcc.Place {
	for i := range s.batch.requests[s.batch.next:] {
		r := &s.batch.requests[s.batch.next+i]
		if r.err == nil && single(r.row) {
			to = r.key(to, s.db)
		}
	}
	return to
}

// key adds the key of the request, or has it share the place of the request
// before it: a pipeline often keeps to one key.
func (r *request) key(to []mvcc.Place, db int) []mvcc.Place {
	p := mvcc.Place{DB: db, Pos: r.pos}
	if m := r.row.Member; m > 0 && m < len(r.args) {
		p.Member = r.args[m]
	} else if n := len(to); n > 0 && to[n-1].Pos == p.Pos && to[n-1].DB == db {
		r.warm = n - 1
		return to
	}
	r.warm = len(to)
	return append(to, p)
}

// warm fetches what the batches of some sessions of one home will need. A single
// command would gain nothing.
func warm(h home, sessions ...*session) {
	places, n := h.scratch(), 0
	*places = (*places)[:0]
	for _, s := range sessions {
		*places = s.keys(*places)
		n += len(s.batch.requests) - s.batch.next
	}
	if n < 2 {
		*places = (*places)[:0]
	}
	h.hold().Warm(*places)
}
