package server

import "firn/commands"

const (
	clientFlags      = commands.NoScript | commands.Loading
	clientAdminFlags = clientFlags | commands.Admin
)

var clientCommands = []commands.Command{
	{Name: "CLIENT", Arity: -2, Summary: "A container for client connection commands", Subs: []commands.Command{
		{Name: "CACHING", Arity: 3, Run: onSession(clientCaching), Flags: clientFlags, Summary: "Instruct the server about tracking or not keys in the next request"},
		{Name: "CAPA", Arity: -3, Run: onSession(clientCapa), Flags: clientFlags, Summary: "Declare what the client is capable of"},
		{Name: "GETNAME", Arity: 2, Run: onSession(clientGetName), Flags: clientFlags, Summary: "Get the current connection name"},
		{Name: "GETREDIR", Arity: 2, Run: onSession(clientGetRedir), Flags: clientFlags, Summary: "Get tracking notifications redirection client ID if any"},
		{Name: "HELP", Arity: 2, Run: onSession(clientHelp), Flags: commands.Loading, Summary: "Show helpful text about the different subcommands"},
		{Name: "ID", Arity: 2, Run: onSession(clientID), Flags: clientFlags, Summary: "Returns the client ID for the current connection"},
		{Name: "INFO", Arity: 2, Run: onSession(clientInfoLine), Flags: clientFlags, Summary: "Returns information about the current client connection."},
		{Name: "KILL", Arity: -3, Run: onSession(clientKill), Flags: clientAdminFlags, Summary: "Kill the connection of a client"},
		{Name: "LIST", Arity: -2, Run: onSession(clientList), Flags: clientAdminFlags, Summary: "Get the list of client connections"},
		{Name: "NO-EVICT", Arity: 3, Run: onSession(clientNoEvict), Flags: clientAdminFlags, Summary: "Set client eviction mode for the current connection"},
		{Name: "NO-TOUCH", Arity: 3, Run: onSession(clientNoTouch), Flags: clientFlags, Summary: "Controls whether commands sent by the client affect the LRU/LFU of accessed keys."},
		{Name: "PAUSE", Arity: -3, Run: onSession(clientPause), Flags: clientAdminFlags, Summary: "Stop processing commands from clients for some time"},
		{Name: "REPLY", Arity: 3, Run: onSession(clientReply), Flags: clientFlags, Summary: "Instruct the server whether to reply to commands"},
		{Name: "SETINFO", Arity: 4, Run: onSession(clientSetInfo), Flags: clientFlags, Summary: "Sets information specific to the client or connection."},
		{Name: "SETNAME", Arity: 3, Run: onSession(clientSetName), Flags: clientFlags, Summary: "Set the current connection name"},
		{Name: "TRACKING", Arity: -3, Run: onSession(clientTracking), Flags: clientFlags, Summary: "Enable or disable server assisted client side caching support"},
		{Name: "TRACKINGINFO", Arity: 2, Run: onSession(clientTrackingInfo), Flags: clientFlags, Summary: "Return information about server assisted client side caching for the current connection"},
		{Name: "UNBLOCK", Arity: -3, Run: onSession(clientUnblock), Flags: clientAdminFlags, Summary: "Unblock a client blocked in a blocking command from a different connection"},
		{Name: "UNPAUSE", Arity: 2, Run: onSession(clientUnpause), Flags: clientAdminFlags, Summary: "Resume processing of clients that were paused"},
	}},
}

func clientID(c *commands.Call, s *session) error {
	c.Out.Int(s.info.id)
	return nil
}

func clientGetName(c *commands.Call, s *session) error {
	if name := *s.info.name.Load(); name != "" {
		c.Out.BulkString(name)
		return nil
	}
	c.Out.Null()
	return nil
}

// clientSetName takes the name away when it is empty.
func clientSetName(c *commands.Call, s *session) error {
	if !validName(c.Args[2]) {
		return commands.ErrClientName
	}
	s.setName(string(c.Args[2]))
	c.Out.OK()
	return nil
}

// clientSetInfo notes the client library's name or version (Redis 7.2).
func clientSetInfo(c *commands.Call, s *session) error {
	to := &s.info.libName
	switch {
	case c.Is(2, "lib-name"):
	case c.Is(2, "lib-ver"):
		to = &s.info.libVer
	default:
		return commands.ErrSetInfoOption(c.Args[2])
	}
	if !validName(c.Args[3]) {
		return commands.ErrSetInfoValue(c.Args[2])
	}
	value := string(c.Args[3])
	to.Store(&value)
	c.Out.OK()
	return nil
}

func clientReply(c *commands.Call, s *session) error {
	switch {
	case c.Is(2, "on"):
		s.reply = replyOn
		c.Out.OK()
	case c.Is(2, "off"):
		s.reply = replyOff
	case c.Is(2, "skip"):
		if s.reply != replyOff {
			s.reply = replySkipNext
		}
	default:
		return commands.ErrSyntax
	}
	return nil
}

func clientNoEvict(c *commands.Call, s *session) error {
	on, err := onOff(c, 2)
	if err == nil {
		s.info.noEvict.Store(on)
		c.Out.OK()
	}
	return err
}

