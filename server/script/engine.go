package script

import "sync"

// idleStates is how many interpreters are kept for the next scripts.
const idleStates = 16

// An Engine keeps the states that no script is using. Any goroutine may call it.
type Engine struct {
	mu   sync.Mutex
	idle []*State
	age  int // Reset makes older states useless
}

// Take returns a state for one script; Give gives it back.
func (e *Engine) Take() *State {
	e.mu.Lock()
	if n := len(e.idle); n > 0 {
		st := e.idle[n-1]
		e.idle = e.idle[:n-1]
		e.mu.Unlock()
		return st
	}
	age := e.age
	e.mu.Unlock()
	st := NewState()
	st.age = age
	st.Seal()
	return st
}

// Give takes a state back.
func (e *Engine) Give(st *State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if st.age == e.age && len(e.idle) < idleStates {
		e.idle = append(e.idle, st)
	}
}

// Reset drops all states (SCRIPT FLUSH), those in use when they come back.
func (e *Engine) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.age++
	e.idle = nil
}
