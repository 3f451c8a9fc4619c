package server

import "time"

// stopLimit is how long the end may take. What still runs then is left to the
// end of the process: whoever asked for the end has waited long enough.
const stopLimit = 700 * time.Millisecond

// Shutdown begins to end the server: no new connections, running commands are
// finished, replies written as far as clients take them. It does not wait, and
// may be called from a session's home.
func (srv *Server) Shutdown() {
	srv.stopOnce.Do(func() { go srv.stop() })
}

func (srv *Server) stop() {
	defer close(srv.stopped)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		srv.end()
	}()
	select {
	case <-ended:
	case <-time.After(stopLimit):
		srv.log.Warn("Some commands have not ended in time and are cut off")
	}
}

func (srv *Server) end() {
	srv.unlisten()
	srv.pause.stop()
	srv.scripts.running.stop()
	srv.clients.closeOthers()
	for _, l := range srv.loops {
		l.shutdown()
	}
	srv.conns.Wait()
	srv.shards.Heavy.Close()
	srv.cancel()
	srv.duties.Wait()
}

// Wait returns when the server has ended.
func (srv *Server) Wait() { <-srv.stopped }

// Stopped is closed when the server has ended.
func (srv *Server) Stopped() <-chan struct{} { return srv.stopped }
