package server

import (
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"firn/commands"
	"firn/server/config"

	"go.uber.org/zap"
)

// debugCommands is one row, because DEBUG's subcommands have none in Redis
// either. Everything behind it is for tests and for looking inside; nothing of
// it may end the server or hold other clients up.
var debugCommands = []commands.Command{
	{Name: "DEBUG", Arity: -2, Run: onSession(runDebug), Flags: adminFlags, Summary: "A container for debugging commands"},
}

// debugState is what DEBUG has switched.
type debugState struct {
	cronPaused    atomic.Bool // idle clients are left alone
	scriptsMayAll atomic.Bool // also what is flagged NoScript
}

// A debugSub is one subcommand, with the least and the most of its arguments,
// DEBUG itself counted.
type debugSub struct {
	name     string
	min, max int
	run      onSession
}

// findDebugSub finds the subcommand that fits the arguments.
func findDebugSub(c *commands.Call) (onSession, bool) {
	for _, sub := range debugSubs() {
		if c.Is(1, sub.name) && len(c.Args) >= sub.min && len(c.Args) <= sub.max {
			return sub.run, true
		}
	}
	return nil, false
}

func debugSubs() []debugSub {
	return []debugSub{
		{"help", 2, 2, debugHelp},
		{"log", 3, 3, debugLog},
		{"sleep", 3, 3, debugSleep},
		{"set-active-expire", 3, 3, debugSetActiveExpire},
		{"protocol", 3, 3, debugProtocol},
		{"object", 3, 3, debugObject},
		{"sdslen", 3, 3, debugSDSLen},
		{"digest", 2, 2, debugDigest},
		{"digest-value", 2, math.MaxInt, debugDigestValue},
		{"populate", 3, 5, debugPopulate},
		{"reload", 2, math.MaxInt, debugReload},
		{"loadaof", 2, 2, debugLoadAOF},
		{"error", 3, 3, debugError},
		{"config-rewrite-force-all", 2, 2, debugRewriteAll},
		{"change-repl-id", 2, 2, debugChangeReplID},
		{"pause-cron", 3, 3, debugPauseCron},
		{"replybuffer", 4, 4, debugReplyBuffer},
		{"htstats", 3, 3, debugHTStats},
		{"htstats-key", 3, 3, debugHTStatsKey},
		{"listpack", 3, 3, debugEncoded("listpack", "Listpack structure printed on stdout", commands.ErrDebugListpack)},
		{"quicklist", 3, 4, debugEncoded("quicklist", "Quicklist structure printed on stdout", commands.ErrDebugQuicklist)},
		{"quicklist-packed-threshold", 3, 3, debugPackedThreshold},
		{"set-disable-deny-scripts", 3, 3, debugDenyScripts},
		{"set-skip-checksum-validation", 3, 3, debugAccept},
		{"dict-resizing", 3, 3, debugAccept},
		{"client-eviction", 2, 2, debugClientEviction},
		{"clusterlink", 5, 5, debugClusterLink},
		{"restart", 2, 3, debugRestart},
		{"crash-and-recover", 2, 3, debugRestart},
		{"segfault", 2, math.MaxInt, debugCrash},
		{"panic", 2, math.MaxInt, debugCrash},
		{"assert", 2, math.MaxInt, debugCrash},
		{"oom", 2, math.MaxInt, debugCrash},
	}
}

func runDebug(c *commands.Call, s *session) error {
	if !s.srv.config().EnableDebugCommand.Allows(s.info.peer.local) {
		return commands.ErrDebugDenied
	}
	run, ok := findDebugSub(c)
	if !ok {
		return subcommandSyntax(c)
	}
	return run(c, s)
}

// longestLog is how much of a message is logged, as in Redis.
const longestLog = 1024

func debugLog(c *commands.Call, s *session) error {
	text := c.Args[2][:min(len(c.Args[2]), longestLog)]
	s.srv.log.Warn("DEBUG LOG: " + string(text))
	c.Out.OK()
	return nil
}

// debugSleep makes the command take so long, for its own client only: it waits
// at its home by a timer, and takes no place of the heavy pool.
func debugSleep(c *commands.Call, s *session) error {
	seconds, _ := strconv.ParseFloat(string(c.Args[2]), 64)
	if !(seconds > 0) {
		c.Out.OK()
		return nil
	}
	nanos := int64(min(seconds, math.MaxInt64/4e9) * 1e9)
	if s.nest.hold != nil { // nobody can go on, as in Redis
		time.Sleep(time.Duration(nanos))
		c.Out.OK()
		return nil
	}
	start := s.srv.monotonic()
	end := start + nanos
	call := s.call
	s.waiting = true
	s.nap(&call, start, end)
	return nil
}

// napStep is how often a sleeping session looks whether its client has left.
const napStep = time.Second

