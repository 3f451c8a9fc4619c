package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"firn/commands"
)

const (
	aclFlags  = commands.NoScript | commands.Loading
	aclAdmins = aclFlags | commands.Admin
)

// aclCommands tell of the one user that there is. None makes another.
var aclCommands = []commands.Command{
	{Name: "ACL", Arity: -2, Summary: "A container for Access List Control commands ", Subs: []commands.Command{
		{Name: "CAT", Arity: -2, Run: onSession(aclCat), Flags: aclFlags, Summary: "List the ACL categories or the commands inside a category"},
		{Name: "DRYRUN", Arity: -4, Run: onSession(aclDryrun), Flags: aclAdmins, Summary: "Returns whether the user can execute the given command without executing the command."},
		{Name: "GENPASS", Arity: -2, Run: onSession(aclGenpass), Flags: aclFlags, Summary: "Generate a pseudorandom secure password to use for ACL users"},
		{Name: "GETUSER", Arity: 3, Run: onSession(aclGetuser), Flags: aclAdmins, Summary: "Get the rules for a specific ACL user"},
		{Name: "HELP", Arity: 2, Run: onSession(aclHelp), Flags: helpFlags, Summary: "Show helpful text about the different subcommands"},
		{Name: "LIST", Arity: 2, Run: onSession(aclList), Flags: aclAdmins, Summary: "List the current ACL rules in ACL config file format"},
		{Name: "USERS", Arity: 2, Run: onSession(aclUsers), Flags: aclAdmins, Summary: "List the username of all the configured ACL rules"},
		{Name: "WHOAMI", Arity: 2, Run: onSession(aclWhoami), Flags: aclFlags, Summary: "Return the name of the user associated to the current connection"},
	}},
}

// theUser is the name of the only user.
const theUser = "default"

// passwordHash returns the SHA-256 of the user's password in hex, as Redis shows
// it; empty if it needs none.
func (s *session) passwordHash() string {
	pass := s.srv.config().RequirePass
	if pass == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(pass))
	return hex.EncodeToString(sum[:])
}

func aclCat(c *commands.Call, _ *session) error {
	names, ok := commands.Categories(), true
	switch len(c.Args) {
	case 2:
	case 3:
		names, ok = c.Table.InCategory(c.Args[2])
	default:
		return subcommandSyntax(c)
	}
	if !ok {
		return commands.ErrUnknownCategory(c.Args[2])
	}
	aclNames(c, names...)
	return nil
}

func aclNames(c *commands.Call, names ...string) {
	c.Out.Array(len(names))
	for _, name := range names {
		c.Out.BulkString(name)
	}
}

// aclDryrun looks at the command line only: the user may do everything.
func aclDryrun(c *commands.Call, _ *session) error {
	if string(c.Args[2]) != theUser {
		return commands.ErrUserNotFound(c.Args[2])
	}
	line := c.Args[3:]
	row := c.Table.Lookup(line[0])
	if row == nil || row.Subs != nil && len(line) > 1 && row.Sub(line[1]) == nil {
		return commands.ErrCommandNotFound(line[0])
	}
	if _, err := c.Table.Resolve(line); err != nil {
		return err
	}
	c.Out.OK()
	return nil
}

// The length of passwords in bits.
const (
	genpassBits    = 256
	maxGenpassBits = 4096
)

func aclGenpass(c *commands.Call, _ *session) error {
	bits := int64(genpassBits)
	if len(c.Args) > 3 {
		return subcommandSyntax(c)
	}
	if len(c.Args) == 3 {
		var ok bool
		if bits, ok = commands.ParseInt(c.Args[2]); !ok {
			return commands.ErrNotInteger
		}
	}
	if bits <= 0 || bits > maxGenpassBits {
		return commands.ErrGenpassBits
	}
	raw := make([]byte, (bits+7)/8)
	_, _ = rand.Read(raw) // never fails
	c.Out.BulkString(hex.EncodeToString(raw)[:(bits+3)/4])
	return nil
}

func aclGetuser(c *commands.Call, s *session) error {
	if string(c.Args[2]) != theUser {
		c.Out.Null()
		return nil
	}
	flags, passwords := []string{"on", "nopass"}, []string(nil)
	if hash := s.passwordHash(); hash != "" {
		flags, passwords = flags[:1], []string{hash}
	}
	c.Out.Map(6)
	c.Out.BulkString("flags")
	c.Out.Set(len(flags))
	for _, f := range flags {
		c.Out.BulkString(f)
	}
	c.Out.BulkString("passwords")
	aclNames(c, passwords...)
	for _, rule := range [][2]string{{"commands", "+@all"}, {"keys", "~*"}, {"channels", "&*"}} {
		c.Out.BulkString(rule[0])
		c.Out.BulkString(rule[1])
	}
	c.Out.BulkString("selectors")
	c.Out.Array(0)
	return nil
}

func aclList(c *commands.Call, s *session) error {
	pass := "nopass"
	if hash := s.passwordHash(); hash != "" {
		pass = "#" + hash
	}
	aclNames(c, "user "+theUser+" on "+pass+" ~* &* +@all")
	return nil
}

func aclUsers(c *commands.Call, _ *session) error {
	aclNames(c, theUser)
	return nil
}

func aclWhoami(c *commands.Call, _ *session) error {
	c.Out.BulkString(theUser)
	return nil
}

// aclHelp leaves out what is about further users.
func aclHelp(c *commands.Call, _ *session) error {
	c.Out.Help("ACL",
		"CAT [<category>]",
		"    List all commands that belong to <category>, or all command categories",
		"    when no category is specified.",
		"DRYRUN <username> <command> [<arg> ...]",
		"    Returns whether the user can execute the given command without executing the command.",
		"GETUSER <username>",
		"    Get the user's details.",
		"GENPASS [<bits>]",
		"    Generate a secure 256-bit user password. The optional `bits` argument can",
		"    be used to specify a different size.",
		"LIST",
		"    Show users details in config file format.",
		"USERS",
		"    List all the registered usernames.",
		"WHOAMI",
		"    Return the current connection username.",
	)
	return nil
}