func clientNoTouch(c *commands.Call, s *session) error {
	on, err := onOff(c, 2)
	if err == nil {
		s.noTouch = on
		s.info.noTouch.Store(on)
		c.Out.OK()
	}
	return err
}

func onOff(c *commands.Call, i int) (on bool, err error) {
	switch {
	case c.Is(i, "on"):
		return true, nil
	case c.Is(i, "off"):
		return false, nil
	}
	return false, commands.ErrSyntax
}

// clientUnblock ends the wait of a client in a blocking command, as its timeout
// would or with an error.
func clientUnblock(c *commands.Call, s *session) error {
	if len(c.Args) > 4 {
		return subcommandSyntax(c)
	}
	var reason error
	switch {
	case len(c.Args) == 3 || c.Is(3, "timeout"):
	case c.Is(3, "error"):
		reason = commands.ErrUnblocked
	default:
		return commands.ErrUnblockReason
	}
	id, ok := commands.ParseInt(c.Args[2])
	if !ok {
		return commands.ErrNotInteger
	}
	n := int64(0)
	if other := s.srv.clients.byID(id); other != nil && other.unblock(reason) {
		n = 1
	}
	c.Out.Int(n)
	return nil
}

func subcommandSyntax(c *commands.Call) error {
	return commands.ErrSubcommandSyntax(c.Args[0], c.Args[1])
}

// clientCapa takes note of nothing: what Valkey's clients declare here is how
// they deal with redirections, of which there are none.
func clientCapa(c *commands.Call, s *session) error {
	c.Out.OK()
	return nil
}

// clientTracking refuses to turn on what isn't there; a client that turns it
// off has what it wants.
func clientTracking(c *commands.Call, s *session) error {
	on, err := onOff(c, 2)
	for i := 3; i < len(c.Args) && err == nil; i++ {
		switch {
		case c.Is(i, "redirect") && i+1 < len(c.Args):
			i++
			err = s.redirectable(c.Args[i])
		case c.Is(i, "prefix") && i+1 < len(c.Args):
			i++
		case c.Is(i, "bcast"), c.Is(i, "optin"), c.Is(i, "optout"), c.Is(i, "noloop"):
		default:
			err = commands.ErrSyntax
		}
	}
	if err != nil {
		return err
	}
	if on {
		return commands.ErrNoTracking
	}
	c.Out.OK()
	return nil
}

func (s *session) redirectable(arg []byte) error {
	id, ok := commands.ParseInt(arg)
	if !ok {
		return commands.ErrNotInteger
	}
	if s.srv.clients.byID(id) == nil {
		return commands.ErrRedirectGone
	}
	return nil
}

func clientCaching(*commands.Call, *session) error { return commands.ErrCachingMode }

func clientGetRedir(c *commands.Call, s *session) error {
	c.Out.Int(-1)
	return nil
}

func clientTrackingInfo(c *commands.Call, s *session) error {
	c.Out.Map(3)
	c.Out.BulkString("flags")
	c.Out.Set(1)
	c.Out.BulkString("off")
	c.Out.BulkString("redirect")
	c.Out.Int(-1)
	c.Out.BulkString("prefixes")
	c.Out.Array(0)
	return nil
}

func clientHelp(c *commands.Call, s *session) error {
	c.Out.Help("CLIENT",
		"CACHING (YES|NO)",
		"    Enable/disable tracking of the keys for next command in OPTIN/OPTOUT modes.",
		"GETREDIR",
		"    Return the client ID we are redirecting to when tracking is enabled.",
		"GETNAME",
		"    Return the name of the current connection.",
		"ID",
		"    Return the ID of the current connection.",
		"INFO",
		"    Return information about the current client connection.",
		"KILL <ip:port>",
		"    Kill connection made from <ip:port>.",
		"KILL <option> <value> [<option> <value> [...]]",
		"    Kill connections. Options are:",
		"    * ADDR (<ip:port>|<unixsocket>:0)",
		"      Kill connections made from the specified address",
		"    * LADDR (<ip:port>|<unixsocket>:0)",
		"      Kill connections made to specified local address",
		"    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
		"      Kill connections by type.",
		"    * USER <username>",
		"      Kill connections authenticated by <username>.",
		"    * SKIPME (YES|NO)",
		"      Skip killing current connection (default: yes).",
		"LIST [options ...]",
		"    Return information about client connections. Options:",
		"    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
		"      Return clients of specified type.",
		"UNPAUSE",
		"    Stop the current client pause, resuming traffic.",
		"PAUSE <timeout> [WRITE|ALL]",
		"    Suspend all, or just write, clients for <timeout> milliseconds.",
		"REPLY (ON|OFF|SKIP)",
		"    Control the replies sent to the current connection.",
		"SETNAME <name>",
		"    Assign the name <name> to the current connection.",
		"UNBLOCK <clientid> [TIMEOUT|ERROR]",
		"    Unblock the specified blocked client.",
		"TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]]",
		"         [OPTIN] [OPTOUT] [NOLOOP]",
		"    Control server assisted client side caching.",
		"TRACKINGINFO",
		"    Report tracking status for the current connection.",
		"NO-EVICT (ON|OFF)",
		"    Protect current client connection from eviction.",
	)
	return nil
}
