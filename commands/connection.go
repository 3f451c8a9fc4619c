package commands

// connectionCommands are the commands that need neither keys nor a server.
var connectionCommands = []Command{
	{Name: "PING", Arity: -1, Run: OnConn(ping), Summary: "Ping the server"},
	{Name: "ECHO", Arity: 2, Flags: Loading, Run: OnConn(echo), Summary: "Echo the given string"},
	{Name: "TIME", Arity: 1, Flags: Loading, Run: OnConn(timeOfDay), Summary: "Return the current server time"},
}

// ping answers a RESP2 client that is subscribed with a message, which is all it
// expects.
func ping(c *Call) error {
	if c.Subscribed && c.Out.Proto() == RESP2 && len(c.Args) <= 2 {
		c.Out.Array(2)
		c.Out.BulkString("pong")
		c.Out.Bulk(append(c.Args, nil)[1])
		return nil
	}
	switch len(c.Args) {
	case 1:
		c.Out.Simple("PONG")
	case 2:
		c.Out.Bulk(c.Args[1])
	default:
		return ErrArity(c.Row.full)
	}
	return nil
}

func echo(c *Call) error {
	c.Out.Bulk(c.Args[1])
	return nil
}

// timeOfDay answers with seconds and the microseconds within the second.
func timeOfDay(c *Call) error {
	const second = 1_000_000
	c.Out.Array(2)
	c.Out.BulkInt(c.Micros / second)
	c.Out.BulkInt(c.Micros % second)
	return nil
}
