package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"firn/server/config"
	"firn/server/logging"

	"go.uber.org/zap"
)

// setConfig changes the configuration, all pairs or none: checked, put into
// effect where that can fail, published.
func (srv *Server) setConfig(pairs []config.Pair, opt config.SetOptions) error {
	srv.cfgMu.Lock()
	defer srv.cfgMu.Unlock()
	next, changed, err := srv.config().Set(pairs, opt)
	if err != nil {
		return err
	}
	if len(changed) == 0 {
		return nil
	}
	if err := srv.takeEffect(next, changed); err != nil {
		return err
	}
	srv.cfg.Store(next)
	srv.apply(next)
	srv.warnings(next, changed)
	return nil
}

// takeEffect does what a change needs and what may fail; listening is last, so
// that nothing has to be undone.
func (srv *Server) takeEffect(next *config.Config, changed []string) error {
	for _, name := range changed {
		if name != "maxclients" {
			continue
		}
		if can, _ := processFileLimit().fit(next.MaxClients); can < next.MaxClients {
			return &config.SetError{Name: name, Reason: config.ErrMaxClients(can)}
		}
	}
	culprit := slices.IndexFunc(changed, aboutListening)
	if culprit < 0 {
		return nil
	}
	if err := srv.reachable(next); err != nil {
		return &config.SetError{Name: changed[culprit], Reason: listenReason(changed[culprit], err)}
	}
	return nil
}

func aboutListening(name string) bool {
	return name == "port" || name == "bind" || strings.HasPrefix(name, "tls-")
}

// listenReason is what the client is told of a listening that failed.
func listenReason(name string, err error) error {
	switch {
	case name == "bind":
		return config.ErrBind
	case errors.Is(err, errTLS):
		return config.ErrTLS
	}
	return config.ErrListen
}

var errTLS = errors.New("no usable TLS configuration")

// reachable makes the server listen as the configuration says. If that can't be
// had, everything stays as it was.
func (srv *Server) reachable(c *config.Config) error {
	before := srv.tls.Load()
	if c.TLS.Port != 0 {
		t, err := tlsConfig(&c.TLS)
		if err != nil {
			srv.log.Warn("Failed to configure TLS. Check logs for more info: " + err.Error())
			return fmt.Errorf("%w: %w", errTLS, err)
		}
		srv.tls.Store(t)
	}
	err := srv.listen(c)
	if err != nil {
		srv.tls.Store(before)
	}
	return err
}

// warnings logs what a change does not bring.
func (srv *Server) warnings(c *config.Config, changed []string) {
	for _, name := range changed {
		if name == "maxmemory" && c.MaxMemory > 0 && srv.usedMemory() > c.MaxMemory {
			srv.log.Warn(fmt.Sprintf("WARNING: the new maxmemory value set via CONFIG SET (%d) is smaller than the current memory usage (%d). This will result in key eviction and/or the inability to accept new write commands depending on the maxmemory-policy.", c.MaxMemory, srv.usedMemory()))
		}
		if name == "save" && len(c.Save) > 0 || name == "appendonly" && c.AppendOnly {
			srv.warnVolatile()
		}
	}
}

// warnVolatile says once that nothing is written to disk.
func (srv *Server) warnVolatile() {
	srv.volatileOnce.Do(func() {
		srv.log.Warn("WARNING: this version keeps data in memory only: 'save' and 'appendonly' are accepted, but nothing is written to disk")
	})
}

// setLevel makes the log as talkative as the configuration says.
func (srv *Server) setLevel(c *config.Config) {
	if level, ok := logging.ParseLevel(c.Text("loglevel")); ok && srv.opt.Level != (zap.AtomicLevel{}) {
		srv.opt.Level.SetLevel(level)
	}
}
