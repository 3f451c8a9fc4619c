package server

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// How others reach a loop: functions to run there, ends of waits, letters.

// later implements home: what is posted runs after the events that are there.
func (l *loop) later(f func()) bool {
	l.post(f)
	return true
}

// post implements home.
func (l *loop) post(f func()) { l.put(&l.posted, f) }

// answer implements home.
func (l *loop) answer(f func()) { l.put(&l.answers, f) }

func (l *loop) put(list *[]func(), f func()) {
	l.mu.Lock()
	*list = append(*list, f)
	wake := !l.woken
	l.woken = true
	l.mu.Unlock()
	if wake {
		l.rouse()
	}
}

// mail implements home.
func (l *loop) mail(m letter) (behind bool) {
	l.mu.Lock()
	l.letters.put(m)
	behind = l.letters.size > busyFrom
	wake := !l.woken
	l.woken = true
	l.mu.Unlock()
	if wake {
		l.rouse()
	}
	return behind
}

// readMail implements home.
func (l *loop) readMail() { l.read(true) }

func (l *loop) read(running bool) {
	l.mu.Lock()
	all := l.letters.take()
	l.mu.Unlock()
	deliver(all, running, func(s *session) { l.told = append(l.told, s) })
}

// rouse wakes the loop. (The write fails only where it is awake already.)
func (l *loop) rouse() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(l.wake, one[:])
}

func (l *loop) runPosted() {
	l.mu.Lock()
	fs := l.posted
	l.posted = nil
	l.mu.Unlock()
	for _, f := range fs {
		f()
	}
	l.runAnswers()
	l.read(false)
}

func (l *loop) runAnswers() {
	l.mu.Lock()
	fs := l.answers
	l.answers = nil
	l.mu.Unlock()
	for _, f := range fs {
		f()
	}
}
