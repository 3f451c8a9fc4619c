package server

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// reservedFiles are the descriptors that are not clients': listeners, epoll,
// log, files being written.
const reservedFiles = 32

// fileLimit reads and sets how many descriptors the process may have open.
type fileLimit struct {
	get func() (uint64, error)
	set func(uint64) error
}

func processFileLimit() fileLimit {
	return fileLimit{
		get: func() (uint64, error) {
			var r unix.Rlimit
			err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r)
			return r.Cur, err
		},
		set: func(n uint64) error {
			return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: n})
		},
	}
}

// fit returns how many of the clients wanted the process can have, after the
// limit was raised as far as the system lets it. Below the wanted number the
// error says why. Zero: it can't have any.
func (l fileLimit) fit(clients int) (int, error) {
	need := uint64(clients) + reservedFiles
	have, err := l.get()
	if err != nil {
		return min(clients, 1024-reservedFiles), err
	}
	if have >= need {
		return clients, nil
	}
	err = l.set(need)
	if err == nil {
		return clients, nil
	}
	for low, high := have, need; high-low > 1; { // have can be set, need can't
		mid := low + (high-low)/2
		if l.set(mid) == nil {
			low, have = mid, mid
		} else {
			high = mid
		}
	}
	if have <= reservedFiles {
		return 0, err
	}
	return int(have - reservedFiles), err
}

// adjustOpenFiles lowers maxclients to what the system's limit of open files
// allows, and logs so.
func (srv *Server) adjustOpenFiles() error { return srv.fitClients(processFileLimit()) }

func (srv *Server) fitClients(l fileLimit) error {
	c := srv.config()
	n, err := l.fit(c.MaxClients)
	switch {
	case n == c.MaxClients:
		return nil
	case n == 0:
		return fmt.Errorf("the limit of open files is not enough for the server to start; %d are needed: %w", c.MaxClients+reservedFiles, err)
	}
	srv.log.Warn(fmt.Sprintf("You requested maxclients of %d requiring at least %d max file descriptors.", c.MaxClients, c.MaxClients+reservedFiles))
	srv.log.Warn(fmt.Sprintf("Server can't set maximum open files to %d because of OS error: %v.", c.MaxClients+reservedFiles, err))
	srv.log.Warn(fmt.Sprintf("Current maximum open files is %d. maxclients has been reduced to %d to compensate for low ulimit. If you need higher maxclients increase 'ulimit -n'.", n+reservedFiles, n))
	lowered := c.Clone()
	lowered.MaxClients = n
	srv.cfg.Store(lowered)
	return nil
}
