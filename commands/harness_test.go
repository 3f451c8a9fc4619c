package commands

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"firn/commands/transcript"
	"firn/mvcc"
	"firn/shard"
)

const (
	harnessStart = 1_796_000_000_000 // unix ms: some instant of the year 2026
	harnessDBs   = 16
)

// A harness runs rows as the server does, but in one goroutine and with a clock
// that stands still between commands. It is a transcript.Player.
//
// It is unkind where it may be: arguments are overwritten after each command,
// every read is repeated on a frozen view, and with rough set, versions are
// frozen and records are moved in each Pause.
type harness struct {
	space     *mvcc.Space
	table     *Table
	now       int64
	maxBulk   int64
	maxSparse int64
	maxCost   int // dearer calls aren't run, but answered by an error; 0: all are
	rough     bool
	sessions  map[string]*harnessSession
	tx        mvcc.Tx
	chance    *rand.Rand
	drawn     int            // random numbers so far
	effects   []shard.Effect // that the replica hasn't seen
	replica   *harness       // nil: nobody follows
	recording bool           // keep effects even if nobody follows
	listening bool           // keep events in heard
	heard     []string
	kept      []keptReply
}

type harnessSession struct {
	call Call
	out  Reply
	view mvcc.View
}

// A keptReply remembers what a reply looked like whose parts may be the
// keyspace's own bytes.
type keptReply struct {
	parts [][]byte
	was   []byte
}

// newHarness returns one with an empty keyspace; more are rows for the test alone.
func newHarness(stores int, seed uint64, more ...Command) *harness {
	h := bareHarness(stores, seed, more...)
	h.replica = bareHarness(otherStores(stores), seed+1, more...)
	h.replica.now = replicaNow
	return h
}

// bareHarness is one that nobody follows.
func bareHarness(stores int, seed uint64, more ...Command) *harness {
	return &harness{
		space:     mvcc.NewSpace(stores, harnessDBs, mvcc.Seed{seed, 2}.Hasher()),
		table:     NewTable(append(Families(), more)...),
		now:       harnessStart,
		maxBulk:   512 << 20,
		maxSparse: 3000,
		sessions:  map[string]*harnessSession{},
		chance:    rand.New(rand.NewPCG(seed, 3)),
	}
}

func (h *harness) rand() uint64 {
	h.drawn++
	return h.chance.Uint64()
}

// Advance moves the clock.
func (h *harness) Advance(d time.Duration) error {
	h.now += d.Milliseconds()
	return nil
}

func (h *harness) session(name string) *harnessSession {
	s := h.sessions[name]
	if s == nil {
		s = &harnessSession{}
		s.call = Call{Out: &s.out, Rand: h.rand, Table: h.table, WantEvents: true, Compress: true, CanWait: true}
		h.sessions[name] = s
	}
	return s
}

// Do runs one command line. The error is for what a command must never do; what
// the client is told is in the reply.
func (h *harness) Do(session string, line [][]byte) ([]byte, error) {
	s := h.session(session)
	args := cloneArgs(line)
	s.call.Now, s.call.MaxBulk, s.call.MaxSparse = h.now, h.maxBulk, h.maxSparse
	row, err := h.table.Resolve(args)
	switch {
	case row == nil && h.builtin(s, args):
	case err != nil:
		s.out.Error(err)
	default:
		if err := h.run(s, row, args); err != nil {
			return nil, err
		}
	}
	raw := h.take(&s.out)
	for _, a := range args {
		scribble(a)
	}
	if row == nil || h.replica == nil {
		return raw, nil
	}
	return raw, h.follow(row, line, s.call.DB)
}

func cloneArgs(line [][]byte) [][]byte {
	args := make([][]byte, len(line))
	for i, a := range line {
		args[i] = append(make([]byte, 0, len(a)), a...)
	}
	return args
}

func scribble(b []byte) {
	for i := range b {
		b[i] = 0xa5
	}
}

// take empties the reply. What it may share with the keyspace is remembered.
func (h *harness) take(out *Reply) []byte {
	plain, parts := out.Plain(), out.Take()
	raw := bytes.Join(parts, nil)
	if !plain && len(h.kept) < 100 {
		h.kept = append(h.kept, keptReply{parts, raw})
	}
	return raw
}

func (h *harness) run(s *harnessSession, row *Command, args [][]byte) error {
	c := &s.call
	c.Begin(row, args)
	if h.rough {
		c.Pause = func() { h.disturb(c.DB) }
	}
	if n := h.cost(c); h.maxCost > 0 && n > h.maxCost {
		s.out.Error(errDear)
		return nil
	}
	var err error
	switch row.Run.Kind() {
	case KindConn:
		err = RunConn(c)
	case KindView:
		err = h.runView(s)
	case KindCut:
		err = h.runCut(c)
	case KindOwner:
		err = h.runOwner(c)
	case KindStore:
		err = h.runStore(c)
	default:
		return fmt.Errorf("%s is a row of the server", row.full)
	}
	if fault := new(Fault); errors.As(err, &fault) {
		return fmt.Errorf("%w\n%s", fault, fault.Stack)
	}
	return h.checkEvents(c, err)
}

