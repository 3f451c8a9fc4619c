package server

import (
	"bytes"
	"slices"

	"firn/commands"
	"firn/server/script"
	"firn/shard"

	"go.uber.org/zap/zapcore"
)

// A scriptHost is what one run of a script reaches of the server. It belongs to
// the goroutine that runs the script.
type scriptHost struct {
	s     *session
	in    commands.Call
	out   commands.Reply // of the command that runs
	value commands.Reply // the script's
	run   script.Run
	reply func(v script.Value) // writes value
	errs  func(text string, counted bool) error

	scriptTurn
}

// A scriptTurn is what is new in each run.
type scriptTurn struct {
	job   *scriptJob
	hold  *shard.Hold // open
	oom   bool        // memory was over the limit when it began
	wrote bool
	locks bool // some key is locked by others

	// At the home: when to leave it, and when to end it, monotonic.
	leaveAt, until int64

	aside   bool
	pause   func() // between slices
	slice   int64  // when the present slice began, monotonic
	spent   int64  // nanoseconds in former slices
	dbs     []int  // that may be written
	running *runningScript
}

func (h *scriptHost) init(s *session) {
	h.s = s
	h.errs = h.failure
	h.reply = func(v script.Value) { script.WriteReply(&h.value, v, h.run.Proto(), h.errs) }
}

// begin readies the host for a run.
func (h *scriptHost) begin(j *scriptJob, oom bool) {
	h.scriptTurn = scriptTurn{job: j, oom: oom}
	h.value.Recycle()
}

// scriptHost returns a host for the job; done says that it is not needed any
// more.
func (s *session) scriptHost(j *scriptJob, oom bool) (h *scriptHost, done func()) {
	d := s.scriptDesk()
	d.used = true
	d.host.begin(j, oom)
	return &d.host, d.done
}

// scriptSlice is for how many nanoseconds a script that runs aside has the
// shards at a time.
const scriptSlice = 100_000

// play runs the job.
func (h *scriptHost) play(c *commands.Call) *script.Failure {
	h.in = *c
	h.in.Out, h.in.InScript = &h.out, true
	if h.aside {
		h.in.Pause = h.rest
	} else {
		h.in.Pause = nil
	}
	h.run = script.Run{Host: h}
	h.value.SetProto(c.Out.Proto())
	return h.job.run(&h.run, h.reply)
}

// failure makes an error reply of an error value.
func (h *scriptHost) failure(text string, counted bool) error {
	err := commands.Error(text)
	if !counted {
		h.s.srv.stats.countErr(err)
	}
	return err
}

// finish gives the client the script's value, or its failure.
func (h *scriptHost) finish(c *commands.Call, f *script.Failure) error {
	if f != nil {
		err := commands.Error(f.Message(h.job.name))
		if f.Counted {
			return countedError{err}
		}
		return err
	}
	if b := h.value.Bytes(); len(b) > 0 && b[0] == '-' {
		return countedError{commands.Error(bytes.TrimRight(b[1:], "\r\n"))}
	}
	c.Out.Append(&h.value)
	return nil
}

// A countedError is one that the statistics know already: a command of the
// script has failed. The script has failed for it, but it is one error.
type countedError struct{ reply commands.Error }

func (e countedError) Error() string { return string(e.reply) }

func (e countedError) Unwrap() error { return e.reply }

// rest lets others have the shards.
func (h *scriptHost) rest() {
	h.spent += h.s.srv.monotonic() - h.slice
	h.pause()
	h.slice = h.s.srv.monotonic()
}

// Call implements script.Host.
func (h *scriptHost) Call(args [][]byte, proto int) ([]byte, error) {
	r := request{args: args}
	r.row, r.err = h.s.srv.table.Resolve(args)
	if err := h.permit(&r); err != nil {
		h.s.srv.stats.refused(r.row, err)
		return nil, err
	}
	if err := h.claim(&r); err != nil {
		return nil, err
	}
	if r.row.Run.Kind().Writes() {
		h.wrote = true
		if h.running != nil {
			h.running.wrote.Store(true)
		}
	}
	h.out.Recycle()
	h.out.SetProto(proto)
	h.s.inScript = true
	_ = h.s.inside(&h.in, h.hold, r) // the error is the reply
	h.s.inScript = false
	if h.aside && h.s.srv.monotonic()-h.slice > scriptSlice {
		h.rest()
	}
	if h.out.Plain() {
		return h.out.Bytes(), nil
	}
	return bytes.Join(h.out.Take(), nil), nil
}

