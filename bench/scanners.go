package main

import "strconv"

// A scanDriver iterates SCAN c MATCH *22* COUNT n, pass after pass. No key is added or removed meanwhile, so each whole pass
// must return just the keys that match, each once.
type scanDriver struct {
	count  string
	want   keySum
	at     int // elements of the current reply seen so far
	next   []byte
	seen   keySum // in this pass
	keys   uint64 // returned in the window
	passes int    // whole ones, from the start
	wrong  int    // those that missed a key or returned one twice
}

func newScanDriver(count int, want keySum) *scanDriver {
	return &scanDriver{count: strconv.Itoa(count), want: want, next: append(make([]byte, 0, 20), '0')}
}

func (d *scanDriver) request(dst []byte) ([]byte, int) {
	d.at = 0
	dst = appendHeader(dst, 6)
	dst = appendArg(dst, "SCAN")
	dst = appendArg(dst, d.next)
	for _, a := range [...]string{"MATCH", pattern, "COUNT", d.count} {
		dst = appendArg(dst, a)
	}
	return dst, 1
}

// token reads the four parts of a reply: an array of two, the cursor, an array, the keys.
func (d *scanDriver) token(t token) {
	d.at++
	switch {
	case d.at == 2:
		d.next = append(d.next[:0], t.body...)
	case d.at > 3:
		n, _ := parseKey(t.body) // a foreign key makes the sum wrong
		d.seen.add(n)
	}
}

func (d *scanDriver) answered(counted bool) {
	if counted {
		d.keys += uint64(max(d.at-3, 0))
	}
	if len(d.next) != 1 || d.next[0] != '0' {
		return
	}
	d.passes++
	if d.seen != d.want {
		d.wrong++
	}
	d.seen = keySum{}
}

// A keysDriver repeats KEYS *22*.
type keysDriver struct {
	want   keySum
	seen   keySum
	header bool
	passes int
	wrong  int
}

func (d *keysDriver) request(dst []byte) ([]byte, int) {
	d.seen, d.header = keySum{}, false
	return appendCommand(dst, "KEYS", pattern), 1
}

func (d *keysDriver) token(t token) {
	if !d.header {
		d.header = true
		return
	}
	n, _ := parseKey(t.body)
	d.seen.add(n)
}

func (d *keysDriver) answered(bool) {
	d.passes++
	if d.seen != d.want {
		d.wrong++
	}
}
