package commands

import (
	"firn/mvcc"
	"firn/shard"
)

// A Command is one row of the table: all the server needs to know before
// running it. Whether it reads or writes isn't said: it follows from the
// handler's kind.
type Command struct {
	Name    string    // upper case; of a subcommand, without its container
	Arity   int       // as Redis counts: with the name; -n means at least n
	Keys    Keys      // which arguments are keys; zero if none
	Dest    Keys      // which of them an OnStore writes; zero for every other handler
	Run     Handler   // where it runs and what it may touch; nil for a container
	Member  int       // the argument that names the first member of the key's value that is looked up; 0: none
	Cost    Cost      // nil: always small
	Flags   Flag      // only what can't be derived
	Summary string    // one line, for COMMAND DOCS and the README
	Subs    []Command // the subcommands of a container; their arity counts the container's name

	index  int    // place among all rows of the table, subcommands included
	full   string // lower case, "config|get" for a subcommand; set by NewTable
	parent *Command
	subs   map[string]*Command
}

// FullName is the name as errors and INFO print it: "get", "config|get".
func (r *Command) FullName() string { return r.full }

// Index is the row's place among all rows of its table, for per-row statistics.
func (r *Command) Index() int { return r.index }

// Container returns the command that this one is a subcommand of, or nil.
func (r *Command) Container() *Command { return r.parent }

// Keys says which arguments are keys: positions as in COMMAND INFO, the name
// being 0; a negative Last counts from the end.
type Keys struct {
	First, Last, Step int
	// Find returns the positions where First, Last and Step can't say it
	// (a numkeys argument, STORE). Nil otherwise.
	Find func(args [][]byte) []int
	// All says that the command needs every key of the keyspace (FLUSHALL,
	// DBSIZE): it runs with all shards held and must do only O(1) work on each.
	All bool
	// AllIf says of a command line that it may read any key beside those that
	// it names (SORT ... BY). Nil otherwise.
	AllIf func(args [][]byte) bool
}

// Any says whether the command line needs every key, to read at least.
func (k *Keys) Any(args [][]byte) bool {
	return k.All || k.AllIf != nil && k.AllIf(args)
}

// The usual key layouts.
var (
	oneKey  = Keys{First: 1, Last: 1, Step: 1}
	twoKeys = Keys{First: 1, Last: 2, Step: 1}
	allArgs = Keys{First: 1, Last: -1, Step: 1}
	pairs   = Keys{First: 1, Last: -1, Step: 2}
	allKeys = Keys{All: true}
)

// Each calls yield with the index of every key argument.
func (k *Keys) Each(args [][]byte, yield func(i int)) {
	if k.Find != nil {
		for _, i := range k.Find(args) {
			yield(i)
		}
		return
	}
	if k.First == 0 {
		return
	}
	last := k.Last
	if last < 0 {
		last += len(args)
	}
	for i := k.First; i <= last && i < len(args); i += k.Step {
		yield(i)
	}
}

// Flag says of a command what can't be derived from its handler.
type Flag uint32

// Flags of a row. The names are those of COMMAND INFO.
const (
	DenyOOM  Flag = 1 << iota // refused when used memory is over maxmemory
	Loading                   // allowed while the data is loaded
	NoAuth                    // allowed before AUTH
	NoMulti                   // refused inside MULTI
	NoScript                  // refused inside a script
	Admin                     // an administrator's command
	SkipSlow                  // not in the slow log
	SkipMon                   // not shown by MONITOR
	Blocking                  // may block the client
	PubSub                    // about channels
)

// Cost estimates how many elements (keys, or units of about a microsecond) the
// command will touch. The view is the live one; looking at sizes must be O(1)
// a key.
type Cost func(c *Call, v *mvcc.View) int

// Handler is one of the function types below, or a kind that package server
// adds for its own rows. Which one says where the command runs and what it may
// touch.
type Handler interface{ Kind() Kind }

// Kind tells handlers apart.
type Kind byte

// The kinds of handlers.
const (
	KindConn   Kind = iota // needs nothing but its arguments
	KindView               // reads keys
	KindCut                // reads frozen versions of many shards
	KindOwner              // writes keys
	KindStore              // reads keys, then writes others
	KindServer             // touches the session or the server
)

type (
	// OnConn answers from its arguments alone.
	OnConn func(c *Call) error
	// OnView reads a few keys: the live keyspace when small, a frozen one
	// when heavy. It runs with the shards of its keys held, or aside.
	OnView func(c *Call, v *mvcc.View) error
	// OnCut reads frozen versions of as many shards as it asks for.
	OnCut func(c *Call, cut mvcc.Cut) error
	// OnOwner may write its keys. It runs with their shards held.
	OnOwner func(c *Call, tx *mvcc.Tx) error
	// OnStore computes from the view what is to be written, and commit writes
	// it. A small one does both at once on the live keyspace. A heavy one reads
	// frozen versions, aside, while only the keys of the row's Dest are locked;
	// commit then runs with their shards held: it must be O(1)
	// (mvcc.Tx.PutValue), must write no other key, and must not use what the
	// view has shown. The reply and the events are commit's, and so it can be
	// nil only if the reply is there and nothing is to be written.
	OnStore func(c *Call, v *mvcc.View) (commit func(tx *mvcc.Tx) error, err error)
)

