package server

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"firn/commands"
)

// A runningScript is one that runs aside.
type runningScript struct {
	job    *scriptJob
	line   []string // the command line of a function
	began  time.Time
	wrote  atomic.Bool
	killed atomic.Bool
}

// runningScripts are those that run aside. Any goroutine may use it.
type runningScripts struct {
	mu      sync.Mutex
	all     []*runningScript
	stopped bool
}

func (r *runningScripts) enter(j *scriptJob) *runningScript {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := &runningScript{job: j, began: time.Now()}
	for _, arg := range j.args {
		one.line = append(one.line, string(arg))
	}
	one.killed.Store(r.stopped)
	r.all = append(r.all, one)
	return one
}

func (r *runningScripts) leave(one *runningScript) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.DeleteFunc(r.all, func(o *runningScript) bool { return o == one })
}

// stop ends all scripts, and those to come: the server shuts down.
func (r *runningScripts) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	for _, one := range r.all {
		one.killed.Store(true)
	}
}

// kill ends the scripts, or functions, that are running and have not written.
func (r *runningScripts) kill(eval bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := error(commands.ErrScriptNotBusy)
	for _, one := range r.all {
		switch {
		case one.wrote.Load():
			err = commands.ErrUnkillable
		case one.job.eval != eval && eval:
			err = commands.ErrBusyFunc
		case one.job.eval != eval:
			err = commands.ErrBusyScript
		default:
			one.killed.Store(true)
			return nil
		}
	}
	return err
}

// function returns the function that has been running for the longest time, or
// nil.
func (r *runningScripts) function() *runningScript {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.all {
		if !one.job.eval {
			return one
		}
	}
	return nil
}

// killed is what a script that was killed says.
func (j *scriptJob) killed() error {
	if j.eval {
		return commands.ErrScriptKilled
	}
	return commands.ErrFunctionKilled
}