// permit says whether the script may run the command.
func (h *scriptHost) permit(r *request) error {
	switch {
	case r.row == nil || r.row.Run == nil && len(r.args) > 1:
		return commands.ErrScriptUnknown
	case r.err != nil:
		return commands.ErrScriptArity
	case r.row.Flags&commands.NoScript != 0 && !h.s.srv.scriptsMayAll.Load():
		return commands.ErrScriptDenied
	}
	writes := r.row.Run.Kind().Writes()
	if (h.job.ro || h.job.flags&scriptNoWrites != 0) && (writes || mayReplicate[r.row.FullName()]) {
		return commands.ErrScriptWrites
	}
	if h.oom && !h.wrote && h.job.flags&scriptAllowOOM == 0 && r.row.Flags&commands.DenyOOM != 0 {
		return commands.ErrOOM
	}
	return nil
}

// mayReplicate are commands whose handlers are none that write, and which may
// have effects nevertheless.
var mayReplicate = map[string]bool{
	"publish": true, "spublish": true, "pfcount": true, "eval": true, "evalsha": true, "fcall": true,
}

// claim gets the keys of the command for the script, or leaves.
func (h *scriptHost) claim(r *request) error {
	if h.aside && h.tooMuch(r) {
		h.land()
	}
	if !h.aside && !h.locks {
		if single(r.row) {
			r.pos = h.s.srv.shards.Space.Hash(r.args[1])
		}
		return nil
	}
	if single(r.row) {
		r.pos = h.s.srv.shards.Space.Hash(r.args[1])
		return h.have(r.pos)
	}
	var err error
	r.row.Keys.Each(r.args, func(i int) {
		if err == nil {
			err = h.have(h.s.srv.shards.Space.Hash(r.args[i]))
		}
	})
	return err
}

// land makes the script have all shards to its end.
func (h *scriptHost) land() {
	h.spent += h.s.srv.monotonic() - h.slice
	h.slice = h.s.srv.monotonic()
	h.hold.Land()
	h.aside, h.in.Pause, h.locks = false, nil, h.hold.AllWithLocks()
	h.until = h.s.deadline(h.slice)
	h.leaveAt = h.until
}

// have gets one key.
func (h *scriptHost) have(pos uint64) error {
	if h.aside {
		h.hold.Extend(pos)
		return nil
	}
	if l := h.hold.LockOn(pos); l != nil {
		return h.leave(leave{lock: l}, commands.ErrScriptLocked)
	}
	return nil
}

// leave ends the run, to begin again; if the script has written it gets the
// error instead.
func (h *scriptHost) leave(why leave, otherwise error) error {
	if h.wrote || h.s.nest.hold != nil {
		return otherwise
	}
	return script.Stop{Err: why}
}

// tooMuch says whether the command is none for a script that runs in slices, and
// notes that for the next time.
func (h *scriptHost) tooMuch(r *request) bool {
	name := r.row.FullName()
	if shortOnly(r) && !apartFromHome[name] {
		h.job.habits.whole.Store(true)
		return true
	}
	if name == "select" || name == "move" || name == "copy" {
		h.job.habits.roams.Store(true)
		return len(h.dbs) < h.s.srv.shards.Space.Databases()
	}
	return h.in.DB != h.dbs[0] && !slices.Contains(h.dbs, h.in.DB)
}

// apartFromHome are commands about the server that any goroutine may run.
var apartFromHome = map[string]bool{"publish": true, "spublish": true}

// Allowed implements script.Host: there are no users but one, who may all.
func (h *scriptHost) Allowed(args [][]byte) (bool, error) {
	row, err := h.s.srv.table.Resolve(args)
	if row == nil {
		return false, err
	}
	return true, nil
}

// Log implements script.Host.
func (h *scriptHost) Log(level int, line string) {
	h.s.srv.log.Log(scriptLevels[level], line)
}

// scriptLevels are the log levels of scripts. The server's has none between
// debug and notice.
var scriptLevels = [...]zapcore.Level{zapcore.DebugLevel, zapcore.DebugLevel, zapcore.InfoLevel, zapcore.WarnLevel}

// Replicate implements script.Host.
func (h *scriptHost) Replicate(aof, _ bool) { h.hold.Mute(!aof) }

// Interrupt implements script.Host.
func (h *scriptHost) Interrupt() error {
	now := h.s.srv.monotonic()
	if h.running != nil && h.running.killed.Load() {
		return h.job.killed()
	}
	if h.aside {
		if now-h.slice > scriptSlice {
			h.rest()
		}
		return nil
	}
	if now > h.leaveAt && h.leaveAt < h.until && !h.wrote && h.s.nest.hold == nil {
		return leave{}
	}
	if now > h.until {
		return commands.ErrScriptTooLong
	}
	return nil
}
