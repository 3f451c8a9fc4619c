package server

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"firn/commands"
	"firn/scan"
	"firn/server/config"

	"go.uber.org/zap"
)

const (
	adminFlags = commands.Admin | commands.NoScript | commands.Loading
	helpFlags  = commands.Loading
)

var configCommands = []commands.Command{
	{Name: "CONFIG", Arity: -2, Summary: "A container for server configuration commands", Subs: []commands.Command{
		{Name: "GET", Arity: -3, Run: onSession(configGet), Flags: adminFlags, Summary: "Get the values of configuration parameters"},
		{Name: "SET", Arity: -4, Run: onSession(configSet), Flags: adminFlags, Summary: "Set configuration parameters to the given values"},
		{Name: "RESETSTAT", Arity: 2, Run: onSession(configResetStat), Flags: adminFlags, Summary: "Reset the stats returned by INFO"},
		{Name: "REWRITE", Arity: 2, Run: onSession(configRewrite), Flags: adminFlags, Summary: "Rewrite the configuration file with the in memory configuration"},
		{Name: "HELP", Arity: 2, Run: onSession(configHelp), Flags: helpFlags, Summary: "Show helpful text about the different subcommands"},
	}},
}

func configGet(c *commands.Call, s *session) error {
	var patterns []string
	for _, a := range c.Args[2:] {
		patterns = append(patterns, string(a))
	}
	globs := map[string]*scan.Glob{}
	pairs := s.srv.config().Get(patterns, func(pattern, name string) bool {
		g := globs[pattern]
		if g == nil {
			g = scan.CompileFold([]byte(pattern))
			globs[pattern] = g
		}
		return g.MatchString(name)
	})
	c.Out.Map(len(pairs))
	for _, p := range pairs {
		c.Out.BulkString(p.Name)
		c.Out.BulkString(p.Value)
	}
	return nil
}

func configSet(c *commands.Call, s *session) error {
	if len(c.Args)%2 != 0 {
		return commands.ErrSyntax
	}
	var pairs []config.Pair
	for i := 2; i < len(c.Args); i += 2 {
		pairs = append(pairs, config.Pair{Name: string(c.Args[i]), Value: string(c.Args[i+1])})
	}
	err := s.srv.setConfig(pairs, config.SetOptions{
		AllowProtected: s.srv.config().EnableProtectedConfigs.Allows(s.info.peer.local),
		Dir:            checkDirPlain,
	})
	if errors.Is(err, config.ErrLoading) {
		return commands.ErrLoading
	}
	if err != nil {
		return commands.Error(err.Error()) // a SetError is the whole reply
	}
	c.Out.OK()
	return nil
}

// checkDirPlain is CheckDir with the operating system's word only, as Redis
// answers.
func checkDirPlain(dir string) (string, error) {
	full, err := CheckDir(dir)
	if err != nil {
		return "", errors.New(systemWord(err))
	}
	return full, nil
}

// systemWord is the text of an error of the operating system as strerror gives
// it: Go's begin in lower case and tell of the call as well.
func systemWord(err error) string {
	text := err.Error()
	var no syscall.Errno
	if errors.As(err, &no) {
		text = no.Error()
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func configResetStat(c *commands.Call, s *session) error {
	s.srv.resetStats()
	c.Out.OK()
	return nil
}

func configRewrite(c *commands.Call, s *session) error {
	return s.rewriteConfig(config.RewriteOptions{})
}

// rewriteConfig runs aside: it waits for the disk.
func (s *session) rewriteConfig(o config.RewriteOptions) error {
	if s.srv.opt.ConfigFile == "" {
		return commands.ErrNoConfigFile
	}
	s.aside(func(c *commands.Call) error {
		return c.Guard(func() error { return s.srv.rewriteConfig(c, o) })
	})
	return nil
}

func (srv *Server) rewriteConfig(c *commands.Call, o config.RewriteOptions) error {
	srv.rewriteMu.Lock()
	defer srv.rewriteMu.Unlock()
	path := srv.opt.ConfigFile
	old, err := os.ReadFile(path)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		err = config.RewriteFile(path, config.Rewrite(old, srv.config(), o))
	}
	if err != nil {
		srv.log.Warn("CONFIG REWRITE failed", zap.Error(err))
		return commands.ErrConfigRewrite(systemWord(err))
	}
	srv.log.Warn("CONFIG REWRITE executed with success.")
	c.Out.OK()
	return nil
}

func configHelp(c *commands.Call, s *session) error {
	c.Out.Help("CONFIG",
		"GET <pattern>",
		"    Return parameters matching the glob-like <pattern> and their values.",
		"SET <directive> <value>",
		"    Set the configuration <directive> to <value>.",
		"RESETSTAT",
		"    Reset statistics reported by the INFO command.",
		"REWRITE",
		"    Rewrite the configuration file.")
	return nil
}
