package server

import "slices"

// aheadMost is how many bytes are read at most from a client whose command waits
// for what may never come, to see whether it is still there. (A loop is told.)
const aheadMost = 16 << 10

// lookAhead reads on while the session waits, aside from the session's buffer, in
// which the command's arguments are.
func (c *netConn) lookAhead() {
	if c.read || c.s.closed || !c.s.idles() || len(c.early) >= aheadMost {
		return
	}
	c.read = true
	c.more <- true
}

func (c *netConn) arrivedAhead(b []byte, err error) {
	c.read = false
	if c.s.closed {
		return
	}
	c.early = append(c.early, b...)
	switch {
	case err != nil && (c.s.idles() || len(c.early) == 0):
		c.close()
	case !c.s.paused():
		c.catchUp()
	}
}

// catchUp gives the session what was read ahead, after its wait.
func (c *netConn) catchUp() {
	if c.s.closed || len(c.early) == 0 || c.s.paused() {
		return
	}
	c.srv.stats.netIn.Add(int64(len(c.early)))
	n := copy(c.s.in.Space(len(c.early)), c.early)
	c.early = slices.Delete(c.early, 0, n)
	c.s.in.Advance(n)
	c.s.process()
	c.h.Cool()
	c.flush()
	c.s.info.update(c.s)
	if !c.s.closed && !c.s.paused() {
		c.resume()
	}
}
