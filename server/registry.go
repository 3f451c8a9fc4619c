package server

import (
	"cmp"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"firn/commands"
)

// peerInfo is what is known of a connection when it is accepted.
type peerInfo struct {
	addr, laddr string // as CLIENT LIST prints them
	unix, tls   bool
	local       bool // loopback or unix socket
	fd          int
}

func peerOf(nc net.Conn, secure bool) peerInfo {
	if _, ok := nc.LocalAddr().(*net.UnixAddr); ok {
		path := nc.LocalAddr().String()
		return peerInfo{addr: path + ":0", laddr: path + ":0", unix: true, local: true}
	}
	p := peerInfo{addr: nc.RemoteAddr().String(), laddr: nc.LocalAddr().String(), tls: secure}
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		p.local = a.IP.IsLoopback()
	}
	return p
}

// clientInfo is what others may see of a session: constant after init, or
// atomic.
type clientInfo struct {
	srv     *Server
	id      int64
	peer    peerInfo
	created time.Time

	name, libName, libVer atomic.Pointer[string]
	lastActive            atomic.Int64 // unix ms
	db                    atomic.Int32
	proto                 atomic.Int32
	lastRow               atomic.Int32 // index of the last command's row, -1: none
	qbuf, qcap            atomic.Int64 // bytes received and not yet run; of the buffer
	out                   atomic.Int64 // bytes of replies not yet read
	peak                  atomic.Int64 // most bytes of replies at a time, lately
	waiting               atomic.Bool
	held                  atomic.Bool             // waits for the end of a pause
	blocked               atomic.Pointer[blocked] // waits for a key; nil: it does not, or somebody is ending the wait
	killed                atomic.Bool             // is to run no further command
	noEvict, noTouch      atomic.Bool
	topics                [topicKinds]atomic.Int64 // subscriptions
	monitor               atomic.Bool
	multi, multiBytes     atomic.Int64 // commands queued, plus 1 (0: no transaction); length of their arguments
	counted               atomic.Int64 // bytes in registry.memory
	keeps                 atomic.Int64 // bytes in registry.held
}

func (i *clientInfo) init(srv *Server, s *session, peer peerInfo) {
	i.srv, i.peer, i.created = srv, peer, time.Now()
	i.id = srv.clients.nextID()
	i.lastRow.Store(-1)
	i.proto.Store(int32(s.out.Proto()))
	empty := ""
	i.name.Store(&empty)
	i.libName.Store(&empty)
	i.libVer.Store(&empty)
	i.lastActive.Store(i.created.UnixMilli())
}

// memoryStep is how much a client's buffers must change to be accounted anew.
const memoryStep = 4096

// update shows others the state of the session after a batch. It stores what
// has changed: an atomic store is dear, a load is not.
func (i *clientInfo) update(s *session) {
	if s.closed || i.killed.Load() { // and the buffer of one that is closed may be the reader's
		i.account(0, 0)
		return
	}
	put(&i.lastActive, s.lastActive)
	put(&i.qbuf, int64(s.in.Buffered()))
	put(&i.qcap, int64(s.in.Cap()))
	n, bytes, _ := s.queuedUp()
	put(&i.multi, int64(n)+1)
	put(&i.multiBytes, bytes)
	if i.waiting.Load() != s.waiting {
		i.waiting.Store(s.waiting)
	}
	if int(i.db.Load()) != s.db {
		i.db.Store(int32(s.db))
	}
	i.updateOutput(s)
}

// updateOutput is update of what the client has to read, while somebody may read
// into the buffer.
func (i *clientInfo) updateOutput(s *session) {
	put(&i.out, int64(s.queued+s.out.Len()))
	_, _, queued := s.queuedUp()
	now := i.out.Load() + i.qcap.Load() + queued
	if own := now - int64(s.shared); far(now, &i.keeps) || far(own, &i.counted) {
		i.account(own, now)
	}
}

func far(now int64, was *atomic.Int64) bool {
	d := now - was.Load()
	return d >= memoryStep || d <= -memoryStep
}

