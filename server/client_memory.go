package server

import (
	"cmp"
	"slices"
	"strings"

	"go.uber.org/zap"
)

// evictClients ends the clients with the largest buffers until those of all
// take no more than maxmemory-clients, and says whether that went. Whoever has
// said CLIENT NO-EVICT stays.
func (srv *Server) evictClients(now int64) bool {
	r, limit := srv.clients, srv.config().ClientMemoryLimit()
	if limit == 0 || r.held.Load() <= limit || !r.evicting.TryLock() {
		return true
	}
	defer r.evicting.Unlock()
	all := slices.DeleteFunc(r.sessions(), func(s *session) bool { return s.info.noEvict.Load() })
	slices.SortStableFunc(all, func(a, b *session) int { return cmp.Compare(b.info.keeps.Load(), a.info.keeps.Load()) })
	for _, s := range all {
		if r.held.Load() <= limit || s.info.keeps.Load() == 0 {
			break
		}
		var line strings.Builder
		s.info.write(&line, now, s.lastCommand(), running{})
		srv.log.Info("Evicting client", zap.String("client", strings.TrimSpace(line.String())))
		r.evicted.Add(1)
		r.end(s)
	}
	return r.held.Load() <= limit
}
