package config

import (
	"errors"
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A world is the files and variables that a load sees.
type world map[string]string

func (w world) sources(args ...string) Sources {
	return Sources{
		Args:   args,
		Dir:    "/srv",
		Stdin:  strings.NewReader(w["stdin"]),
		Getenv: func(name string) string { return w["$"+name] },
		ReadFile: func(name string) ([]byte, error) {
			content, ok := w[name]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}
			return []byte(content), nil
		},
		Glob: func(pattern string) ([]string, error) {
			var found []string
			for name := range w {
				if ok, _ := path.Match(pattern, name); ok {
					found = append(found, name)
				}
			}
			slices.Sort(found)
			return found, nil
		},
	}
}

func (w world) load(t *testing.T, args ...string) *Loaded {
	l, err := Load(w.sources(args...))
	require.NoError(t, err)
	return l
}

func TestLoadPrecedence(t *testing.T) {
	w := world{
		"/srv/firn.conf":      "port 1\nTimeout 1\nmaxclients 1\ndatabases 1\nrequirepass file\n",
		"stdin":               "timeout 2\nmaxclients 2\n",
		"$FIRN_EXTRA_FLAGS":   "--maxclients 3 --hz 3",
		"$FIRN_PASSWORD_FILE": "/run/secrets/pw",
		"/run/secrets/pw":     "from file\n",
	}
	l := w.load(t, "firn.conf", "--hz", "4", "-")
	require.Equal(t, "/srv/firn.conf", l.File)
	require.Equal(t, []int{1, 1, 2, 3, 4}, []int{l.Config.Databases, l.Config.Port, l.Config.Timeout, l.Config.MaxClients, l.Config.Hz})
	require.Equal(t, "from file", l.Config.RequirePass)
	require.Equal(t, "/srv", l.Config.Dir)
	require.Empty(t, l.Warnings)
}

// TestLoadDefaultFlags: an image's defaults stand below the file, included
// files too, and what adds up there begins anew.
func TestLoadDefaultFlags(t *testing.T) {
	w := world{
		"/srv/firn.conf":      "include more.conf\nsave 60 1\n",
		"/srv/more.conf":      "protected-mode yes\n",
		"$FIRN_DEFAULT_FLAGS": "--protected-mode no --save '900 1' --hz 7",
	}
	require.False(t, w.load(t).Config.ProtectedMode)
	l := w.load(t, "firn.conf")
	require.True(t, l.Config.ProtectedMode)
	require.Equal(t, []string{"60 1", "7"}, []string{l.Config.Text("save"), l.Config.Text("hz")})
	_, err := Load(world{"$FIRN_DEFAULT_FLAGS": `--port "1`}.sources())
	require.ErrorContains(t, err, "FIRN_DEFAULT_FLAGS")
}

func TestLoadFile(t *testing.T) {
	w := world{"/srv/redis.conf": `
# a comment
  # another
save 900 1
save "300 10 60 5"
BIND 127.0.0.1 -::1
requirepass "a # \x41\"b"
masterauth 'it\'s'
client-output-buffer-limit normal 1mb 2mb 3
client-output-buffer-limit replica 4k 5k 6
user alice on >pw ~*
user bob off
rename-command FLUSHALL ""
rename-command CONFIG secret
loadmodule /x.so a b
loadmodule /x.so a b
include conf.d/*.conf
include none/*.conf
include one.conf
hash-max-ziplist-entries 20
dir data
dir more
list-max-ziplist-entries 512
activedefrag yes
activedefrag yes
jemalloc-bg-thread yes
server-threads 4
server-thread-affinity true
storage-provider flash /mnt/x
`, "/srv/conf.d/a.conf": "timeout 1", "/srv/conf.d/b.conf": "timeout 2\ninclude one.conf", "/srv/one.conf": "tcp-keepalive 7"}
	l := w.load(t, "/srv/redis.conf")
	c := l.Config
	require.Equal(t, "900 1 300 10 60 5", c.Text("save"))
	require.Equal(t, []string{"127.0.0.1", "-::1"}, c.Bind)
	require.Equal(t, `a # A"b`, c.RequirePass)
	require.Equal(t, "it's", c.MasterAuth)
	require.Equal(t, "normal 1048576 2097152 3 slave 4000 5000 6 pubsub 33554432 8388608 60", c.Text("client-output-buffer-limit"))
	require.Equal(t, [][]string{{"alice", "on", ">pw", "~*"}, {"bob", "off"}}, c.Users)
	require.Equal(t, []Rename{{"FLUSHALL", ""}, {"CONFIG", "secret"}}, c.Renames)
	require.Equal(t, 2, c.Timeout)
	require.Equal(t, 7, c.TCPKeepAlive)
	require.Equal(t, 20, c.HashMaxListpackEntries)
	require.Equal(t, "/srv/data/more", c.Dir)
	require.Len(t, l.Warnings, 6)
	require.Equal(t, "'server-threads 4' has no effect: Go's scheduler spreads connections over the cores; see event-loops", l.Warnings[3])
}

