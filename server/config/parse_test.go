package config

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplitArgs(t *testing.T) {
	f := func(line string, want ...string) {
		words, ok := splitArgs(line)
		require.True(t, ok, line)
		require.Equal(t, append([]string{}, want...), words, line)
	}
	f("")
	f(" \t ")
	f("a  b\tc", "a", "b", "c")
	f(`a "b c" ''`, "a", "b c", "")
	f(`"\x41\n\q\"\x4"`, "A\nq\"x4")
	f(`'\n\'x'`, `\n'x`)
	f(`a"b c" d`, "ab c", "d")
	g := func(line string) {
		_, ok := splitArgs(line)
		require.False(t, ok, line)
	}
	g(`"a`)
	g(`'a`)
	g(`"a"b`)
	g(`'a'b`)
	g(`"a\`)
	g(`"a\"`)
}

func FuzzQuote(f *testing.F) {
	f.Add("")
	f.Add("a b\"\\\x00\xff\n\a")
	f.Fuzz(func(t *testing.T, s string) {
		words, ok := splitArgs(quote(s))
		require.True(t, ok)
		require.Equal(t, []string{s}, words)
	})
}

// FuzzLoad: no file makes Load panic, and what it accepts can be rewritten and read again.
func FuzzLoad(f *testing.F) {
	f.Add("save 1 1\nport 5\nuser a on")
	f.Add("bind \"\"\nreplicaof no one\nsave\n")
	f.Fuzz(func(t *testing.T, content string) {
		l, err := Load(world{"/srv/c": content}.sources("c"))
		odd := strings.Join(l.Config.Bind, "") + l.Config.ReplicaOfHost + l.Config.Text("storage-provider") +
			l.Config.Text("tls-allowlist") + l.Config.Text("tls-auditlog-blocklist")
		if err != nil || slices.Contains(l.Config.Bind, "") || strings.ContainsAny(odd, "\"' \t\r\n\v\f\\") { // Redis writes these words back unquoted, too
			return
		}
		rewritten := Rewrite([]byte(content), l.Config, RewriteOptions{Force: true})
		again, err := Load(world{"/srv/c": string(rewritten)}.sources("c"))
		require.NoError(t, err, string(rewritten))
		require.Equal(t, l.Config.Get([]string{"*"}, glob), again.Config.Get([]string{"*"}, glob))
	})
}

func TestParseMemory(t *testing.T) {
	f := func(s string, want uint64) {
		got, ok := parseMemory(s)
		require.True(t, ok, s)
		require.Equal(t, want, got, s)
	}
	f("", 0)
	f("1", 1)
	f("1b", 1)
	f("1K", 1000)
	f("1kB", 1024)
	f("2m", 2000000)
	f("2mb", 2<<20)
	f("3g", 3000000000)
	f("3gb", 3<<30)
	f("99999999999gb", math.MaxUint64)
	f("99999999999999999999999", math.MaxUint64)
	for _, bad := range []string{"-1", "x", "1x", "1 kb", "1.5gb", "+1"} {
		_, ok := parseMemory(bad)
		require.False(t, ok, bad)
	}
	c, _, err := Default().Set([]Pair{{"maxmemory", "18446744073709551615"}}, SetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, math.MaxInt64, c.MaxMemory)
}

// TestSettingsReachTheirFields sets every option that has an effect to another value than its default and checks that some field
// of the configuration other than the spare places changed.
func TestSettingsReachTheirFields(t *testing.T) {
	other := []string{"yes", "no", "7", "1mb", "always", "debug", "systemd", "swapdb", "clients", "panic", "allchannels", "local", "optional",
		"allkeys-lfu", "nosave", "x", "KEA", "1 2", "h 1", "normal 1 2 3", "json", "/x", "12", "3000000"}
	for _, o := range table.rows {
		if o.Note != "" {
			continue
		}
		changed := false
		for _, value := range other {
			c := Default()
			if o.kind.set(o, c, o.split(value), mode{loading: true}) != nil || o.kind.get(o, c) == Default().Text(o.Name) {
				continue
			}
			require.Equal(t, Default().spare, c.spare, o.Name)
			require.NotEqual(t, Default(), c, o.Name)
			changed = true
			break
		}
		require.True(t, changed, o.Name)
	}
}

// TestNoFieldTwice checks that no two options share a field.
func TestNoFieldTwice(t *testing.T) {
	for i, o := range table.rows {
		c := Default()
		o.num.store(c, o.num.load(c)^1)
		*o.str(c) += "x"
		for j, p := range table.rows {
			if i != j {
				require.Equal(t, p.num.load(Default()), p.num.load(c), "%s and %s", o.Name, p.Name)
				require.Equal(t, *p.str(Default()), *p.str(c), "%s and %s", o.Name, p.Name)
			}
		}
	}
}
