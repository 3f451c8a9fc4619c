package server

import (
	"errors"

	"firn/commands"
	"firn/mvcc"
	"firn/server/config"
	"firn/server/resp"
	"firn/shard"

	"go.uber.org/zap"
)

// A home is where a session's events run, one at a time.
type home interface {
	// post makes f run at the home soon; callable from any goroutine.
	post(f func())
	// answer is post for the end of a wait: f runs before the replies of the
	// home's present turn are sent, so that who is served by a push has his reply
	// before who has pushed.
	answer(f func())
	// clock returns the time of the present batch.
	clock() (unixMicro int64)
	// hold returns the home's Hold.
	hold() *shard.Hold
	// scratch returns memory for the keys of a batch.
	scratch() *[]mvcc.Place
	// later makes f run at the home after others have had their turn. False: no
	// other session lives there, and f is not run.
	later(f func()) bool
	// mail takes a letter for sessions that live there, and says whether the
	// home is behind; callable from any goroutine, and it never waits.
	mail(l letter) (behind bool)
	// readMail gives the letters to their sessions, whose clients get them at
	// the end of the turn. At the home only.
	readMail()
}

// A transport is the socket side of a session, used at its home only.
type transport interface {
	// flush writes what is pending as far as the peer takes it.
	flush()
	// resume goes on reading after the session was waiting.
	resume()
	// close ends the connection.
	close()
}

// Unread replies make a session stop running further commands until the client
// has read some: outMost bytes of them, and outPause when those of all clients
// take more than outBudget. (Some clients send all of a long pipeline before they
// read, and would wait for the server for ever as it waits for them.)
const (
	outPause  = 1 << 20
	outMost   = 64 << 20
	outBudget = 256 << 20
)

// turn is for how many nanoseconds a session runs commands before others of its
// home have their turn.
const turn = 1_000_000

// A session is one client connection. It is fed bytes and appends replies; it
// never touches a socket.
type session struct {
	srv     *Server
	home    home
	peer    transport
	in      resp.Reader
	lim     resp.Limits
	call    commands.Call
	lastEnd int64 // when the last command of this batch ended, 0: there was none
	batch   batch
	tally   tally // of the commands that ran and are not counted yet
	out     commands.Reply

	queue   [][]byte // replies that the socket has not taken yet, after flushing out
	queued  int      // bytes in queue
	shared  int      // of these, at most so many are the keyspace's own
	foreign int      // bytes that out keeps and that are not the keyspace's

	db         int
	authed     bool
	noTouch    bool
	reply      replyMode
	yielded    bool         // others have their turn
	stalled    bool         // process stopped because the client has to read first
	spent      int64        // nanoseconds of commands in this turn
	waiting    bool         // a command runs aside, or waits in line
	script     *scriptDesk  // made by the first script
	nest       nest         // the command of a transaction that runs
	inScript   bool         // a script runs it
	series     *series      // of the commands of a transaction; nil: each is counted by itself
	queueing   bool         // between MULTI and EXEC
	multi      *transaction // what is queued and watched; nil: nothing ever was
	parked     [][]byte     // the command line that waits in line
	blocked    *blocked     // the command that waits for a key
	stay       bool         // the command must not run aside: it found nothing there
	flow       *flow        // streaming of the command that runs aside
	closing    bool         // close once the pending replies are out
	unasked    bool         // what the command wrote is no reply, but a message
	told       bool         // letters have come in this turn
	kept       []letter     // those that have to wait for the end of a command
	keptSize   int
	behind     home // what the session waits for before it publishes more
	subs       subscriptions
	closed     bool
	peakSince  int64 // when info.peak was lowered last, unix ms
	softSince  int64 // when the output went over its soft limit, unix ms
	info       clientInfo
	lastActive int64 // unix ms
}

// replyMode is what CLIENT REPLY has set.
type replyMode byte

const (
	replyOn replyMode = iota
	replyOff
	replySkipNext // CLIENT REPLY SKIP itself: the next command goes unanswered
	replySkip     // this command goes unanswered
)

// newSession returns a session for a connection that was accepted.
func (srv *Server) newSession(h home, t transport, peer peerInfo) *session {
	s := &session{srv: srv, home: h, peer: t}
	s.call = commands.Call{Out: &s.out, Table: srv.table, Rand: srv.rand, CanWait: true}
	s.authed = srv.config().RequirePass == ""
	s.info.init(srv, s, peer)
	s.subs.count = &s.info.topics
	s.lastActive = s.info.created.UnixMilli()
	s.limits(srv.config())
	return s
}

// limits takes over what the configuration says about requests.
func (s *session) limits(c *config.Config) {
	s.lim = resp.Limits{MaxBulk: c.ProtoMaxBulkLen, MaxBuffer: c.ClientQueryBufferLimit, Unauthenticated: s.unknown()}
	s.call.MaxBulk = c.ProtoMaxBulkLen
	s.call.MaxSparse = c.HLLSparseMaxBytes
	s.call.Compress = c.RDBCompression
}

// process runs the commands that have arrived, until bytes are missing, a
// command has gone aside, or the client should read first.
func (s *session) process() {
	s.stalled = false
	now := s.home.clock()
	s.call.Micros, s.call.Now = now, now/1000
	s.lastActive = s.call.Now
	s.spent, s.lastEnd = 0, 0
	for !s.waiting && !s.closing && !s.closed && !s.info.killed.Load() {
		if s.spent > turn && s.yield() {
			break
		}
		if s.out.Len() > outPause || s.full() {
			s.peer.flush()
			s.lastEnd = 0
			if s.stalled = s.full(); s.stalled || s.yield() {
				break
			}
		}
		if s.batch.next == len(s.batch.requests) && !s.refill() {
			break
		}
		r := s.batch.requests[s.batch.next]
		s.batch.next++
		s.dispatch(r)
	}
	s.tally.add(s.srv.stats)
	s.checkOutput()
}