// TestLoadErrors checks that all errors are found, where they are, and what a mistyped word may mean.
func TestLoadErrors(t *testing.T) {
	w := world{"/srv/firn.conf": "port 1\nfoo bar\nmaxmemroy 5\n\nport x\nsave 1\ninclude other.conf\nrequirepass \"open\n",
		"/srv/other.conf": "include other.conf\n"}
	src := w.sources("firn.conf", "--prot", "1", "--hz=5", "5")
	src.CheckRename = func(from, _ string) error { return errors.New("No such command in rename-command") }
	_, err := Load(src)
	var all Errors
	require.ErrorAs(t, err, &all)
	f := func(i int, want ...string) {
		require.Equal(t, strings.Join(want, "\n"), all[i].Error())
	}
	require.Len(t, all, 8)
	f(0, "Reading the configuration file, at line 2 of /srv/firn.conf", ">>> 'foo bar'", "Bad directive or wrong number of arguments")
	f(1, "Reading the configuration file, at line 3 of /srv/firn.conf", ">>> 'maxmemroy 5'",
		"Bad directive or wrong number of arguments (did you mean 'maxmemory'?)")
	f(2, "Reading the configuration file, at line 5 of /srv/firn.conf", ">>> 'port x'", "argument couldn't be parsed into an integer")
	f(3, "Reading the configuration file, at line 6 of /srv/firn.conf", ">>> 'save 1'", "Invalid save parameters")
	f(4, "Reading the configuration file, at line 1 of /srv/other.conf", ">>> 'include other.conf'", "include files are nested too deeply")
	f(5, "Reading the configuration file, at line 8 of /srv/firn.conf", `>>> 'requirepass "open'`, "Unbalanced quotes in configuration line")
	f(6, "Reading the configuration, on the command line", `>>> 'prot "1"'`, "Bad directive or wrong number of arguments (did you mean 'port'?)")
	f(7, "Reading the configuration, on the command line", `>>> 'hz=5 "5"'`, "Bad directive or wrong number of arguments (did you mean 'hz'?)")
	require.True(t, strings.HasPrefix(all.Report("Firn 1, Redis 7.2.4"),
		"\n*** FATAL CONFIG FILE ERROR (Firn 1, Redis 7.2.4) ***\nReading the configuration file, at line 2 of /srv/firn.conf\n>>> 'foo bar'\nBad"))

	_, err = Load(world{}.sources("no.conf"))
	require.ErrorContains(t, err, "Fatal error, can't open config file '/srv/no.conf': file does not exist")
	src = world{"/srv/c": "rename-command foo bar"}.sources("c")
	src.CheckRename = func(from, _ string) error { return errors.New("No such command in rename-command") }
	_, err = Load(src)
	require.ErrorContains(t, err, ">>> 'rename-command foo bar'\nNo such command in rename-command")
	_, err = Load(world{}.sources("--cluster-enabled", "yes", "--replicaof", "h", "1"))
	require.EqualError(t, err, "replicaof directive not allowed in cluster mode")
}

func TestLoadActions(t *testing.T) {
	f := func(want Action, args ...string) {
		l, err := Load(world{"/srv/a.conf": "port 3"}.sources(args...))
		require.NoError(t, err)
		require.Equal(t, want, l.Action, args)
	}
	f(Serve)
	f(ShowVersion, "-v")
	f(ShowVersion, "--version", "x")
	f(ShowHelp, "--help")
	f(ShowHelp, "-h")
	f(CheckConfig, "--check-config", "a.conf")
	f(CheckConfig, "a.conf", "--port", "1", "--check-config")
	f(PrintConfig, "a.conf", "--print-config", "--port", "5")
	f(Serve, "--requirepass", "--check-config")
	_, err := Load(world{}.sources("--test-memory", "100"))
	require.ErrorContains(t, err, "Firn has no --test-memory")
}

