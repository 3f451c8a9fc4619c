package server

import (
	"errors"
	"maps"
	"math/bits"
	"sync"
	"sync/atomic"

	"firn/commands"
	"firn/mvcc"
)

// stats counts what INFO tells. All fields may be read and written from
// anywhere.
type stats struct {
	unknown                         atomic.Int64 // command lines that name no command
	connections, rejectedConns      atomic.Int64
	netIn, netOut                   atomic.Int64
	hits, misses                    atomic.Int64
	changes                         atomic.Int64 // keys changed since the start ("dirty")
	outputClosed, queryBufferClosed atomic.Int64
	errorReplies, unexpectedErrors  atomic.Int64
	rows                            []rowStats // by row index

	mu     sync.Mutex
	errors map[string]int64 // by code
}

// rowStats is what is counted of one command.
type rowStats struct {
	calls, micros, rejected, failed atomic.Int64
	hist                            histogram
}

// histogram counts durations in steps of an eighth of an octave of nanoseconds
// from 1.024 µs on; the first takes all below.
type histogram struct {
	buckets [8 * 26]atomic.Int64
}

func bucketOf(nanos int64) int {
	if nanos < 1024 {
		return 0
	}
	octave := bits.Len64(uint64(nanos)) - 1
	eighth := int(nanos>>(octave-3)) & 7
	return min((octave-10)*8+eighth, 8*26-1)
}

// bucketTop is the largest duration, in nanoseconds, that falls into a bucket.
func bucketTop(i int) int64 {
	octave, eighth := i/8+10, int64(i%8)
	return 1<<octave + (eighth+1)<<(octave-3) - 1
}

func newStats(t *commands.Table) *stats {
	return &stats{rows: make([]rowStats, t.Len()), errors: map[string]int64{}}
}

// A tally is what a run of one command in a session's pipeline adds up to, so
// that the counters, which all sessions share, are written once a run. The
// session's alone.
type tally struct {
	row                   *commands.Command // nil: nothing yet
	calls, nanos          int64
	bucket                int // of the last equal durations
	same                  int64
	hits, misses, changes int64
}

// ran counts a command that ran for so many nanoseconds.
func (t *tally) ran(st *stats, row *commands.Command, nanos int64, err error) {
	if t.row != row {
		t.add(st)
		t.row = row
	}
	t.calls++
	t.nanos += nanos
	if b := bucketOf(nanos); b == t.bucket {
		t.same++
	} else {
		t.addSame(st)
		t.bucket, t.same = b, 1
	}
	if err != nil {
		st.rows[row.Index()].failed.Add(1)
		st.countErr(err)
	}
}

func (t *tally) addSame(st *stats) {
	if t.same > 0 {
		st.rows[t.row.Index()].hist.buckets[t.bucket].Add(t.same)
		t.same = 0
	}
}

// add adds the tally to the counters, and begins anew.
func (t *tally) add(st *stats) {
	if t.row == nil {
		return
	}
	r := &st.rows[t.row.Index()]
	t.addSame(st)
	r.calls.Add(t.calls)
	r.micros.Add(t.nanos / 1000)
	st.lookups(t.hits, t.misses)
	if t.changes > 0 {
		st.changes.Add(t.changes)
	}
	*t = tally{}
}

func (t *tally) lookups(v *mvcc.View) {
	t.hits += v.Hits
	t.misses += v.Misses
}

func (t *tally) wrote(tx *mvcc.Tx) {
	t.lookups(&tx.View)
	t.changes += tx.Changes
}

// rejected counts a command that was refused before it ran; row may be nil.
func (st *stats) refused(row *commands.Command, err error) {
	if row == nil {
		st.unknown.Add(1)
	} else {
		st.rows[row.Index()].rejected.Add(1)
	}
	st.countErr(err)
}

func (st *stats) countErr(err error) {
	if errors.As(err, new(countedError)) {
		return
	}
	var e commands.Error
	if errors.As(err, &e) {
		st.countError(e.Code())
		return
	}
	st.countError("ERR")
}

// commands is the number of commands processed, refused ones included.
func (st *stats) commands() int64 {
	n := st.unknown.Load()
	for i := range st.rows {
		n += st.rows[i].calls.Load() + st.rows[i].rejected.Load()
	}
	return n
}

// countError counts an error reply by its code.
func (st *stats) countError(code string) {
	st.errorReplies.Add(1)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.errors[code]++
}

// errorCounts returns the error replies by code.
func (st *stats) errorCounts() map[string]int64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return maps.Clone(st.errors)
}

// began counts a command that waits for something, after so many nanoseconds.
func (st *stats) began(row *commands.Command, nanos int64) {
	r := &st.rows[row.Index()]
	r.calls.Add(1)
	r.micros.Add(nanos / 1000)
}

// served counts the end of such a command: it took so many nanoseconds more, and
// may have failed.
func (st *stats) served(row *commands.Command, nanos int64, err error, failed bool) {
	r := &st.rows[row.Index()]
	r.micros.Add(nanos / 1000)
	r.hist.buckets[bucketOf(nanos)].Add(1)
	if failed || err != nil {
		r.failed.Add(1)
	}
	if err != nil {
		st.countErr(err)
	}
}

func (st *stats) lookups(hits, misses int64) {
	if hits != 0 {
		st.hits.Add(hits)
	}
	if misses != 0 {
		st.misses.Add(misses)
	}
}

func (st *stats) wrote(tx *mvcc.Tx) {
	st.lookups(tx.Hits, tx.Misses)
	if tx.Changes > 0 {
		st.changes.Add(tx.Changes)
	}
}

// reset begins to count anew; what has changed since the last save is no
// statistic and stays.
func (st *stats) reset() {
	for _, c := range []*atomic.Int64{
		&st.unknown, &st.connections, &st.rejectedConns, &st.netIn, &st.netOut, &st.hits, &st.misses,
		&st.outputClosed, &st.queryBufferClosed, &st.errorReplies, &st.unexpectedErrors,
	} {
		c.Store(0)
	}
	for i := range st.rows {
		st.rows[i].reset()
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	clear(st.errors)
}

func (r *rowStats) reset() {
	for _, c := range []*atomic.Int64{&r.calls, &r.micros, &r.rejected, &r.failed} {
		c.Store(0)
	}
	for i := range r.hist.buckets {
		r.hist.buckets[i].Store(0)
	}
}
