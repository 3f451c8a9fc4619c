package server

import (
	"strings"
	"sync"
	"sync/atomic"

	"firn/commands"
	"firn/server/script"
)

// scriptFlags are what the first line of a script, or a function, says of it.
type scriptFlags uint8

const (
	scriptNoWrites scriptFlags = 1 << iota
	scriptAllowOOM
	scriptAllowStale
	scriptNoCluster
	scriptCrossSlot
	// scriptCompat is a script without such a line: any command may be tried.
	scriptCompat
)

// scriptFlagNames are the flags as scripts spell them.
var scriptFlagNames = map[string]scriptFlags{
	"no-writes": scriptNoWrites, "allow-oom": scriptAllowOOM, "allow-stale": scriptAllowStale,
	"no-cluster": scriptNoCluster, "allow-cross-slot-keys": scriptCrossSlot,
}

// A cachedScript is a script that EVAL and SCRIPT LOAD have compiled. Only its
// habits change.
type cachedScript struct {
	sha   string
	body  string
	chunk *script.Chunk
	flags scriptFlags
	scriptHabits
}

// scriptHabits are what is known of how a script or function runs.
type scriptHabits struct {
	// nanos is how long it took lately: a maximum that decays. 0: never run.
	nanos atomic.Int64
	// whole says that it looks at the whole keyspace or at the server, so that it
	// can't run in slices; roams, that it uses other databases.
	whole, roams atomic.Bool
}

// shortScript is up to how many nanoseconds of its runs lately a script runs at
// the home, with everything held.
const shortScript = 1_000_000

// isLong says whether the script has to run aside.
func (h *scriptHabits) isLong() bool { n := h.nanos.Load(); return n == 0 || n > shortScript }

// took notes how long a run took.
func (h *scriptHabits) took(nanos int64) {
	old := h.nanos.Load()
	if next := max(nanos, old-old/8, 1); next != old {
		h.nanos.Store(next)
	}
}

// guess reads from the source what is best known before the first run. Only the
// name of a command in quotes counts: words like client stand in many keys, and
// a long script that is taken for one that looks at everything holds all up.
func (h *scriptHabits) guess(source string) {
	source = strings.ToLower(source)
	calls := func(names ...string) bool {
		for _, name := range names {
			if strings.Contains(source, "'"+name+"'") || strings.Contains(source, `"`+name+`"`) {
				return true
			}
		}
		return false
	}
	h.roams.Store(calls("select", "move", "copy"))
	h.whole.Store(calls("keys", "scan", "dbsize", "flushall", "flushdb", "randomkey", "swapdb", "info", "config", "client", "memory", "debug"))
}

// scriptCache knows all scripts by SHA. Any goroutine may use it.
type scriptCache struct {
	mu     sync.RWMutex
	bySHA  map[string]*cachedScript
	memory int64 // of the sources, in bytes
}

// find returns a script by its SHA, in whatever case, or nil.
func (c *scriptCache) find(sha []byte) *cachedScript {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if s := c.bySHA[string(sha)]; s != nil {
		return s
	}
	return c.bySHA[strings.ToLower(string(sha))]
}

func (c *scriptCache) add(s *cachedScript) *cachedScript {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.bySHA[s.sha]; old != nil {
		return old
	}
	if c.bySHA == nil {
		c.bySHA = map[string]*cachedScript{}
	}
	c.bySHA[s.sha] = s
	c.memory += int64(len(s.body) + len(s.sha))
	return s
}

func (c *scriptCache) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bySHA, c.memory = nil, 0
}

// size returns how many scripts there are and about what they take in memory.
func (c *scriptCache) size() (n int, bytes int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	const overhead = 48 // as much as Redis counts for each
	return len(c.bySHA), c.memory + int64(len(c.bySHA))*overhead
}

// compile returns the script of a source, from the cache or made now.
func (c *scriptCache) compile(body []byte) (*cachedScript, error) {
	sha := script.SHA1(body)
	if s := c.find([]byte(sha)); s != nil {
		return s, nil
	}
	source := string(body)
	flags, skip, err := shebang(source)
	if err != nil {
		return nil, err
	}
	chunk, err := script.Compile("user_script", source[skip:])
	if err != nil {
		return nil, commands.ErrCompile(err.Error())
	}
	s := &cachedScript{sha: sha, body: source, chunk: chunk, flags: flags}
	s.guess(source)
	return c.add(s), nil
}

// shebang reads the first line of a script, if it begins with "#!", and says how
// many bytes of it are not Lua.
func shebang(source string) (flags scriptFlags, skip int, err error) {
	if !strings.HasPrefix(source, "#!") {
		return scriptCompat, 0, nil
	}
	end := strings.IndexByte(source, '\n')
	if end < 0 {
		return 0, 0, commands.ErrShebang
	}
	words := strings.Fields(source[:end])
	if words[0] != "#!lua" {
		return 0, 0, commands.ErrEngine(words[0])
	}
	for _, w := range words[1:] {
		list, ok := strings.CutPrefix(w, "flags=")
		if !ok {
			return 0, 0, commands.ErrShebangOption(w)
		}
		if list == "" {
			continue
		}
		for _, name := range strings.Split(list, ",") {
			flag := scriptFlagNames[name]
			if flag == 0 {
				return 0, 0, commands.ErrScriptFlag(name)
			}
			flags |= flag
		}
	}
	return flags, end, nil
}
