package server

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"firn/commands"
)

// pauseMode is what CLIENT PAUSE holds up; the larger one wins.
type pauseMode int32

const (
	pauseOff pauseMode = iota
	pauseWrites
	pauseAll
)

// A pause makes sessions wait in line with their next command. Nothing expires
// or is evicted meanwhile, so that the keyspace stays as it is.
type pause struct {
	srv  *Server
	mode atomic.Int32 // pauseMode; read before every command

	mu      sync.Mutex
	end     int64 // unix ms
	timer   *time.Timer
	waiting map[*session]struct{}
}

func newPause(srv *Server) *pause {
	return &pause{srv: srv, waiting: map[*session]struct{}{}}
}

// holds says whether the session's command has to wait.
func (p *pause) holds(s *session, row *commands.Command, args [][]byte) bool {
	switch pauseMode(p.mode.Load()) {
	case pauseAll:
		return true
	case pauseWrites:
		return s.mayChange(row, args)
	}
	return false
}

// on says whether there is a pause.
func (p *pause) on() bool { return p.mode.Load() != int32(pauseOff) }

// begin pauses until end (unix ms); a pause that is longer or wider stays so.
func (p *pause) begin(mode pauseMode, now, end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end = max(p.end, end)
	if p.end <= now && !p.on() {
		p.end = 0
		return
	}
	p.mode.Store(max(p.mode.Load(), int32(mode)))
	p.srv.shards.SetStill(true)
	p.arm(now)
}

// arm sets the timer for the end, in steps that a Duration can hold.
func (p *pause) arm(now int64) {
	if p.timer != nil {
		p.timer.Stop()
	}
	const most = int64(24 * time.Hour / time.Millisecond)
	p.timer = time.AfterFunc(time.Duration(min(max(p.end-now, 0), most))*time.Millisecond, p.expire)
}

// expire ends the pause if its time has come.
func (p *pause) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on() {
		return
	}
	if now := time.Now().UnixMilli(); now < p.end {
		p.arm(now)
		return
	}
	p.finish()
}

// stop ends the pause now.
func (p *pause) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish()
}

// finish lets those who wait go on; p.mu is held.
func (p *pause) finish() {
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mode.Store(int32(pauseOff))
	p.end = 0
	p.srv.shards.SetStill(false)
	for s := range p.waiting {
		s.home.post(s.retry)
	}
	clear(p.waiting)
}

// line puts a session in line, unless the pause is over by now.
func (p *pause) line(s *session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on() {
		return false
	}
	p.waiting[s] = struct{}{}
	return true
}

// leave takes a session that is gone out of the line.
func (p *pause) leave(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, s)
}

// length is how many sessions wait.
func (p *pause) length() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting)
}

// holdBack parks the command line if the pause holds the row up; the session
// waits and its home goes on with others.
func (s *session) holdBack(row *commands.Command, args [][]byte) bool {
	p := s.srv.pause
	if !p.holds(s, row, args) || !p.line(s) {
		return false
	}
	s.waiting, s.parked = true, args
	s.info.held.Store(true)
	return true
}

func clientPause(c *commands.Call, s *session) error {
	mode := pauseAll
	switch {
	case len(c.Args) > 4:
		return subcommandSyntax(c)
	case len(c.Args) == 4 && c.Is(3, "write"):
		mode = pauseWrites
	case len(c.Args) == 4 && !c.Is(3, "all"):
		return commands.ErrPauseMode
	}
	length, ok := commands.ParseInt(c.Args[2])
	switch {
	case !ok:
		return commands.ErrTimeout
	case length < 0:
		return commands.ErrTimeoutNeg
	case length > math.MaxInt64-c.Now: // as from Redis 7.2 on; 7.0 says OK and does nothing
		return commands.ErrTimeoutRange
	}
	s.srv.pause.begin(mode, c.Now, c.Now+length)
	c.Out.OK()
	return nil
}

func clientUnpause(c *commands.Call, s *session) error {
	s.srv.pause.stop()
	c.Out.OK()
	return nil
}
