package server

import (
	"errors"

	"firn/commands"
	"firn/server/script"
	"firn/shard"
)

// How a script runs.
//
// It may touch any key, so it runs at the home with all shards held, as one
// transaction, when its runs were short lately: nobody notices. A script that was
// long, or that nobody knows yet, runs aside instead, as one long write in slices
// (shard.Set.Transact): the keys that it has declared are locked at once, others
// when it comes to them, and in the pauses everybody else has the shards. It has
// happened when it ends.
//
// A script that was short and takes long at the home is left, if it has not
// written, and run again aside. If it has written it goes on, and others wait:
// what it has done can't be undone, and must not be seen by half. It is ended
// with an error when it takes longer than busy-reply-threshold; what it has
// written stays. So is one that looks at the whole keyspace or at the server
// (KEYS, SCAN, CONFIG), which can't run in slices: aside, it has everything from
// there to its end.
//
// There is one long write at a time. A script that nobody knows yet does not wait
// for it but takes its chance at the home.

// A scriptJob is one run of a script or function.
type scriptJob struct {
	name   string // the SHA or the function's name, for messages
	eval   bool   // false: a function
	flags  scriptFlags
	ro     bool // by EVAL_RO, EVALSHA_RO or FCALL_RO
	keys   [][]byte
	args   [][]byte // of a function: the command line, for FUNCTION STATS
	habits *scriptHabits
	// run runs it and has its value replied to, or returns why it failed. It may
	// be called again if the failure's Err is a leave.
	run func(run *script.Run, reply func(v script.Value)) *script.Failure
}

// A leave is why a script was left at the home, to run again.
type leave struct {
	lock *shard.Lock // wait for it first; nil: run aside
}

func (leave) Error() string { return "ERR the script is run again" }

// homeBudget is for how many nanoseconds a script may run at the home before it
// is left.
const homeBudget = 3_000_000

// allowScript says whether the job may run at all.
func (s *session) allowScript(j *scriptJob, oom bool) error {
	if j.flags&scriptCompat != 0 {
		return nil
	}
	if j.ro && j.flags&scriptNoWrites == 0 {
		return commands.ErrReadOnlyScript
	}
	if oom && j.flags&(scriptAllowOOM|scriptNoWrites) == 0 {
		return commands.ErrScriptOOM
	}
	return nil
}

// runScript runs a job where it is best run, or inside the transaction that the
// session is in.
func (s *session) runScript(c *commands.Call, j *scriptJob) error {
	oom := s.srv.shards.Over() > 0
	if err := s.allowScript(j, oom); err != nil {
		return err
	}
	h, done := s.scriptHost(j, oom)
	defer done()
	switch {
	case s.nest.hold != nil:
		h.hold, h.locks = s.nest.hold, s.nest.hold.AllWithLocks()
		h.until = s.deadline(s.srv.monotonic())
		return h.finish(c, h.play(c))
	case j.habits.isLong() && !j.habits.whole.Load() && !(j.habits.nanos.Load() == 0 && s.srv.shards.LongBusy()):
		s.aside(func(c *commands.Call) error {
			return c.Guard(func() error { return s.runScriptAside(c, j) })
		})
		return nil
	}
	return s.runScriptHere(c, j, h)
}

// deadline is when a script that others wait for is ended, monotonic.
func (s *session) deadline(now int64) int64 {
	limit := s.srv.config().BusyReplyThreshold
	if limit <= 0 {
		limit = maxHold
	}
	return now + min(max(limit, minHold), maxHold)*1e6
}

// A script may keep everybody waiting for so many ms, whatever the configuration
// says: a slow moment of the machine should end none, nor one stop the server.
const (
	minHold = 1000
	maxHold = 5000
)

// runScriptHere runs a job at the home.
func (s *session) runScriptHere(c *commands.Call, j *scriptJob, h *scriptHost) error {
	hold := s.home.hold()
	hold.Reset()
	hold.WantAll()
	for _, k := range j.keys {
		hold.Want(k)
	}
	if l := hold.Take(false); l != nil {
		return s.wait(l)
	}
	h.hold, h.locks = hold, hold.AllWithLocks()
	start := s.srv.monotonic()
	h.leaveAt, h.until = start+homeBudget, s.deadline(start)
	if j.habits.whole.Load() {
		h.leaveAt = h.until
	}
	hold.Open()
	v := h.play(c)
	hold.Close(c.Now)
	j.habits.took(s.srv.monotonic() - start)
	var again leave
	if v != nil && errors.As(v.Err, &again) {
		return s.runScriptAgain(c, j, again)
	}
	return h.finish(c, v)
}

// runScriptAgain runs a job that was left, which has written nothing.
func (s *session) runScriptAgain(c *commands.Call, j *scriptJob, why leave) error {
	c.Begin(c.Row, c.Args)
	if why.lock != nil {
		return s.wait(why.lock)
	}
	s.aside(func(c *commands.Call) error {
		return c.Guard(func() error { return s.runScriptAside(c, j) })
	})
	return nil
}

// runScriptAside runs a job as one long write. It must be called from a task of
// the heavy pool.
func (s *session) runScriptAside(c *commands.Call, j *scriptJob) error {
	h := &scriptHost{} // the session's may still be in use at the home
	h.init(s)
	h.begin(j, s.srv.shards.Over() > 0)
	h.aside = true
	if err := s.allowScript(j, h.oom); err != nil {
		return err
	}
	c.Out.Stream(nil)
	for {
		failure := s.transactScript(c, h)
		var again leave
		if failure == nil || !errors.As(failure.Err, &again) {
			return h.finish(c, failure)
		}
		gone := make(chan struct{})
		again.lock.Wait(func() { close(gone) })
		s.srv.shards.Heavy.Block(func() { <-gone })
		spent := h.spent
		h.begin(j, h.oom)
		h.aside, h.spent = true, spent
	}
}

// transactScript runs the host's job once, in slices.
func (s *session) transactScript(c *commands.Call, h *scriptHost) (failure *script.Failure) {
	set, j := s.srv.shards, h.job
	dbs := []int{c.DB}
	if j.habits.roams.Load() {
		dbs = dbs[:0]
		for db := range set.Space.Databases() {
			dbs = append(dbs, db)
		}
	}
	h.dbs = dbs
	r := s.srv.scripts.running.enter(j)
	defer s.srv.scripts.running.leave(r)
	h.running = r
	set.Transact(shard.Transaction{
		Want: func(hold *shard.Hold) {
			hold.WantAll()
			for _, k := range j.keys {
				hold.Want(k)
			}
		},
		DBs: dbs,
		Run: func(hold *shard.Hold, pause func()) {
			h.hold, h.pause = hold, pause
			h.slice = s.srv.monotonic()
			failure = h.play(c)
			h.spent += s.srv.monotonic() - h.slice
		},
	})
	j.habits.took(h.spent)
	return failure
}