// nap answers OK at the end (monotonic, ns).
func (s *session) nap(c *commands.Call, start, end int64) {
	left := time.Duration(end - s.srv.monotonic())
	switch {
	case s.closed:
	case left <= 0:
		c.Out = &commands.Reply{}
		c.Out.OK()
		s.rejoin(c, start, nil)
	default:
		time.AfterFunc(min(left, napStep), func() { s.home.post(func() { s.nap(c, start, end) }) })
	}
}

// isOn reads a switch as C's atoi does: what begins with a number other than 0
// is on.
func isOn(arg []byte) bool {
	digits := strings.TrimLeft(strings.TrimLeft(string(arg), " \t\n\v\f\r+-"), "0")
	return digits != "" && '1' <= digits[0] && digits[0] <= '9'
}

func debugSetActiveExpire(c *commands.Call, s *session) error {
	s.srv.shards.SetActiveExpire(isOn(c.Args[2]))
	c.Out.OK()
	return nil
}

// debugPauseCron stops what is done for idle clients every 100 ms: timeouts and
// the shrinking of buffers.
func debugPauseCron(c *commands.Call, s *session) error {
	s.srv.cronPaused.Store(isOn(c.Args[2]))
	c.Out.OK()
	return nil
}

func debugReplyBuffer(c *commands.Call, s *session) error {
	switch {
	case c.Is(2, "resizing"): // the buffers have no fixed size that would be changed
	case !c.Is(2, "peak-reset-time"):
		return subcommandSyntax(c)
	case c.Is(3, "never"):
		s.srv.peakReset.Store(-1)
	case c.Is(3, "reset"):
		s.srv.peakReset.Store(defaultPeakReset)
	default:
		n, ok := commands.ParseInt(c.Args[3])
		if !ok {
			return commands.ErrNotInteger
		}
		s.srv.peakReset.Store(n)
	}
	c.Out.OK()
	return nil
}

// debugChangeReplID begins a new history.
func debugChangeReplID(c *commands.Call, s *session) error {
	s.srv.log.Warn("Changing replication IDs after receiving DEBUG change-repl-id")
	s.srv.newReplID()
	c.Out.OK()
	return nil
}

func debugRewriteAll(c *commands.Call, s *session) error {
	return s.rewriteConfig(config.RewriteOptions{Force: true})
}

// debugError answers the client's own error, which counts as none of ours.
func debugError(c *commands.Call, s *session) error {
	c.Out.Error(commands.ErrDebugError(c.Args[2]))
	return nil
}

// debugDenyScripts lets scripts run every command, or no longer.
func debugDenyScripts(c *commands.Call, s *session) error {
	n, _ := commands.ParseInt(c.Args[2])
	s.srv.scriptsMayAll.Store(n != 0)
	c.Out.OK()
	return nil
}

// debugAccept takes a switch of something that does not exist here (checksums of dumps, hash tables): whatever it is set to, that is so.
func debugAccept(c *commands.Call, s *session) error {
	c.Out.OK()
	return nil
}

// debugPackedThreshold checks its argument, of which only lists would make use.
func debugPackedThreshold(c *commands.Call, s *session) error {
	if n, ok := parseMemory(string(c.Args[2])); !ok || n > 1<<32-1<<20 {
		return commands.ErrDebugThreshold
	}
	c.Out.OK()
	return nil
}

// parseMemory reads a number of bytes with a unit.
func parseMemory(text string) (int64, bool) {
	digits := strings.TrimRight(strings.ToLower(text), "bkmg")
	unit, known := map[string]int64{"": 1, "b": 1, "k": 1e3, "kb": 1 << 10, "m": 1e6, "mb": 1 << 20, "g": 1e9, "gb": 1 << 30}[strings.ToLower(text[len(digits):])]
	n, err := strconv.ParseUint(digits, 10, 32)
	return int64(n) * unit, known && err == nil
}

func debugClientEviction(c *commands.Call, s *session) error {
	if s.srv.config().ClientMemoryLimit() > 0 {
		return subcommandSyntax(c) // clients are not kept by size
	}
	return commands.ErrDebugNoEviction
}

func debugClusterLink(c *commands.Call, s *session) error {
	if !c.Is(2, "kill") {
		return subcommandSyntax(c)
	}
	return commands.ErrDebugCluster
}

// debugRestart never restarts: a supervisor does that better.
func debugRestart(c *commands.Call, s *session) error {
	if len(c.Args) == 3 {
		if _, ok := commands.ParseInt(c.Args[2]); !ok {
			return commands.ErrNotInteger
		}
	}
	s.srv.log.Warn("DEBUG RESTART refused", zap.Int64("client", s.info.id))
	return commands.ErrDebugRestart
}

// debugCrash refuses what would end the server and everybody's data with it.
func debugCrash(c *commands.Call, s *session) error {
	s.srv.log.Warn("DEBUG refused to end the server", zap.Int64("client", s.info.id), zap.ByteString("how", c.Args[1]))
	return commands.ErrDebugCrash
}
