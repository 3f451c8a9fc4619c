package transcript

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"time"
)

// A Player answers command lines: a server, or something in place of one.
type Player interface {
	// Do runs a command of a session and returns the bytes of its reply.
	Do(session string, args [][]byte) ([]byte, error)
	// Advance lets the time pass.
	Advance(d time.Duration) error
}

// Play runs the steps in order and hands each command's reply to each, raw and
// parsed. It ends at the first reply that isn't well-formed, and at the first
// error of the player or of each.
func (f *File) Play(p Player, each func(s *Step, raw []byte, v Reply) error) error {
	for _, s := range f.Steps {
		if err := f.step(p, s, each); err != nil {
			return fmt.Errorf("%s:%d: %w", f.Name, s.Line, err)
		}
	}
	return nil
}

func (f *File) step(p Player, s *Step, each func(s *Step, raw []byte, v Reply) error) error {
	if s.Advance > 0 {
		return p.Advance(s.Advance)
	}
	raw, err := p.Do(s.Session, s.Args)
	if err != nil {
		return fmt.Errorf("> %s: %w", s.Command(), err)
	}
	v, err := ReadAll(raw)
	if err != nil {
		return fmt.Errorf("> %s: %w", s.Command(), err)
	}
	return each(s, raw, v)
}

// Remote is a Player for a server at the other end of connections, one for each
// session. Time passes by waiting.
type Remote struct {
	Dial func() (io.ReadWriteCloser, error)

	sessions map[string]*remoteSession
}

type remoteSession struct {
	io.ReadWriteCloser
	in *bufio.Reader
}

// Do sends a command and reads one reply.
func (r *Remote) Do(session string, args [][]byte) ([]byte, error) {
	s, err := r.session(session)
	if err != nil {
		return nil, err
	}
	if _, err := s.Write(Encode(args)); err != nil {
		return nil, err
	}
	_, raw, err := Read(s.in)
	return raw, err
}

func (r *Remote) session(name string) (*remoteSession, error) {
	if s := r.sessions[name]; s != nil {
		return s, nil
	}
	conn, err := r.Dial()
	if err != nil {
		return nil, err
	}
	if r.sessions == nil {
		r.sessions = map[string]*remoteSession{}
	}
	s := &remoteSession{conn, bufio.NewReader(conn)}
	r.sessions[name] = s
	return s, nil
}

// Advance waits: nobody can move a server's clock.
func (r *Remote) Advance(d time.Duration) error {
	time.Sleep(d)
	return nil
}

// Close ends all sessions; the next command begins new ones.
func (r *Remote) Close() error {
	var first error
	for name, s := range r.sessions {
		if err := s.Close(); err != nil && first == nil {
			first = err
		}
		delete(r.sessions, name)
	}
	return first
}

// Encode writes a command line as a client sends it.
func Encode(args [][]byte) []byte {
	b := strconv.AppendInt([]byte{'*'}, int64(len(args)), 10)
	for _, a := range args {
		b = strconv.AppendInt(append(b, "\r\n$"...), int64(len(a)), 10)
		b = append(append(b, "\r\n"...), a...)
	}
	return append(b, "\r\n"...)
}