// Writes says whether a handler of the kind may write keys.
func (k Kind) Writes() bool { return k == KindOwner || k == KindStore }

// Kind says KindConn.
func (OnConn) Kind() Kind { return KindConn }

// Kind says KindView.
func (OnView) Kind() Kind { return KindView }

// Kind says KindCut.
func (OnCut) Kind() Kind { return KindCut }

// Kind says KindOwner.
func (OnOwner) Kind() Kind { return KindOwner }

// Kind says KindStore.
func (OnStore) Kind() Kind { return KindStore }

// A Call is one command being run. It belongs to the goroutine that runs it;
// its arguments belong to the connection and are valid until Run returns: what
// is stored must be copied (the keyspace's Set methods do).
type Call struct {
	Args    [][]byte
	Row     *Command
	Out     *Reply
	Now     int64 // unix ms, read once a batch
	Micros  int64 // the same instant in unix µs
	DB      int   // the selected database
	MaxBulk int64 // proto-max-bulk-len, the longest string in bytes
	// MaxSparse is hll-sparse-max-bytes: how long a HyperLogLog may grow before
	// it is made dense.
	MaxSparse int64
	Compress  bool          // rdbcompression: DUMP packs long strings
	Rand      func() uint64 // uniform random numbers
	Table     *Table
	// Pause lets other work have its turn, in loops over many elements. It
	// may take long; what a view or Tx showed before stays true after it.
	// Nil when the command runs as a small one.
	Pause func()
	// WantEvents says that somebody listens to keyspace events.
	WantEvents bool
	// Subscribed says that the client is subscribed to a channel or a pattern.
	Subscribed bool
	// Obey says that the command is an effect, read from an append-only file or
	// sent by a master: what its arguments say is done without asking whether
	// a client might say so.
	Obey bool
	// ByResult asks an OnStore to Propagate its result: by the time it is
	// written its inputs may have changed, so that the command line would do
	// something else elsewhere, and a journal listens.
	ByResult bool
	// CanWait says that the client may wait for a key if there is nothing: the
	// call then leaves a Wait. Without it the answer is that of a timeout.
	CanWait bool
	// InScript says that a script runs the command.
	InScript bool
	// Head is memory for the part of a reply that must stand behind its length,
	// or nil for new memory.
	Head *Reply

	// Held holds the shards of the call's keys and knows their positions; nil if
	// it runs aside.
	Held *shard.Hold

	geo      *geoQuery // what the row's Cost has read of the call, for its Run on the same live view
	line     addedLine
	wait     *Wait
	effects  []shard.Effect
	replaced bool
	events   []Event
}

// Event is a keyspace notification: class is Redis' letter for it in
// notify-keyspace-events ('g', '$', 'x', 'e' …).
type Event struct {
	Class byte
	Name  string
	DB    int
	Key   []byte // alias of an argument, or a copy
}

// Begin readies c for a command line; what belongs to the connection (Out,
// Table, Rand, MaxBulk, MaxSparse, Compress, DB, Now) is kept.
func (c *Call) Begin(row *Command, args [][]byte) {
	c.Row, c.Args, c.Pause, c.replaced, c.ByResult, c.geo, c.Held, c.wait = row, args, nil, false, false, nil, nil, nil
	c.effects, c.events = c.effects[:0], c.events[:0]
}

// head returns an empty Reply for the part of the reply that must stand behind
// its length. It is used once a command.
func (c *Call) head() *Reply {
	if c.Head == nil {
		return new(Reply)
	}
	c.Head.Reset()
	return c.Head
}

// next says that the i-th of the keys that the row names is looked up next.
func (c *Call) next(v *mvcc.View, i int, key []byte) {
	if c.Held != nil {
		c.Held.Next(v, i, key)
	}
}

// Is says whether argument i is the option, in whatever case.
func (c *Call) Is(i int, option string) bool { return foldEqual(c.Args[i], option) }

// Propagate adds a command to the effects of this one, in place of the command
// line itself, which is the effect of a write that changed something and says
// nothing else. The arguments are kept, not copied, until the batch's effects
// are handed on.
func (c *Call) Propagate(args ...[]byte) {
	c.replaced = true
	c.effects = append(c.effects, shard.Effect{DB: c.DB, Args: args})
}

// PropagateNothing says that the write has no effect that others must repeat.
func (c *Call) PropagateNothing() { c.replaced = true }

// Notify records a keyspace event.
func (c *Call) Notify(class byte, name string, key []byte) { c.NotifyIn(c.DB, class, name, key) }

// NotifyIn is Notify of what happened in a database.
func (c *Call) NotifyIn(db int, class byte, name string, key []byte) {
	if c.WantEvents {
		c.events = append(c.events, Event{class, name, db, key})
	}
}

// Events returns what Notify recorded.
func (c *Call) Events() []Event { return c.events }

// Effects returns what the journal must be told of a write that is done: first
// the keys it found expired, then its own effects.
func (c *Call) Effects(tx *mvcc.Tx) []shard.Effect {
	for i, e := range tx.Expired {
		c.effects = append(c.effects, shard.Effect{})
		copy(c.effects[i+1:], c.effects[i:])
		c.effects[i] = shard.Expired(e)
	}
	if !c.replaced && tx.Changes > 0 {
		c.effects = append(c.effects, shard.Effect{DB: c.DB, Args: c.Args})
	}
	return c.effects
}
