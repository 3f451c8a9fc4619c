package config

import "slices"

// A Config is one complete configuration. It is immutable once published: change a Clone, then publish that.
// Times are in the unit the field's name ends in, or, where it has none, in the one its Redis option has. Sizes are in bytes.
type Config struct {
	// Network.

	Bind            []string // addresses to listen on; "-addr" may be missing, "*" is all of IPv4, "::*" all of IPv6
	BindSourceAddr  string   // local address of outgoing connections
	Port            int      // 0: no TCP
	TCPBacklog      int
	TCPKeepAlive    int // seconds, 0: off
	Timeout         int // seconds a client may be idle, 0: for ever
	UnixSocket      string
	UnixSocketPerm  uint32 // 0: as umask says
	ProtectedMode   bool
	MaxClients      int
	ProtoMaxBulkLen int64
	TLS             TLS

	ClientQueryBufferLimit int64
	OutputLimits           [3]OutputLimit // indexed by ClassNormal, ClassReplica, ClassPubSub
	MaxMemoryClients       int64          // below 0: -n per cent of maxmemory
	TrackingTableMaxKeys   int64

	// Process.

	Supervised       Supervision
	PidFile          string
	LogLevel         LogLevel
	LogFile          string // "": standard output
	LogFormat        LogFormat
	AlwaysShowLogo   bool
	Databases        int
	Dir              string // as given; "" is the directory the process started in
	Hz               int
	DynamicHz        bool
	CrashLogEnabled  bool
	ShutdownTimeout  int // seconds
	ShutdownOnSigint ShutdownFlags
	ShutdownOnTerm   ShutdownFlags
	Shards           int // 0: four for each core, rounded up to a power of two
	HeavyThreads     int // 0: half the cores, at least one
	EventLoops       int // 0: half the cores, at least one

	// Who may do what.

	RequirePass            string
	ACLFile                string
	ACLLogMaxLen           int64
	ACLPubSubDefault       ACLPubSubDefault
	EnableProtectedConfigs ProtectedAction
	EnableDebugCommand     ProtectedAction
	EnableModuleCommand    ProtectedAction
	Users                  [][]string // the words after "user" of each such line, in order
	Renames                []Rename   // rename-command lines, in order

	// Memory.

	MaxMemory                int64 // 0: no limit
	MaxMemoryPolicy          EvictionPolicy
	MaxMemorySamples         int
	MaxMemoryTenacity        int // maxmemory-eviction-tenacity, 0 to 100
	LFULogFactor             int
	LFUDecayTime             int // minutes
	ActiveExpireEffort       int // 1 to 10
	LazyfreeLazyEviction     bool
	LazyfreeLazyExpire       bool
	LazyfreeLazyServerDel    bool
	LazyfreeLazyUserDel      bool
	LazyfreeLazyUserFlush    bool
	ReplicaIgnoreMaxMemory   bool
	HashMaxListpackEntries   int
	HashMaxListpackValue     int
	ListMaxListpackSize      int // below 0: -1 is 4 kb, -2 8 kb, to -5 64 kb a node
	ListCompressDepth        int
	SetMaxIntsetEntries      int
	SetMaxListpackEntries    int
	SetMaxListpackValue      int
	ZSetMaxListpackEntries   int
	ZSetMaxListpackValue     int
	StreamNodeMaxBytes       int64
	StreamNodeMaxEntries     int64
	HLLSparseMaxBytes        int64
	SanitizeDumpPayload      SanitizeMode
	PropagationErrorBehavior PropagationError

	// What is observed.

	SlowlogLogSlowerThan    int64 // microseconds, below 0: off
	SlowlogMaxLen           int64
	LatencyMonitorThreshold int64 // milliseconds, 0: off
	LatencyTracking         bool
	LatencyPercentiles      []float64
	NotifyKeyspaceEvents    Events
	BusyReplyThreshold      int64 // milliseconds, 0: never

	// Snapshot file.

	Save                    []SavePoint
	DBFilename              string
	RDBCompression          bool
	RDBChecksum             bool
	RDBDelSyncFiles         bool
	RDBSaveIncrementalFsync bool
	StopWritesOnBgsaveError bool
	RDBKeySaveDelay         int   // microseconds a key, below 0: per that many keys; for tests
	KeyLoadDelay            int   // the same when loading
	LoadingEventsBytes      int64 // loading-process-events-interval-bytes

	// Append-only file.

	AppendOnly                 bool
	AppendFilename             string
	AppendDirname              string
	AppendFsync                FsyncPolicy
	NoAppendFsyncOnRewrite     bool
	AutoAOFRewritePercentage   int
	AutoAOFRewriteMinSize      int64
	AOFLoadTruncated           bool
	AOFUseRDBPreamble          bool
	AOFTimestampEnabled        bool
	AOFRewriteIncrementalFsync bool
	AOFDisableAutoGC           bool

	// Replication.

	ReplicaOfHost                string // "": a master
	ReplicaOfPort                int
	MasterUser                   string
	MasterAuth                   string
	ReplicaReadOnly              bool
	ReplicaServeStaleData        bool
	ReplicaLazyFlush             bool
	ReplicaPriority              int
	ReplicaAnnounced             bool
	ReplicaAnnounceIP            string
	ReplicaAnnouncePort          int
	ReplicaIgnoreDiskWriteErrors bool
	MinReplicasToWrite           int
	MinReplicasMaxLag            int // seconds
	ReplBacklogSize              int64
	ReplBacklogTTL               int64 // seconds
	ReplDisableTCPNoDelay        bool
	ReplDisklessLoad             DisklessLoad
	ReplDisklessSync             bool
	ReplDisklessSyncDelay        int // seconds
	ReplDisklessSyncMaxReplicas  int
	ReplPingReplicaPeriod        int // seconds
	ReplTimeout                  int // seconds

	oomScoreAdj [3]int
	// spare holds the values of the options that mean nothing here, by the row's index.
	spare []spare
}