// account makes the client count for so many bytes of its own, and for so many
// with those it shares with the keyspace.
func (i *clientInfo) account(own, held int64) {
	i.srv.clients.memory.Add(own - i.counted.Swap(own))
	i.srv.clients.held.Add(held - i.keeps.Swap(held))
}

func put(a *atomic.Int64, v int64) {
	if a.Load() != v {
		a.Store(v)
	}
}

// registry knows all sessions.
type registry struct {
	srv     *Server
	lastID  atomic.Int64
	count   atomic.Int64 // connections admitted, also those not yet in all
	memory  atomic.Int64 // bytes of the clients' buffers, to about 4 KiB each
	blocked blockedCount
	held    atomic.Int64 // the same and what their replies share with the keyspace: it lives as long as they do

	evicting sync.Mutex
	evicted  atomic.Int64 // clients that had to go for maxmemory-clients

	mu  sync.Mutex
	all map[int64]*session
}

func newRegistry(srv *Server) *registry {
	return &registry{srv: srv, all: map[int64]*session{}}
}

func (r *registry) nextID() int64 { return r.lastID.Add(1) }

func (r *registry) add(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[s.info.id] = s
}

// remove takes a session out, whose connection is gone or about to go.
func (r *registry) remove(s *session) {
	r.mu.Lock()
	_, known := r.all[s.info.id]
	delete(r.all, s.info.id)
	r.mu.Unlock()
	if known {
		r.dropped()
	}
}

// end ends a session from outside its home: it runs no further command, and is
// gone from the list and the accounts at once.
func (r *registry) end(s *session) {
	r.remove(s)
	s.info.killed.Store(true)
	s.leave(true)
	if b := s.info.blocked.Load(); b != nil {
		b.Claim() // so that nobody serves it any more
	}
	s.info.account(0, 0)
	s.sever()
}

// dropped says that an admitted connection is gone.
func (r *registry) dropped() { r.count.Add(-1) }

// sessions returns all sessions by id. Only their info and home may be used by
// others.
func (r *registry) sessions() []*session {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*session, 0, len(r.all))
	for _, s := range r.all {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *session) int { return cmp.Compare(a.info.id, b.info.id) })
	return all
}

func (r *registry) byID(id int64) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[id]
}

// closeOthers ends the connections that have a home of their own; loops end
// theirs.
func (r *registry) closeOthers() {
	for _, s := range r.sessions() {
		if c, ok := s.peer.(*netConn); ok {
			c.post(c.close)
		}
	}
}

// admit counts a new connection in, or says why it can't be.
func (srv *Server) admit(peer *peerInfo) error {
	c := srv.config()
	if srv.clients.count.Add(1) > int64(c.MaxClients) {
		srv.clients.dropped()
		return commands.ErrMaxClients
	}
	if c.ProtectedMode && c.RequirePass == "" && !peer.local {
		srv.clients.dropped()
		return commands.ErrProtected
	}
	return nil
}

// idleTrim is after how many ms without a command a client's buffers are freed.
const idleTrim = 2000

// trim frees the buffers of an idle client, at a home that does not read into
// them meanwhile. What has been read ahead must have been run.
func (s *session) trim(now int64) {
	if s.closed || s.paused() && !s.blockedAlone() || s.srv.cronPaused.Load() || now-s.lastActive <= idleTrim || s.in.Buffered() > 0 || s.in.Cap() == 0 {
		return
	}
	s.in.Release()
	if s.out.Len() == 0 {
		s.out.Take()
	}
	s.info.update(s)
}

// lowerPeak forgets how long replies once were.
func (s *session) lowerPeak(now int64) {
	if period := s.srv.peakReset.Load(); period >= 0 && now-s.peakSince > period {
		s.peakSince = now
		put(&s.info.peak, int64(s.queued))
	}
}

// tick is called every 100 ms at the session's home.
func (s *session) tick(now int64) {
	if s.closed || s.srv.cronPaused.Load() {
		return
	}
	s.call.Now = now
	if s.queued > 0 {
		s.checkOutput()
	}
	s.lowerPeak(now)
	if t := int64(s.srv.config().Timeout); t > 0 && !s.waiting && now-s.lastActive > t*1000 && !s.info.listens() {
		s.peer.close()
	}
}
