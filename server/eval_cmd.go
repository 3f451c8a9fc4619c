package server

import (
	"firn/commands"
)

func scriptLoad(c *commands.Call, s *session) error {
	load := func(c *commands.Call) error {
		cached, err := s.srv.scripts.cache.compile(c.Args[2])
		if err == nil {
			c.Out.BulkString(cached.sha)
		}
		return err
	}
	if len(c.Args[2]) > compileAside {
		s.aside(func(c *commands.Call) error { return c.Guard(func() error { return load(c) }) })
		return nil
	}
	return load(c)
}

func scriptExists(c *commands.Call, s *session) error {
	c.Out.Array(len(c.Args) - 2)
	for _, sha := range c.Args[2:] {
		n := int64(0)
		if s.srv.scripts.cache.find(sha) != nil {
			n = 1
		}
		c.Out.Int(n)
	}
	return nil
}

func scriptFlush(c *commands.Call, s *session) error {
	if len(c.Args) > 3 || len(c.Args) == 3 && !c.Is(2, "async") && !c.Is(2, "sync") {
		return commands.ErrScriptFlush
	}
	s.srv.scripts.cache.flush()
	s.srv.scripts.engine.Reset()
	c.Out.OK()
	return nil
}

func scriptKill(c *commands.Call, s *session) error {
	if err := s.srv.scripts.running.kill(true); err != nil {
		return err
	}
	c.Out.OK()
	return nil
}

// scriptDebug knows no debugger: it can only be turned off.
func scriptDebug(c *commands.Call, s *session) error {
	switch {
	case c.Is(2, "no"):
		c.Out.OK()
		return nil
	case c.Is(2, "yes"), c.Is(2, "sync"):
		return commands.ErrScriptNoDebug
	}
	return commands.ErrScriptDebug
}

func scriptHelp(c *commands.Call, _ *session) error {
	c.Out.Help("SCRIPT",
		"DEBUG (YES|SYNC|NO)",
		"    Set the debug mode for subsequent scripts executed.",
		"EXISTS <sha1> [<sha1> ...]",
		"    Return information about the existence of the scripts in the script cache.",
		"FLUSH [ASYNC|SYNC]",
		"    Flush the Lua scripts cache. Very dangerous on replicas.",
		"    When called without the optional mode argument, the behavior is determined by the",
		"    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
		"    * ASYNC: Asynchronously flush the scripts cache.",
		"    * SYNC: Synchronously flush the scripts cache.",
		"KILL",
		"    Kill the currently executing Lua script.",
		"LOAD <script>",
		"    Load a script into the scripts cache without executing it.")
	return nil
}