// giveUp ends a wait at once, as its timeout would.
func (c *Call) giveUp() {
	if c.Waiting() != nil {
		c.Out.NullArray()
	}
}

// errDear is the reply to a call that costs more than a test wants to spend.
const errDear Error = "ERR too dear for this test"

func (h *harness) cost(c *Call) int {
	if c.Row.Cost == nil {
		return 0
	}
	var v mvcc.View
	v.LiveView(h.space, c.DB, h.now)
	return c.Row.Cost(c, &v)
}

// disturb does to the keyspace what may happen during a Pause.
func (h *harness) disturb(db int) {
	for _, st := range h.space.Stores {
		st.Freeze(db).Release()
		st.Clean(1 << 20)
	}
}

// errTwoFaced marks reads that say one thing live and another frozen.
var errTwoFaced = errors.New("the frozen view answers otherwise")

func (h *harness) runView(s *harnessSession) error {
	c, drawn := &s.call, h.drawn
	s.view.LiveView(h.space, c.DB, h.now)
	err := RunView(c, &s.view)
	if isFault(err) {
		return err
	}
	c.giveUp()
	if h.drawn == drawn && !liveOnly(c.Row.full) {
		if err := h.again(c); err != nil {
			return err
		}
	}
	h.tx.Begin(h.space, c.DB, h.now)
	for _, key := range s.view.TakeStale() {
		h.tx.Expire(key)
	}
	h.record(c, &h.tx)
	return err
}

func isFault(err error) bool { return errors.As(err, new(*Fault)) }

// liveOnly names the rows that read access clocks, which versions have not.
func liveOnly(name string) bool {
	return name == "object|idletime" || name == "object|freq" || name == "debug|object"
}

// again runs the read of c on a frozen view.
func (h *harness) again(c *Call) error {
	cut := h.cut(c.DB)
	defer cut.release()
	var frozen mvcc.View
	var out Reply
	out.SetProto(c.Out.Proto())
	frozen.FrozenView(h.space, c.DB, h.now, cut.All())
	twin := Call{Args: c.Args, Row: c.Row, Out: &out, Now: c.Now, DB: c.DB, MaxBulk: c.MaxBulk, Compress: c.Compress, Rand: c.Rand, Table: c.Table, Pause: c.Pause}
	if err := RunView(&twin, &frozen); isFault(err) {
		return err
	}
	live := bytes.Join(c.Out.Take(), nil)
	c.Out.Raw(live)
	if got := bytes.Join(out.Take(), nil); !bytes.Equal(got, live) {
		return &Fault{c.Row.full, fmt.Errorf("%w: %.300q, live %.300q", errTwoFaced, got, live), nil}
	}
	return nil
}

func (h *harness) runCut(c *Call) error {
	cut := h.cut(c.DB)
	defer cut.release()
	return RunCut(c, cut)
}

func (h *harness) runOwner(c *Call) error {
	h.tx.Begin(h.space, c.DB, h.now)
	err := RunOwner(c, &h.tx)
	c.giveUp()
	if err != nil && h.tx.Changes != 0 && !isFault(err) {
		return &Fault{c.Row.full, fmt.Errorf("%d changes by a command that failed: %w", h.tx.Changes, err), nil}
	}
	for _, key := range h.tx.TakeStale() {
		h.tx.Expire(key)
	}
	h.record(c, &h.tx)
	return err
}

// runStore runs a storing command as a small one, or as a heavy one if the
// harness is rough.
func (h *harness) runStore(c *Call) error {
	if !h.rough {
		return h.runOwner(c)
	}
	cut := h.cut(c.DB)
	var frozen mvcc.View
	frozen.FrozenView(h.space, c.DB, h.now, cut.All())
	c.ByResult = true
	commit, err := PrepareStore(c, &frozen)
	h.disturb(c.DB)
	cut.release()
	h.tx.Begin(h.space, c.DB, h.now)
	h.expireInputs(c)
	if commit != nil {
		err = CommitStore(c, commit, &h.tx)
	}
	if err != nil && h.tx.Changes != 0 && !isFault(err) {
		return &Fault{c.Row.full, fmt.Errorf("%d changes by a command that failed: %w", h.tx.Changes, err), nil}
	}
	h.record(c, &h.tx)
	return err
}

// expireInputs removes what a small storing command would have found expired,
// which in a server somebody else does.
func (h *harness) expireInputs(c *Call) {
	twin := *c
	twin.Out, twin.effects, twin.events, twin.Pause = &Reply{}, nil, nil, nil
	_, _ = PrepareStore(&twin, &h.tx.View)
	for _, key := range h.tx.TakeStale() {
		h.tx.Expire(key)
	}
}

