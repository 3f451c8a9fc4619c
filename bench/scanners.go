package main

import "strconv"

// scanState is one connection's way through a pass.
type scanState struct {
	at   int // elements of the current reply seen so far
	next []byte
	seen keySum
}

// A scanDriver iterates SCAN c MATCH *22* COUNT n on each connection, pass after pass. No key is added or removed meanwhile,
// so each whole pass must return just the keys that match, each once.
type scanDriver struct {
	count  string
	want   keySum
	firstC int // id of the loop's first connection
	states []scanState
	keys   uint64 // returned in the window
	passes int    // whole ones, from the start
	wrong  int    // those that missed a key or returned one twice
}

func newScanDriver(firstConn, conns, count int, want keySum) *scanDriver {
	d := &scanDriver{count: strconv.Itoa(count), want: want, firstC: firstConn, states: make([]scanState, conns)}
	for i := range d.states {
		d.states[i].next = append(make([]byte, 0, 20), '0')
	}
	return d
}

func (d *scanDriver) state(c *conn) *scanState { return &d.states[c.id-d.firstC] }

func (d *scanDriver) request(c *conn, dst []byte) ([]byte, int) {
	s := d.state(c)
	s.at = 0
	dst = appendHeader(dst, 6)
	dst = appendArg(dst, "SCAN")
	dst = appendArg(dst, s.next)
	for _, a := range [...]string{"MATCH", pattern, "COUNT", d.count} {
		dst = appendArg(dst, a)
	}
	return dst, 1
}

// token reads the four parts of a reply: an array of two, the cursor, an array, the keys.
func (d *scanDriver) token(c *conn, t token) {
	s := d.state(c)
	s.at++
	switch {
	case s.at == 2:
		s.next = append(s.next[:0], t.body...)
	case s.at > 3:
		n, _ := parseKey(t.body) // a foreign key makes the sum wrong
		s.seen.add(n)
	}
}

func (d *scanDriver) answered(c *conn, counted bool) {
	s := d.state(c)
	if counted {
		d.keys += uint64(max(s.at-3, 0))
	}
	if len(s.next) != 1 || s.next[0] != '0' {
		return
	}
	d.passes++
	if s.seen != d.want {
		d.wrong++
	}
	s.seen = keySum{}
}

// A keysDriver repeats KEYS *22*.
type keysDriver struct {
	want   keySum
	seen   keySum
	header bool
	passes int
	wrong  int
}

func (d *keysDriver) request(_ *conn, dst []byte) ([]byte, int) {
	d.seen, d.header = keySum{}, false
	return appendCommand(dst, "KEYS", pattern), 1
}

func (d *keysDriver) token(_ *conn, t token) {
	if !d.header {
		d.header = true
		return
	}
	n, _ := parseKey(t.body)
	d.seen.add(n)
}

func (d *keysDriver) answered(*conn, bool) {
	d.passes++
	if d.seen != d.want {
		d.wrong++
	}
}
