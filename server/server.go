package server

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	mrand "math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"firn/commands"
	"firn/mvcc"
	"firn/server/config"
	"firn/shard"

	"go.uber.org/zap"
)

// Options is what a Server is started with.
type Options struct {
	Config     *config.Config
	ConfigFile string // in full; "" if there is none
	Log        *zap.Logger
	Level      zap.AtomicLevel // the log's
	Executable string
	Systemd    bool // systemd is told when the server is ready
	// Seed of the position hash; zero: a random one.
	Seed mvcc.Seed
	// Nice is how nice the process is (ThreadNice), from which the threads that
	// yield to the loops are counted.
	Nice int
}

// A Server is one running keyspace server. Start it with Start, end it with
// Shutdown, and wait with Wait.
type Server struct {
	opt      Options
	log      *zap.Logger
	cfg      atomic.Pointer[config.Config]
	cfgMu    sync.Mutex // one change of the configuration at a time
	table    *commands.Table
	shards   *shard.Set
	stats    *stats
	clients  *registry
	pause    *pause
	pubsub   *pubsub
	monitors monitors
	slow     *slowlog
	latency  *latencyMonitor
	started  time.Time
	runID    string
	seed     mvcc.Seed
	first    sync.Map // ids (int) of the threads that come first

	// peakReset is after how many ms the longest reply of a client is forgotten;
	// -1: never (DEBUG REPLYBUFFER PEAK-RESET-TIME).
	peakReset atomic.Int64

	listening
	upkeep
	debugState

	functions functions
	scripts   scripts

	loops    []*loop
	desks    desks
	conns    sync.WaitGroup // goroutines of netConns and accepters
	duties   sync.WaitGroup
	cancel   context.CancelFunc
	stopOnce sync.Once
	stopped  chan struct{}
}

// New returns a server that listens on nothing yet.
func New(o Options) *Server {
	if o.Seed == (mvcc.Seed{}) {
		o.Seed = mvcc.Seed{randomUint64(), randomUint64()}
	}
	srv := &Server{opt: o, log: o.Log, started: time.Now(), runID: randomHex(20), seed: o.Seed, stopped: make(chan struct{})}
	srv.cfg.Store(o.Config)
	srv.newReplID()
	srv.table = commands.NewTable(append(commands.Families(), families()...)...)
	srv.rename(o.Config.Renames)
	srv.stats = newStats(srv.table)
	srv.clients = newRegistry(srv)
	srv.pause = newPause(srv)
	srv.pubsub = newPubsub()
	srv.peakReset.Store(defaultPeakReset)
	srv.slow = newSlowlog()
	srv.latency = newLatencyMonitor()
	cores := runtime.NumCPU()
	srv.shards = shard.New(shard.Config{
		Shards:       o.Config.ShardCount(cores),
		Databases:    o.Config.Databases,
		Hash:         o.Seed.Hasher(),
		HeavyThreads: o.Config.HeavyThreadCount(cores),
		HeavyEnter:   func() func(int) { lowerPriority(o.Nice + heavyNice); return newResting(srv.monotonic).between },
		Clock:        func() int64 { return time.Now().UnixMilli() },
		Rand:         mrand.Uint64,
		Expired:      srv.expired,
		Evicted:      srv.evicted,
	})
	return srv
}

// defaultPeakReset is Redis' 5 s.
const defaultPeakReset = 5000

// config returns the present configuration, which is never changed.
func (srv *Server) config() *config.Config { return srv.cfg.Load() }

// rand gives commands their chance.
func (srv *Server) rand() uint64 { return mrand.Uint64() }

// monotonic is the time since the start in nanoseconds.
func (srv *Server) monotonic() int64 { return int64(time.Since(srv.started)) }

// Start listens, and serves until Shutdown. If it can't listen on an address it
// returns the error and serves nothing.
func (srv *Server) Start() error {
	if err := srv.adjustOpenFiles(); err != nil {
		return err
	}
	srv.apply(srv.config())
	cores := runtime.NumCPU()
	loops := srv.config().EventLoopCount(cores)
	for range loops {
		l, err := newLoop(srv, spinLimit(loops, cores))
		if err != nil {
			return err
		}
		srv.loops = append(srv.loops, l)
	}
	for _, l := range srv.loops {
		go l.run()
	}
	ctx, cancel := context.WithCancel(context.Background())
	srv.cancel = cancel
	srv.duties.Go(func() {
		srv.comeFirst()
		srv.shards.Run(ctx, dutyPeriod)
	})
	srv.duties.Go(func() { srv.keepUp(ctx) })
	if err := srv.reachable(srv.config()); err != nil {
		srv.Shutdown()
		srv.Wait()
		return err
	}
	return nil
}

// dutyPeriod is how often expired keys are looked for, as with Redis' hz of 10.
const dutyPeriod = 100 * time.Millisecond

// newReplID begins a history of its own.
func (srv *Server) newReplID() {
	id := randomHex(20)
	srv.replID.Store(&id)
}

func randomUint64() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.NativeEndian.Uint64(b[:])
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}