func (h *harness) checkEvents(c *Call, err error) error {
	for _, e := range c.Events() {
		if h.listening && e.Class != 'n' { // which the other side is not asked for
			h.heard = append(h.heard, heardEvent(e))
		}
		if strings.IndexByte("g$lshztxn", e.Class) < 0 || e.Name == "" || err != nil {
			return fmt.Errorf("%s: no such event: %c %q of %q (with error %w)", c.Row.full, e.Class, e.Name, e.Key, err)
		}
	}
	return nil
}

// A harnessCut freezes each store when it is asked for.
type harnessCut struct {
	h        *harness
	db       int
	versions []*mvcc.Version
}

func (h *harness) cut(db int) *harnessCut {
	return &harnessCut{h, db, make([]*mvcc.Version, len(h.space.Stores))}
}

func (c *harnessCut) Space() *mvcc.Space { return c.h.space }
func (c *harnessCut) Now() int64         { return c.h.now }

func (c *harnessCut) Version(store int) *mvcc.Version {
	if c.versions[store] == nil {
		c.versions[store] = c.h.space.Stores[store].Freeze(c.db)
	}
	return c.versions[store]
}

func (c *harnessCut) All() []*mvcc.Version {
	for i := range c.versions {
		c.Version(i)
	}
	return c.versions
}

func (c *harnessCut) release() {
	for _, v := range c.versions {
		if v != nil {
			v.Release()
		}
	}
}

// builtin answers for the few rows of package server that transcripts of the
// keyspace need, and says whether it did.
func (h *harness) builtin(s *harnessSession, args [][]byte) bool {
	words := strings.Fields(strings.ToLower(string(bytes.Join(args, []byte(" ")))))
	switch {
	case len(words) == 2 && words[0] == "select":
		h.selectDB(s, words[1])
	case len(words) == 2 && words[0] == "hello" && (words[1] == "2" || words[1] == "3"):
		s.out.SetProto(int(words[1][0] - '0'))
		s.out.Map(1)
		s.out.BulkString("proto")
		s.out.Int(int64(s.out.Proto()))
	case len(words) == 4 && words[0] == "config" && words[1] == "set":
		h.configure(words[2], words[3])
		s.out.OK()
	case len(words) == 3 && words[0] == "debug" && words[1] == "set-active-expire":
		s.out.OK()
	default:
		return false
	}
	return true
}

func (h *harness) selectDB(s *harnessSession, word string) {
	n, err := strconv.Atoi(word)
	switch {
	case err != nil:
		s.out.Error(ErrNotInteger)
	case n < 0 || n >= harnessDBs:
		s.out.Error(ErrDBIndex)
	default:
		s.call.DB = n
		s.out.OK()
	}
}

func (h *harness) configure(name, value string) {
	a := *h.space.Access()
	n, _ := strconv.Atoi(value)
	switch name {
	case "maxmemory-policy":
		a.LFU = strings.HasSuffix(value, "-lfu")
	case "lfu-log-factor":
		a.LogFactor = n
	case "lfu-decay-time":
		a.DecayTime = n
	case "proto-max-bulk-len":
		h.maxBulk = int64(n)
	default:
		h.setLimit(name, n)
	}
	a.Rand = h.rand
	h.space.SetAccess(a)
}

// setLimit sets a limit of collections, also in the replica.
func (h *harness) setLimit(name string, n int) {
	l := *h.space.Limits()
	limit := map[string]*int{
		"hash-max-listpack-entries": &l.HashEntries, "hash-max-listpack-value": &l.HashValue, "set-max-intset-entries": &l.SetInts,
		"zset-max-listpack-entries": &l.ZSetEntries, "zset-max-listpack-value": &l.ZSetValue,
		"stream-node-max-bytes": &l.StreamBytes, "stream-node-max-entries": &l.StreamCount, "hll-sparse-max-bytes": &l.HLLSparseBytes,
	}[name]
	if limit == nil {
		return
	}
	*limit = n
	h.maxSparse = int64(l.HLLSparseBytes)
	h.space.SetLimits(l)
	if h.replica != nil {
		h.replica.setLimit(name, n)
	}
}

// verify is the end of every test that used the harness: the structure is
// sound, nobody holds a version, replies that share the keyspace's bytes still
// read the same, and the effects alone have made the same keyspace.
func (h *harness) verify() error {
	if err := h.space.Check(); err != nil {
		return err
	}
	if n := h.space.Pins(); n != 0 {
		return fmt.Errorf("%d pins are left", n)
	}
	for _, k := range h.kept {
		if !bytes.Equal(bytes.Join(k.parts, nil), k.was) {
			return fmt.Errorf("a reply changed after it was given: %.100q", k.was)
		}
	}
	if err := h.replica.space.Check(); err != nil {
		return fmt.Errorf("in the replica: %w", err)
	}
	return equalSpaces(h.space, h.replica.space)
}

var _ transcript.Player = (*harness)(nil)
