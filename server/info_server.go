package server

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// lruClockMask cuts seconds down to the bits that Redis' access clock has.
const lruClockMask = 1<<24 - 1

func infoServer(t *infoText, srv *Server) {
	c, now := srv.config(), time.Now()
	up := int64(now.Sub(srv.started) / time.Second)
	port := c.Port
	if port == 0 {
		port = c.TLS.Port
	}
	t.str("redis_version", redisVersion)
	t.str("redis_git_sha1", "00000000")
	t.int("redis_git_dirty", 0)
	t.str("redis_build_id", buildID())
	t.str("redis_mode", "standalone")
	t.str("os", systemName())
	t.int("arch_bits", strconv.IntSize)
	t.str("monotonic_clock", "POSIX clock_gettime")
	t.str("multiplexing_api", "epoll")
	t.str("atomicvar_api", "sync-atomic")
	t.str("gcc_version", "0.0.0")
	t.int("process_id", int64(os.Getpid()))
	t.str("process_supervised", srv.opt.Supervised())
	t.str("run_id", srv.runID)
	t.int("tcp_port", int64(port))
	t.int("server_time_usec", now.UnixMicro())
	t.int("uptime_in_seconds", up)
	t.int("uptime_in_days", up/(24*3600))
	t.int("hz", int64(c.Hz))
	t.int("configured_hz", int64(c.Hz))
	t.int("lru_clock", now.Unix()&lruClockMask)
	t.str("executable", fullPath(srv.opt.Executable))
	t.str("config_file", srv.opt.ConfigFile)
	t.int("io_threads_active", 0)
	t.str("firn_version", Version)
	t.str("go_version", runtime.Version())
	t.int("event_loops", int64(len(srv.loops)))
}

// Supervised is who was told that the server is ready, as INFO names it.
func (o *Options) Supervised() string {
	if o.Systemd {
		return "systemd"
	}
	return "no"
}

// buildID is the beginning of the commit that the program was built from, 0 if
// it is not known.
func buildID() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 16 {
				return s.Value[:16]
			}
		}
	}
	return "0"
}

func systemName() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	return fmt.Sprintf("%s %s %s", unix.ByteSliceToString(u.Sysname[:]), unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Machine[:]))
}

func fullPath(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

func infoClients(t *infoText, srv *Server) {
	in, out := srv.clients.widest()
	t.ints(
		infoInt{"connected_clients", srv.clients.count.Load()},
		infoInt{"cluster_connections", 0},
		infoInt{"maxclients", int64(srv.config().MaxClients)},
		infoInt{"client_recent_max_input_buffer", in},
		infoInt{"client_recent_max_output_buffer", out},
		infoInt{"blocked_clients", srv.blockedClients()},
		infoInt{"tracking_clients", 0},
		infoInt{"clients_in_timeout_table", srv.clients.blocked.timed.Load()},
	)
}

// widest returns the largest input and output buffer of any client, in bytes.
func (r *registry) widest() (in, out int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.all {
		in = max(in, s.info.qcap.Load())
		out = max(out, s.info.out.Load())
	}
	return in, out
}

func infoReplication(t *infoText, srv *Server) {
	t.str("role", "master")
	t.int("connected_slaves", 0)
	t.str("master_failover_state", "no-failover")
	t.str("master_replid", *srv.replID.Load())
	t.str("master_replid2", "0000000000000000000000000000000000000000")
	t.ints(
		infoInt{"master_repl_offset", 0},
		infoInt{"second_repl_offset", -1},
		infoInt{"repl_backlog_active", 0},
		infoInt{"repl_backlog_size", srv.config().ReplBacklogSize},
		infoInt{"repl_backlog_first_byte_offset", 0},
		infoInt{"repl_backlog_histlen", 0},
	)
}

func infoCPU(t *infoText, srv *Server) {
	for _, of := range []struct {
		who    int
		suffix string
	}{{unix.RUSAGE_SELF, ""}, {unix.RUSAGE_CHILDREN, "_children"}} {
		var r unix.Rusage
		if unix.Getrusage(of.who, &r) == nil {
			t.str("used_cpu_sys"+of.suffix, cpuSeconds(r.Stime))
			t.str("used_cpu_user"+of.suffix, cpuSeconds(r.Utime))
		}
	}
}

func cpuSeconds(v unix.Timeval) string { return fmt.Sprintf("%d.%06d", v.Sec, v.Usec) }

func infoCluster(t *infoText, srv *Server) { t.int("cluster_enabled", 0) }

// infoKeyspace must add nothing behind avg_ttl: exporters count the fields. The
// average is not kept, and 0 says so, as it does in Redis before its first
// sample.
func infoKeyspace(t *infoText, srv *Server) {
	for db, n := range srv.shards.Sizes(t.held) {
		if n.Keys > 0 {
			t.str("db"+strconv.Itoa(db), fmt.Sprintf("keys=%d,expires=%d,avg_ttl=0", n.Keys, n.Expires))
		}
	}
}

func infoMVCC(t *infoText, srv *Server) {
	u := t.measured(srv)
	cuts, oldest := srv.shards.Pins()
	age := int64(0)
	if cuts > 0 {
		age = max(time.Now().UnixMilli()-oldest, 0)
	}
	running, waiting := srv.shards.Heavy.Load()
	st := srv.shards.Stats()
	t.ints(
		infoInt{"mvcc_shards", int64(srv.shards.Len())},
		infoInt{"mvcc_cuts_open", int64(cuts)},
		infoInt{"mvcc_versions_open", u.OpenPins},
		infoInt{"mvcc_oldest_version_age_ms", age},
		infoInt{"mvcc_pinned_bytes", u.Pinned},
		infoInt{"mvcc_freezes", u.Freezes},
		infoInt{"mvcc_heavy_threads", int64(srv.config().HeavyThreadCount(runtime.NumCPU()))},
		infoInt{"mvcc_heavy_running", int64(running)},
		infoInt{"mvcc_heavy_waiting", int64(waiting)},
		infoInt{"mvcc_long_writes", st.LongWrites.Load()},
		infoInt{"mvcc_heavy_stores", st.Stores.Load()},
		infoInt{"mvcc_live_bytes", u.Live},
		infoInt{"mvcc_segment_bytes", u.Segments},
		infoInt{"mvcc_duty_cpu_milliseconds", st.DutyNanos.Load() / 1e6},
	)
}
