package config

// An item is one word an enum option may have, with its value. Where two words have one value, the first is printed.
type item struct {
	name  string
	value int64
}

// words numbers names from 0.
func words(names ...string) []item {
	items := make([]item, len(names))
	for i, name := range names {
		items[i] = item{name, int64(i)}
	}
	return items
}

// EvictionPolicy is maxmemory-policy: which keys go when memory is full.
type EvictionPolicy int

// The eviction policies.
const (
	VolatileLRU EvictionPolicy = iota
	VolatileLFU
	VolatileRandom
	VolatileTTL
	AllKeysLRU
	AllKeysLFU
	AllKeysRandom
	NoEviction
)

// Volatile tells whether only keys with an expiry may go.
func (p EvictionPolicy) Volatile() bool { return p <= VolatileTTL }

// LFU tells whether keys carry an access frequency instead of an access time.
func (p EvictionPolicy) LFU() bool { return p == VolatileLFU || p == AllKeysLFU }

// String gives the name that INFO prints.
func (p EvictionPolicy) String() string { return evictionPolicies[p].name }

var evictionPolicies = words("volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl",
	"allkeys-lru", "allkeys-lfu", "allkeys-random", "noeviction")

// FsyncPolicy is appendfsync.
type FsyncPolicy int

// The fsync policies.
const (
	FsyncEverysec FsyncPolicy = iota
	FsyncAlways
	FsyncNo
)

var fsyncPolicies = words("everysec", "always", "no")

// LogLevel is loglevel.
type LogLevel int

// The log levels, from the most lines to the fewest.
const (
	LogDebug LogLevel = iota
	LogVerbose
	LogNotice
	LogWarning
)

var logLevels = words("debug", "verbose", "notice", "warning")

// LogFormat is log-format: Redis' lines, or a JSON object a line.
type LogFormat int

// The log formats.
const (
	LogText LogFormat = iota
	LogJSON
)

var logFormats = words("text", "json")

// Supervision is supervised: who wants to be told that the server is ready.
type Supervision int

// The kinds of supervision.
const (
	SupervisedUpstart Supervision = iota
	SupervisedSystemd
	SupervisedAuto
	SupervisedNo
)

var supervisions = words("upstart", "systemd", "auto", "no")

// ProtectedAction is who may use a dangerous command or option.
type ProtectedAction int

// The protected actions.
const (
	ActionNo ProtectedAction = iota
	ActionYes
	ActionLocal
)

// Allows tells whether a client may; local means that it came over loopback or a Unix socket.
func (a ProtectedAction) Allows(local bool) bool {
	return a == ActionYes || a == ActionLocal && local
}

var protectedActions = words("no", "yes", "local")

// TLSAuth is tls-auth-clients.
type TLSAuth int

// Whether a TLS client must show a certificate.
const (
	TLSAuthNo TLSAuth = iota
	TLSAuthYes
	TLSAuthOptional
)

var tlsAuths = words("no", "yes", "optional")

// DisklessLoad is repl-diskless-load.
type DisklessLoad int

// When a replica loads a snapshot straight from the socket.
const (
	DisklessLoadDisabled DisklessLoad = iota
	DisklessLoadOnEmptyDB
	DisklessLoadSwapDB
)

var disklessLoads = words("disabled", "on-empty-db", "swapdb")

// SanitizeMode is sanitize-dump-payload.
type SanitizeMode int

// Whose payloads are checked deeply.
const (
	SanitizeNo SanitizeMode = iota
	SanitizeYes
	SanitizeClients
)

var sanitizeModes = words("no", "yes", "clients")

// PropagationError is propagation-error-behavior.
type PropagationError int

// What happens when a command from the master or the append-only file fails.
const (
	PropagationIgnore PropagationError = iota
	PropagationPanic
	PropagationPanicOnReplicas
)

var propagationErrors = words("ignore", "panic", "panic-on-replicas")

// ACLPubSubDefault is acl-pubsub-default: what channels a new user has.
type ACLPubSubDefault int

// The channels of a new user.
const (
	ResetChannels ACLPubSubDefault = iota
	AllChannels
)

var aclPubSubDefaults = []item{{"allchannels", int64(AllChannels)}, {"resetchannels", int64(ResetChannels)}}

// ShutdownFlags are the options a signal's shutdown has.
type ShutdownFlags int

// The shutdown flags.
const (
	ShutdownSave ShutdownFlags = 1 << iota
	ShutdownNoSave
	ShutdownNow
	ShutdownForce
)

var shutdownFlags = []item{{"default", 0}, {"save", int64(ShutdownSave)}, {"nosave", int64(ShutdownNoSave)},
	{"now", int64(ShutdownNow)}, {"force", int64(ShutdownForce)}}

var (
	syslogFacilities = words("user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7")
	oomScoreAdjs     = []item{{"no", 0}, {"yes", 1}, {"relative", 1}, {"absolute", 2}}
	endpointTypes    = words("ip", "hostname", "unknown-endpoint")
	storageModes     = words("writeback", "writethrough")
	affinities       = []item{{"false", 0}, {"true", 1}, {"no", 0}, {"yes", 1}}
)

// Events is a set of keyspace notification classes.
type Events uint32

// The notification classes, with their letters.
const (
	EventKeyspace Events = 1 << iota // K
	EventKeyevent                    // E
	EventGeneric                     // g
	EventString                      // $
	EventList                        // l
	EventSet                         // s
	EventHash                        // h
	EventZSet                        // z
	EventExpired                     // x
	EventEvicted                     // e
	EventStream                      // t
	EventKeyMiss                     // m, not in A
	EventModule                      // d
	EventNew                         // n, not in A

	// EventAll is A.
	EventAll = EventGeneric | EventString | EventList | EventSet | EventHash | EventZSet | EventExpired | EventEvicted |
		EventStream | EventModule
)

const eventLetters = "KEg$lshzxetmdn"

// ParseEvents reads the letters of notify-keyspace-events. False for a letter that is none.
func ParseEvents(letters string) (Events, bool) {
	var set Events
	for _, letter := range []byte(letters) {
		event := EventOf(letter)
		if event == 0 {
			return 0, false
		}
		set |= event
	}
	return set, true
}

// EventOf returns the class, or all of them for A, that a letter stands for; zero if it is none.
func EventOf(letter byte) Events {
	if letter == 'A' {
		return EventAll
	}
	for i := range len(eventLetters) {
		if eventLetters[i] == letter {
			return 1 << i
		}
	}
	return 0
}

// String gives the letters in the order in which Redis prints them.
func (e Events) String() string {
	out := make([]byte, 0, len(eventLetters)+1)
	classes := "g$lshzxetdn"
	if e&EventAll == EventAll {
		out = append(out, 'A')
		classes = "n"
	}
	for _, letter := range []byte(classes + "KEm") {
		if e&EventOf(letter) != 0 {
			out = append(out, letter)
		}
	}
	return string(out)
}
