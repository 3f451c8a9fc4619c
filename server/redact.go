package server

import (
	"firn/commands"
	"firn/server/config"
)

// redacted stands for an argument that nobody is to read.
const redacted = "(redacted)"

// secretArgs says which arguments of a command line hold, or may hold, a
// secret: neither the slow log nor a monitor may show them. Also those of a
// command that failed: what was meant to be a password is one elsewhere.
func secretArgs(c *commands.Call) (at []int) {
	switch c.Row.FullName() {
	case "auth":
		return from(c, 1)
	case "acl|setuser":
		return from(c, 2)
	case "hello":
		for i := 1; i < len(c.Args); i++ {
			if c.Is(i, "AUTH") {
				return from(c, i+1)
			}
		}
	case "config|set":
		for i := 2; i+1 < len(c.Args); i += 2 {
			if o := config.Lookup(string(c.Args[i])); o != nil && o.Flags&config.Sensitive != 0 {
				at = append(at, i+1)
			}
		}
	}
	return at
}

// from is all arguments from the i-th on.
func from(c *commands.Call, i int) (at []int) {
	for ; i < len(c.Args); i++ {
		at = append(at, i)
	}
	return at
}
