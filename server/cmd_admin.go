package server

import (
	"strings"

	"firn/commands"
	"firn/server/config"

	"go.uber.org/zap"
)

var adminCommands = []commands.Command{
	{Name: "ROLE", Arity: 1, Run: onSession(role), Flags: commands.NoScript | commands.Loading, Summary: "Return the role of the instance in the context of replication"},
	{Name: "REPLICAOF", Arity: 3, Run: onSession(replicaOf), Flags: commands.Admin | commands.NoScript, Summary: "Make the server a replica of another instance, or promote it as master."},
	{Name: "SLAVEOF", Arity: 3, Run: onSession(replicaOf), Flags: commands.Admin | commands.NoScript, Summary: "Make the server a replica of another instance, or promote it as master."},
	{Name: "SHUTDOWN", Arity: -1, Run: onSession(shutdown), Flags: adminFlags | commands.NoMulti, Summary: "Synchronously save the dataset to disk and then shut down the server"},
	{Name: "LASTSAVE", Arity: 1, Run: onSession(lastSave), Flags: commands.Loading, Summary: "Get the UNIX time stamp of the last successful save to disk"},
	{Name: "MODULE", Arity: -2, Summary: "A container for module commands", Subs: []commands.Command{
		{Name: "LIST", Arity: 2, Run: onSession(moduleList), Flags: commands.Admin | commands.NoScript, Summary: "List all modules loaded by the server"},
		{Name: "LOAD", Arity: -3, Run: onSession(moduleLoad), Flags: commands.Admin | commands.NoScript, Summary: "Load a module"},
		{Name: "LOADEX", Arity: -3, Run: onSession(moduleLoad), Flags: commands.Admin | commands.NoScript, Summary: "Load a module with extended parameters"},
		{Name: "UNLOAD", Arity: 3, Run: onSession(moduleUnload), Flags: commands.Admin | commands.NoScript, Summary: "Unload a module"},
		{Name: "HELP", Arity: 2, Run: onSession(moduleHelp), Flags: helpFlags, Summary: "Show helpful text about the different subcommands"},
	}},
}

// role says that this is a master without replicas.
func role(c *commands.Call, s *session) error {
	c.Out.Array(3)
	c.Out.BulkString("master")
	c.Out.Int(0)
	c.Out.Array(0)
	return nil
}

// replicaOf takes NO ONE, which changes nothing: failover programs send it to
// make sure.
func replicaOf(c *commands.Call, s *session) error {
	if c.Is(1, "no") && c.Is(2, "one") {
		c.Out.OK()
		return nil
	}
	if port, ok := commands.ParseInt(c.Args[2]); !ok || port < 0 || port > 65535 {
		return commands.ErrMasterPort
	}
	return commands.ErrReplication
}

// shutdownOptions is what follows SHUTDOWN.
type shutdownOptions struct{ save, noSave, now, force, abort bool }

func parseShutdown(args [][]byte) (o shutdownOptions, err error) {
	for _, a := range args {
		switch strings.ToLower(string(a)) {
		case "save":
			o.save = true
		case "nosave":
			o.noSave = true
		case "now":
			o.now = true
		case "force":
			o.force = true
		case "abort":
			o.abort = true
		default:
			return o, commands.ErrSyntax
		}
	}
	if o.abort && (o.save || o.noSave || o.now || o.force) || o.save && o.noSave {
		return o, commands.ErrSyntax
	}
	return o, nil
}

// shutdown ends the server, and answers only if it doesn't.
func shutdown(c *commands.Call, s *session) error {
	o, err := parseShutdown(c.Args[1:])
	switch {
	case err != nil:
		return err
	case o.abort:
		return commands.ErrNoShutdown // none takes long enough
	case o.save && !o.force:
		s.srv.log.Warn("SHUTDOWN SAVE refused: this version can't write data to disk")
		return commands.ErrShutdown
	}
	s.srv.log.Warn("User requested shutdown...", zap.Int64("client", s.info.id))
	s.closing = true
	s.srv.Shutdown()
	return nil
}

// lastSave answers the start: what was there then is what a restart would find.
func lastSave(c *commands.Call, s *session) error {
	c.Out.Int(s.srv.started.Unix())
	return nil
}

func moduleList(c *commands.Call, s *session) error {
	c.Out.Array(0)
	return nil
}

func mayModule(s *session, allowed config.ProtectedAction) error {
	if !allowed.Allows(s.info.peer.local) {
		return commands.ErrModuleDenied
	}
	return nil
}

func moduleLoad(c *commands.Call, s *session) error {
	if err := mayModule(s, s.srv.config().EnableModuleCommand); err != nil {
		return err
	}
	s.srv.log.Warn("Modules can't be loaded: they are made for the memory layout of another server", zap.ByteString("path", c.Args[2]))
	return commands.ErrModuleLoad
}

func moduleUnload(c *commands.Call, s *session) error {
	if err := mayModule(s, s.srv.config().EnableModuleCommand); err != nil {
		return err
	}
	return commands.ErrModuleUnload
}

func moduleHelp(c *commands.Call, s *session) error {
	c.Out.Help("MODULE",
		"LIST",
		"    Return a list of loaded modules.",
		"LOAD <path> [<arg> ...]",
		"    Load a module library from <path>, passing to it any optional arguments.",
		"LOADEX <path> [[CONFIG NAME VALUE] [CONFIG NAME VALUE]] [ARGS ...]",
		"    Load a module library from <path>, while passing it module configurations and optional arguments.",
		"UNLOAD <name>",
		"    Unload a module.")
	return nil
}
