//go:build fault

package server

import (
	"bytes"
	"os"
	"time"

	"firn/commands"
)

// planted names the mistake that this process makes; see package shard for
// more of them:
//
//	reply-first  SET answers before it has happened
var planted = os.Getenv("FIRN_FAULT")

// allAside makes every command that has a cost run aside, whatever its cost.
var allAside = os.Getenv("FIRN_ASIDE") == "all"

// lateness is how long after its reply a SET takes effect.
const lateness = 2 * time.Millisecond

// tooLong says whether a command of this cost runs aside.
func tooLong(cost, from int) bool { return allAside || cost > from }

// repliesFirst answers a plain SET and leaves the work for later.
func (s *session) repliesFirst(c *commands.Call) bool {
	if planted != "reply-first" || c.Row.Name != "SET" || len(c.Args) != 3 {
		return false
	}
	late := *c
	late.Out = &commands.Reply{}
	late.Args = nil
	for _, a := range c.Args {
		late.Args = append(late.Args, bytes.Clone(a))
	}
	c.Out.OK()
	time.AfterFunc(lateness, func() { s.srv.setLate(&late) })
	return true
}

func (srv *Server) setLate(c *commands.Call) {
	h := srv.shards.NewHold()
	h.Want(c.Args[1])
	if h.Take(false) != nil {
		return // lost, which is a mistake too
	}
	defer h.Give()
	h.Tx.Begin(srv.shards.Space, c.DB, c.Now)
	if commands.RunOwner(c, &h.Tx) == nil {
		h.Commit(c.Now, c.Effects(&h.Tx))
	}
}
