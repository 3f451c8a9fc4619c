package server

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// infoPersistence is that of a server that has not saved yet.
func infoPersistence(t *infoText, srv *Server) {
	t.zeros("loading", "async_loading", "current_cow_peak", "current_cow_size", "current_cow_size_age")
	t.fixed("current_fork_perc", 0, "")
	t.zeros("current_save_keys_processed", "current_save_keys_total")
	t.int("rdb_changes_since_last_save", srv.stats.changes.Load())
	t.int("rdb_bgsave_in_progress", 0)
	t.int("rdb_last_save_time", srv.started.Unix())
	t.str("rdb_last_bgsave_status", "ok")
	t.int("rdb_last_bgsave_time_sec", -1)
	t.int("rdb_current_bgsave_time_sec", -1)
	t.zeros("rdb_saves", "rdb_last_cow_size", "rdb_last_load_keys_expired", "rdb_last_load_keys_loaded")
	t.zeros("aof_enabled", "aof_rewrite_in_progress", "aof_rewrite_scheduled")
	t.int("aof_last_rewrite_time_sec", -1)
	t.int("aof_current_rewrite_time_sec", -1)
	t.str("aof_last_bgrewrite_status", "ok")
	t.zeros("aof_rewrites", "aof_rewrites_consecutive_failures")
	t.str("aof_last_write_status", "ok")
	t.zeros("aof_last_cow_size", "module_fork_in_progress", "module_fork_last_cow_size")
}

func infoStats(t *infoText, srv *Server) {
	st, sh := srv.stats, srv.shards.Stats()
	t.int("total_connections_received", st.connections.Load())
	t.int("total_commands_processed", st.commands())
	t.int("instantaneous_ops_per_sec", int64(srv.ops.perSecond()))
	t.int("total_net_input_bytes", st.netIn.Load())
	t.int("total_net_output_bytes", st.netOut.Load())
	t.zeros("total_net_repl_input_bytes", "total_net_repl_output_bytes")
	t.fixed("instantaneous_input_kbps", srv.in.perSecond()/1024, "")
	t.fixed("instantaneous_output_kbps", srv.out.perSecond()/1024, "")
	t.fixed("instantaneous_input_repl_kbps", 0, "")
	t.fixed("instantaneous_output_repl_kbps", 0, "")
	t.int("rejected_connections", st.rejectedConns.Load())
	t.zeros("sync_full", "sync_partial_ok", "sync_partial_err")
	t.int("expired_keys", sh.Expired.Load())
	t.fixed("expired_stale_perc", 0, "")
	t.int("expired_time_cap_reached_count", sh.ExpireLate.Load())
	t.int("expire_cycle_cpu_milliseconds", sh.DutyNanos.Load()/1e6)
	t.int("evicted_keys", sh.Evicted.Load())
	t.int("evicted_clients", srv.clients.evicted.Load())
	t.zeros("total_eviction_exceeded_time", "current_eviction_exceeded_time")
	t.int("keyspace_hits", st.hits.Load())
	t.int("keyspace_misses", st.misses.Load())
	t.int("pubsub_channels", srv.pubsub.kinds[channelTopic].count.Load())
	t.int("pubsub_patterns", srv.pubsub.patterns.count.Load())
	t.int("pubsubshard_channels", srv.pubsub.kinds[shardTopic].count.Load())
	t.zeros("latest_fork_usec", "total_forks",
		"migrate_cached_sockets", "slave_expires_tracked_keys", "active_defrag_hits", "active_defrag_misses",
		"active_defrag_key_hits", "active_defrag_key_misses", "total_active_defrag_time", "current_active_defrag_time",
		"tracking_total_keys", "tracking_total_items", "tracking_total_prefixes")
	t.int("unexpected_error_replies", st.unexpectedErrors.Load())
	t.int("total_error_replies", st.errorReplies.Load())
	t.int("dump_payload_sanitizations", 0)
	t.zeros("io_threaded_reads_processed", "io_threaded_writes_processed")
	t.int("client_query_buffer_limit_disconnections", st.queryBufferClosed.Load())
	t.int("client_output_buffer_limit_disconnections", st.outputClosed.Load())
}

func infoCommandStats(t *infoText, srv *Server) {
	for i := range srv.stats.rows {
		r := &srv.stats.rows[i]
		calls, micros, rejected, failed := r.calls.Load(), r.micros.Load(), r.rejected.Load(), r.failed.Load()
		if calls+rejected+failed == 0 {
			continue
		}
		t.str("cmdstat_"+srv.table.ByIndex(i).FullName(), fmt.Sprintf("calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			calls, micros, ratio(micros, calls), rejected, failed))
	}
}

// safeInfo keeps what would look like another line or field out of a name.
var safeInfo = strings.NewReplacer("#", "_", ":", "_", "\n", "_", "\r", "_")

func infoErrorStats(t *infoText, srv *Server) {
	counts := srv.stats.errorCounts()
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		t.str("errorstat_"+safeInfo.Replace(code), fmt.Sprintf("count=%d", counts[code]))
	}
}

func infoLatencyStats(t *infoText, srv *Server) {
	c := srv.config()
	if !c.LatencyTracking {
		return
	}
	for i := range srv.stats.rows {
		nanos, any := srv.stats.rows[i].hist.percentiles(c.LatencyPercentiles)
		if !any {
			continue
		}
		var fields []string
		for j, p := range c.LatencyPercentiles {
			fields = append(fields, fmt.Sprintf("p%s=%.3f", strconv.FormatFloat(p, 'f', -1, 64), float64(nanos[j])/1000))
		}
		t.str("latency_percentiles_usec_"+srv.table.ByIndex(i).FullName(), strings.Join(fields, ","))
	}
}

// percentiles returns the durations, in nanoseconds, below or at which the
// given shares of all calls are; false if there was none.
func (h *histogram) percentiles(shares []float64) ([]int64, bool) {
	var counts [len(h.buckets)]int64
	total := int64(0)
	for i := range counts {
		counts[i] = h.buckets[i].Load()
		total += counts[i]
	}
	out := make([]int64, len(shares))
	for j, share := range shares {
		rank := max(int64(share/100*float64(total)+0.5), 1)
		for i, seen := 0, int64(0); i < len(counts); i++ {
			if seen += counts[i]; seen >= rank {
				out[j] = bucketTop(i)
				break
			}
		}
	}
	return out, total > 0
}