// advance runs what has arrived and writes what the client takes. If that makes
// the room that process missed, nobody else will wake the session.
func (s *session) advance() {
	s.process()
	s.conclude()
}

// conclude sends the replies of what was run.
func (s *session) conclude() {
	s.peer.flush()
	if s.stalled && !s.full() {
		s.yield()
	}
	s.info.update(s)
}

// refill reads the next batch; false if nothing is left to run.
func (s *session) refill() bool {
	if s.batch.err != nil {
		s.refuse(s.batch.err)
		return false
	}
	s.gather()
	switch n := len(s.batch.requests); {
	case n == 0 && s.batch.err != nil:
		s.refuse(s.batch.err)
		return false
	case n > 1:
		warm(s.home, s)
	}
	return len(s.batch.requests) > 0
}

// paused says whether there is something to wait for before more of the
// client's commands run.
func (s *session) paused() bool {
	return s.waiting || s.yielded || s.full() || s.batch.next < len(s.batch.requests)
}

// full says whether the client has to read before more of its commands run.
func (s *session) full() bool {
	return s.queued > outPause && (s.queued > outMost || s.srv.clients.memory.Load() > outBudget)
}

// yield puts the rest of what has arrived off until others have had their turn.
func (s *session) yield() bool {
	if s.closed {
		return true
	}
	s.spent = 0
	again := func() {
		if s.yielded = false; !s.closed {
			s.goOn()
		}
	}
	if b := s.behind; b != nil {
		s.behind, s.yielded = nil, true
		b.post(func() { s.home.post(again) })
		return true
	}
	s.yielded = s.home.later(again)
	return s.yielded
}

// refuse ends the session for a request that can't be read.
func (s *session) refuse(err error) {
	var p resp.ProtocolError
	if errors.As(err, &p) {
		mark := s.out.Mark()
		s.out.Error(errors.New(p.Error()))
		s.silence(mark)
		s.srv.stats.countError("ERR")
	} else {
		s.srv.stats.queryBufferClosed.Add(1)
	}
	s.srv.log.Debug("client closed", zap.Int64("id", s.info.id), zap.Error(err))
	s.closing = true
}

// pending returns whether anything is to be written.
func (s *session) pending() bool { return s.queued > 0 || s.out.Len() > 0 }

// collect moves the batch's replies behind the queue.
func (s *session) collect() {
	if s.out.Len() == 0 {
		return
	}
	s.shared += s.out.Len() - len(s.out.Bytes()) - s.foreign
	s.foreign = 0
	for _, p := range s.out.Take() {
		s.enqueue(p)
	}
}

func (s *session) enqueue(p []byte) {
	s.queue = append(s.queue, p)
	s.queued += len(p)
}

// wrote takes n bytes that the socket accepted off the queue.
func (s *session) wrote(n int) {
	s.queued -= n
	s.srv.stats.netOut.Add(int64(n))
	for n > 0 {
		if n < len(s.queue[0]) {
			s.queue[0] = s.queue[0][n:]
			break
		}
		n -= len(s.queue[0])
		s.queue[0] = nil
		s.queue = s.queue[1:]
	}
	s.shared = min(s.shared, s.queued)
	if len(s.queue) == 0 {
		s.queue = nil
	}
	if s.flow != nil {
		s.flow.drained(s.queued)
	}
}

// unauthOutput is how many bytes of unread replies a client may pile up that has
// not said who it is (CVE-2025-21605).
const unauthOutput = 1024

// checkOutput ends the session if its unread replies are over a limit.
func (s *session) checkOutput() {
	n := int64(s.out.Len() + s.queued)
	if n > s.info.peak.Load() {
		s.info.peak.Store(n)
	}
	if s.flow != nil {
		n = max(n, s.flow.total) + int64(s.keptSize)
	}
	if n < unauthOutput {
		s.softSince = 0
		return
	}
	l := s.srv.config().OutputLimits[s.info.class()]
	over := l.Hard > 0 && n > l.Hard
	switch {
	case l.Soft == 0 || n <= l.Soft:
		s.softSince = 0
	case s.softSince == 0:
		s.softSince = s.call.Now
	default:
		over = over || s.call.Now-s.softSince > l.SoftSeconds*1000
	}
	if s.unknown() && n > unauthOutput && s.queued > 0 {
		over = true
	}
	if over {
		s.srv.stats.outputClosed.Add(1)
		s.srv.log.Warn("Client scheduled to be closed ASAP for overcoming of output buffer limits.", zap.Int64("id", s.info.id))
		s.peer.close()
	}
}

// ended is called once by the front end when the connection is gone.
func (s *session) ended() {
	s.closed = true
	if s.flow != nil {
		s.flow.abort()
	}
	if s.info.held.Load() {
		s.srv.pause.leave(s)
	}
	s.leave(true)
	s.quitWaiting()
	s.queue, s.queued, s.shared = nil, 0, 0
	s.kept, s.keptSize = nil, 0
	s.abandon()
	s.out.Reset()
	s.info.update(s)
	s.srv.clients.remove(s)
}