// commandLines are tried on redis-server: those of the Tcl suite's unit/introspection, and more.
var commandLines = [][]string{
	{"--port"}, {"--port", "6380", "--loglevel"}, {"--port", "6379", "6380"}, {"--port", "--loglevel", "verbose"},
	{"--port", "--bla", "--loglevel", "verbose"}, {"--logfile", "--my--log--file", "--loglevel", "--bla"},
	{"--shutdown-on-sigint"}, {"--shutdown-on-sigint", "now force", "--shutdown-on-sigterm"},
	{"--replicaof", "127.0.0.1", "abc"}, {"--replicaof", "--127.0.0.1", "abc"}, {"--replicaof", "--127.0.0.1", "--abc"},
	{"--port 6380 6381"}, {"--port \"6380"}, {"--save", "x"}, {"--save", "1"}, {"--bind 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"},
	{"--maxmemory", "5xb"}, {"--maxmemory-clients", "5x"}, {"--unixsocketperm", "9"}, {"--unixsocketperm", "1777"}, {"--port", "-1"},
	{"--appendfilename", "a/b"}, {"--appenddirname", ""}, {"--user"}, {"--include"}, {"--databases", "0"}, {"--port", "a\nb"},
	{"--oom-score-adj-values", "1", "2"}, {"--client-output-buffer-limit", "normal", "1", "2"}, {"--dir", "/nonexistent"},
	{"--latency-tracking-info-percentiles", "x"}, {"--notify-keyspace-events", "Q"}, {"port", "x"},
}

// TestDuelCommandLine compares what is refused: the line as it was understood, and the reason.
func TestDuelCommandLine(t *testing.T) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server in PATH")
	}
	for _, args := range commandLines {
		if !strings.HasPrefix(args[0], "-") {
			args = append([]string{"--hz", "5"}, args...)
			args = append(args, "y")
		}
		out, err := exec.Command(binary, args...).CombinedOutput()
		require.Error(t, err, args)
		src := world{}.sources(args...)
		src.CheckDir = func(string) (string, error) { return "", errNoDir }
		_, err = Load(src)
		var all Errors
		require.ErrorAs(t, err, &all, args)
		_, want, found := strings.Cut(string(out), ">>> ")
		require.True(t, found, string(out))
		_, got, _ := strings.Cut(all[0].Error(), ">>> ") // Redis stops at the first
		require.Equal(t, strings.TrimSpace(want), got, args)
	}
}

// TestDuelOptions compares what a good command line gives, with the file of the Tcl suite's tests.
func TestDuelOptions(t *testing.T) {
	file := "save 900 1\n"
	f := func(args ...string) {
		dir := t.TempDir()
		name := dir + "/default.conf"
		require.NoError(t, RewriteFile(name, []byte(file)))
		l, err := Load(world{name: file}.sources(append([]string{name}, args...)...))
		require.NoError(t, err)
		redis := startRedisWith(t, name, args...)
		for option, want := range redis.configGet("*") {
			if !given[option] {
				require.Equalf(t, want, l.Config.Text(option), "%s %q", option, args)
			}
		}
	}
	f("--maxmemory 700mb", "--maxmemory-policy volatile-lru")
	f("loglevel", "verbose", "--maxmemory '700mb'", "--maxmemory-policy 'volatile-lru'")
	f("--proc-title-template", "--my--title--template", "--loglevel", "verbose")
	f("--proc-title-template --my--title--template", "--loglevel verbose")
	f("--save", "--loglevel", "verbose")
	f("--loglevel", "verbose", "--save")
	f("--save", "", "--loglevel", "verbose")
	f("--proc-title-template", "--save", "--save", "", "--loglevel", "verbose")
	f("--shutdown-on-sigint", "nosave", "force", "now", "--shutdown-on-sigterm", "nosave force")
	f("--save", "100", "100", "--save", "60 5")
	f("--save", "60", "1", "--save", "", "--save", "5 5")
	f("--latency-tracking-info-percentiles", "", "--client-output-buffer-limit", "pubsub 1mb 2mb 3", "--oom-score-adj-values", "1", "2", "3")
	f("--hash-max-ziplist-entries", "20", "--HASH-max-listpack-entries", "21", "--slave-priority", "7")
	f("--unixsocketperm", "0700", "--maxmemory-clients", "5%", "--hz", "5000", "--notify-keyspace-events", "KEA", "--requirepass", "")
}