// TLS is the part of a Config that is about encrypted connections. Names are those of the options without "tls-".
type TLS struct {
	Port                int // 0: no TLS
	Cluster             bool
	Replication         bool
	AuthClients         TLSAuth
	PreferServerCiphers bool
	SessionCaching      bool
	SessionCacheSize    int
	SessionCacheTimeout int // seconds
	CertFile            string
	KeyFile             string
	KeyFilePass         string
	ClientCertFile      string
	ClientKeyFile       string
	ClientKeyFilePass   string
	DHParamsFile        string
	CACertFile          string
	CACertDir           string
	Protocols           string
	Ciphers             string
	Ciphersuites        string
}

// An OutputLimit says when a client that doesn't read its replies is dropped: at Hard bytes, or above Soft for SoftSeconds. 0: never.
type OutputLimit struct {
	Hard, Soft  int64
	SoftSeconds int64
}

// Indexes into Config.OutputLimits.
const (
	ClassNormal = iota
	ClassReplica
	ClassPubSub
)

// A SavePoint asks for a snapshot when Changes keys changed in the last Seconds.
type SavePoint struct {
	Seconds, Changes int64
}

// A Rename is one rename-command line. An empty To takes the command away.
type Rename struct {
	From, To string
}

type spare struct {
	n int64
	s string
}

// Default gives the configuration of a server that was started without any.
func Default() *Config {
	c := &Config{spare: make([]spare, len(table.rows))}
	for _, o := range table.rows {
		o.kind.init(o, c)
	}
	return c
}

// Clone gives an independent copy, for changing before it is published.
func (c *Config) Clone() *Config {
	d := *c
	d.Bind = slices.Clone(c.Bind)
	d.Users = slices.Clone(c.Users)
	d.Renames = slices.Clone(c.Renames)
	d.Save = slices.Clone(c.Save)
	d.LatencyPercentiles = slices.Clone(c.LatencyPercentiles)
	d.spare = slices.Clone(c.spare)
	return &d
}

// Text gives the value of one option as CONFIG GET prints it, "" for an unknown name.
func (c *Config) Text(name string) string {
	o := table.byName[name]
	if o == nil {
		return ""
	}
	return o.kind.get(o, c)
}
