package server

import (
	"errors"
	"time"

	"firn/commands"
	"firn/server/script"
)

// A library may take as long to load as in Redis; inside a transaction, which
// keeps shards meanwhile, less.
const (
	loadTimeout       = 500 * time.Millisecond
	loadTimeoutInside = 50 * time.Millisecond
)

// A loadHost serves the code of a library while it is loaded: that can log, and
// is ended when its time is over.
type loadHost struct {
	srv   *Server
	until int64 // monotonic
	pause func()
}

// loadHost returns the host of a load that the command does.
func (s *session) loadHost(c *commands.Call) script.Host {
	limit := loadTimeout
	if s.nest.hold != nil {
		limit = loadTimeoutInside
	}
	return &loadHost{s.srv, s.srv.monotonic() + int64(limit), c.Pause}
}

var errNoCommands = errors.New("ERR no commands while a library is loaded")

func (*loadHost) Call([][]byte, int) ([]byte, error) { return nil, errNoCommands }

func (*loadHost) Allowed([][]byte) (bool, error) { return false, errNoCommands }

func (*loadHost) Replicate(bool, bool) {}

func (h *loadHost) Log(level int, line string) { h.srv.log.Log(scriptLevels[level], line) }

func (h *loadHost) Interrupt() error {
	if h.pause != nil {
		h.pause()
	}
	if h.srv.monotonic() > h.until {
		return commands.ErrFunctionTimeout
	}
	return nil
}
