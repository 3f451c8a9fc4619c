package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const oldFile = `# my server

save 900 1
save 300 10
maxmemory 100mb


# the old name
slave-read-only yes
hash-max-ziplist-entries 20
hash-max-listpack-entries 21
rename-command flushdb badger
bogus-option 5
bind 127.0.0.1
requirepass "a b"
client-output-buffer-limit replica 1mb 2mb 3
notify-keyspace-events KEA
maxmemory 200mb
timeout 5
timeout 6
masterauth gone
# the end`

// TestDuelRewrite lets redis-server and Firn rewrite the same file after the same changes. Lines that are added stand in any order
// in Redis'.
func TestDuelRewrite(t *testing.T) {
	changes := []Pair{{"maxmemory", "300000000"}, {"save", "60 5"}, {"replica-read-only", "no"}, {"masterauth", ""},
		{"maxmemory-clients", "5%"}, {"proto-max-bulk-len", "3mb"}, {"shutdown-on-sigint", "nosave now"}, {"masteruser", "x\n\"y\\\xff"},
		{"latency-tracking-info-percentiles", "50 99.5"}, {"notify-keyspace-events", ""}, {"appendfsync", "always"},
		{"client-output-buffer-limit", "pubsub 1 0 0"}, {"list-max-ziplist-size", "-1"}, {"oom-score-adj-values", "1 2 3"},
		{"replica-announce-ip", "1.2.3.4"}, {"key-load-delay", "0"}, {"timeout", "0"}, {"hash-max-listpack-entries", "100"}, {"bind", "127.0.0.1 ::1"}}
	dir := t.TempDir()
	file := filepath.Join(dir, "redis.conf")
	old := strings.Replace(oldFile, "bogus-option 5\n", "", 1)
	require.NoError(t, os.WriteFile(file, []byte(old), 0o644))
	redis := startRedisWith(t, file)
	redis.do("AUTH", "a b")
	words := []string{"CONFIG", "SET"}
	for _, p := range changes {
		words = append(words, p.Name, p.Value)
	}
	require.Equal(t, []string{"+OK"}, redis.do(words...))
	require.Equal(t, []string{"+OK"}, redis.do("CONFIG", "REWRITE"))
	want, err := os.ReadFile(file)
	require.NoError(t, err)

	given := redis.configGet("port", "dir")
	loaded, err := Load(world{"/srv/c": old}.sources("c", "--port", given["port"], "--dir", given["dir"]))
	require.NoError(t, err)
	c, _, err := loaded.Config.Set(changes, SetOptions{})
	require.NoError(t, err)
	users := redis.do("ACL", "LIST")
	for i := range users {
		users[i] = strings.TrimPrefix(users[i], "user ")
	}
	got := Rewrite([]byte(old), c, RewriteOptions{Users: users})
	require.Equal(t, parts(string(want)), parts(string(got)))
	again := Rewrite(got, c, RewriteOptions{Users: users}) // adds an empty line, as Redis does, but only once
	require.Equal(t, string(got)+"\n", string(again))
	require.Equal(t, string(again), string(Rewrite(again, c, RewriteOptions{Users: users})))
	reread, err := Load(world{"/srv/c": string(got)}.sources("c"))
	require.NoError(t, err)
	require.Equal(t, c.Get([]string{"*"}, glob), reread.Config.Get([]string{"*"}, glob))
}

// parts gives the lines up to the signature, and those after it sorted.
func parts(content string) []string {
	lines := strings.Split(content, "\n")
	i := slices.Index(lines, rewriteSignature)
	slices.Sort(lines[i+1:])
	return lines
}

// TestRewriteAll is the Tcl suite's "CONFIG REWRITE sanity": every option written, then read, changes nothing.
func TestRewriteAll(t *testing.T) {
	loaded := world{"/srv/c": oldFile[:strings.Index(oldFile, "bogus")]}.load(t, "c")
	content := Rewrite(nil, loaded.Config, RewriteOptions{Force: true})
	again := world{"/srv/c": string(content)}.load(t, "c")
	require.Equal(t, loaded.Config.Get([]string{"*"}, glob), again.Config.Get([]string{"*"}, glob))
	require.Empty(t, again.Warnings)
	for _, o := range table.rows {
		written := strings.Contains("\n"+string(content), "\n"+o.Name+" ")
		optional := o.kind.get(o, loaded.Config) == "" || o.Name == "bind"
		require.True(t, written || optional, o.Name)
	}
}

func TestRewriteKeepsWhatItDoesNotKnow(t *testing.T) {
	old := "bogus 5\nport \"5\nuser alice on\ninclude x\nloadmodule y\nsave 1 1\n\n\n\n# x"
	got := string(Rewrite([]byte(old), Default(), RewriteOptions{}))
	require.True(t, strings.HasPrefix(got, "# ??? bogus 5\n# ??? port \"5\nuser alice on\ninclude x\nloadmodule y\nsave 3600 1\n\n# x\n"+
		rewriteSignature+"\n"), got)
	c := Default()
	c.ACLFile = "users.acl"
	require.NotContains(t, string(Rewrite([]byte(old), c, RewriteOptions{Users: []string{"bob on"}})), "user ")
	require.Contains(t, string(Rewrite([]byte(old), Default(), RewriteOptions{Users: []string{"bob on"}})), "\nuser bob on\n")
}

func TestPrint(t *testing.T) {
	c := Default()
	c.RequirePass = "hush"
	out := string(Print(c))
	require.NotContains(t, out, "hush")
	require.Contains(t, out, "# requirepass is set\n")
	require.Contains(t, out, "\nmaxmemory 0\n")
	world{"/srv/c": out}.load(t, "c")
}

func TestRewriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "firn.conf")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, os.Chmod(path, 0o640))
	link := filepath.Join(dir, "link.conf")
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, RewriteFile(link, []byte("new")))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(content))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	info, err = os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o640, info.Mode().Perm())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	require.Error(t, RewriteFile(filepath.Join(dir, "none", "x"), nil))
}
