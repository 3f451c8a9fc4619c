package shard

import (
	"container/list"
	"sync"
)

// A Pool runs long work on at most a fixed number of goroutines at a time,
// first come first served. Work calls Yield between slices, so that with many
// tasks each gets its turn, and Block around a wait, so that a slow reader
// takes up no place.
type Pool struct {
	mu      sync.Mutex
	max     int
	running int
	waiting list.List // of ticket
	blocked int
	idle    sync.Cond // no work at all, for Close
	closed  bool
	enter   Enter         // run by each worker before its first task; may be nil
	parked  []chan func() // workers without work, at most max
}

// ticket is one that waits for a place: new work, or work that has yielded.
type ticket struct {
	run    func()
	resume chan struct{}
}

// An Enter readies a goroutine to work for a pool. What it returns, if not nil,
// the goroutine calls after each task with the number of those that wait for a
// place, while it still has its own: so it can leave the cores to others for a
// while.
type Enter func() (between func(waiting int))

// NewPool returns a pool of n places, one at the least. Every goroutine that
// works for it calls enter first, if that is not nil, and works for nothing
// else.
func NewPool(n int, enter Enter) *Pool {
	p := &Pool{max: max(n, 1), enter: enter}
	p.idle.L = &p.mu
	return p
}

// Go runs f when a place is free. It never waits. After Close it says false
// and does nothing.
func (p *Pool) Go(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	if p.running < p.max {
		p.running++
		p.start(f)
		return true
	}
	p.waiting.PushBack(ticket{run: f})
	return true
}

// start has a worker run f, in a place that is taken for it: one that is parked,
// or a new one. The pool is locked.
func (p *Pool) start(f func()) {
	if n := len(p.parked); n > 0 {
		p.parked[n-1] <- f
		p.parked = p.parked[:n-1]
		return
	}
	go p.work(f)
}

// work runs tasks, one after the other, and parks while there is none. Enough
// workers are kept; what is over that ends.
func (p *Pool) work(f func()) {
	var between func(waiting int)
	if p.enter != nil {
		between = p.enter()
	}
	for f != nil {
		f()
		if between != nil {
			between(p.line())
		}
		if f = p.next(); f == nil {
			f = p.park()
		}
	}
}

func (p *Pool) park() func() {
	p.mu.Lock()
	if p.closed || len(p.parked) == p.max {
		p.mu.Unlock()
		return nil
	}
	work := make(chan func(), 1) // start must not wait for it
	p.parked = append(p.parked, work)
	p.mu.Unlock()
	return <-work
}

// next gives up the caller's place to the next ticket: it returns new work for
// the caller to run, or nil if the place went to somebody else or to nobody.
func (p *Pool) next() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	front := p.waiting.Front()
	if front == nil {
		p.running--
		p.idle.Broadcast()
		return nil
	}
	t := p.waiting.Remove(front).(ticket)
	if t.run != nil {
		return t.run
	}
	close(t.resume)
	return nil
}

// Yield lets others have the caller's place, if anybody waits, and returns when
// it has one again.
func (p *Pool) Yield() {
	p.mu.Lock()
	front := p.waiting.Front()
	if front == nil {
		p.mu.Unlock()
		return
	}
	me := ticket{resume: make(chan struct{})}
	p.waiting.PushBack(me)
	t := p.waiting.Remove(front).(ticket)
	if t.run != nil {
		p.start(t.run)
	} else {
		close(t.resume)
	}
	p.mu.Unlock()
	<-me.resume
}

// Block runs wait without taking up a place.
func (p *Pool) Block(wait func()) {
	p.mu.Lock()
	p.blocked++
	p.mu.Unlock()
	if f := p.next(); f != nil {
		p.mu.Lock()
		p.start(f)
		p.mu.Unlock()
	}
	wait()
	p.reenter()
}

// reenter waits for a place after a Block.
func (p *Pool) reenter() {
	p.mu.Lock()
	p.blocked--
	if p.running < p.max {
		p.running++
		p.mu.Unlock()
		return
	}
	me := ticket{resume: make(chan struct{})}
	p.waiting.PushBack(me)
	p.mu.Unlock()
	<-me.resume
}

// line returns how many wait for a place.
func (p *Pool) line() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting.Len()
}

// Load returns how many tasks run and how many wait for a place or for a slow
// reader.
func (p *Pool) Load() (running, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running, p.waiting.Len() + p.blocked
}

// Close makes Go refuse, and waits until the work that was accepted has ended.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for p.running > 0 || p.waiting.Len() > 0 || p.blocked > 0 {
		p.idle.Wait()
	}
	for _, work := range p.parked {
		work <- nil
	}
	p.parked = nil
}
