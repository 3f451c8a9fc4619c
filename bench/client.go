package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// serverError is an error reply.
type serverError string

func (e serverError) Error() string { return string(e) }

// answerWithin bounds how long one call waits: the longest known stall in experiments.md is 54 s.
const answerWithin = 10 * time.Minute

// A client is a plain connection for everything that is not a measured load: set-up, INFO, single heavy commands.
// It belongs to one goroutine.
type client struct {
	conn net.Conn
	p    parser
	in   []byte
	r, w int // in[r:w] is read but not yet parsed
	out  []byte
}

func dial(addr string) (*client, error) {
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, in: make([]byte, 64<<10)}, nil
}

func (c *client) close() { _ = c.conn.Close() }

// do sends a command and returns its scalar reply as text: the string, the number, "" for a null. The elements of an
// array are read and dropped, and the text is their count.
func (c *client) do(args ...string) (string, error) {
	text, err := c.each(nil, args...)
	if err != nil {
		return "", fmt.Errorf("%s: %w", args[0], err)
	}
	return text, nil
}

// each is do, which hands every element of an array reply to visit (unless nil) as it is parsed.
func (c *client) each(visit func(i int, b []byte), args ...string) (string, error) {
	c.out = appendCommand(c.out[:0], args...)
	if err := c.send(c.out); err != nil {
		return "", err
	}
	first, err := c.read()
	if err != nil {
		return "", err
	}
	text := tokenText(first)
	for i := 0; !c.p.done(); i++ {
		t, err := c.read()
		if err != nil {
			return "", err
		}
		if visit != nil {
			visit(i, t.body)
		}
	}
	if first.kind == '-' {
		return "", serverError(text)
	}
	return text, nil
}

func tokenText(t token) string {
	switch t.kind {
	case '*', ':':
		return strconv.FormatInt(t.n, 10)
	case '_':
		return ""
	}
	return string(t.body)
}

func (c *client) send(b []byte) error {
	_ = c.conn.SetDeadline(time.Now().Add(answerWithin))
	_, err := c.conn.Write(b)
	return err
}

// read returns the next token, reading from the socket when it must. The token's body holds until the next call.
func (c *client) read() (token, error) {
	for {
		t, used, err := c.p.next(c.in[c.r:c.w])
		if err != nil || used > 0 {
			c.r += used
			return t, err
		}
		if c.r > 0 {
			c.w = copy(c.in, c.in[c.r:c.w])
			c.r = 0
		}
		if c.w == len(c.in) {
			c.in = append(c.in, make([]byte, len(c.in))...)
		}
		n, err := c.conn.Read(c.in[c.w:])
		c.w += n
		if err != nil && n == 0 {
			return token{}, err
		}
	}
}

// skip reads n whole replies. The first error reply among them is returned after all were read.
func (c *client) skip(n int) error {
	var failed error
	for n > 0 {
		t, err := c.read()
		if err != nil {
			return err
		}
		if t.kind == '-' && failed == nil {
			failed = serverError(t.body)
		}
		if c.p.done() {
			n--
		}
	}
	return failed
}

// pipeline sends the commands 0 to n-1 that next appends, in batches, with one batch in flight while the following is made.
// after (unless nil) is told how many were answered, once a batch. It stops at the first error reply.
func (c *client) pipeline(n, batch int, next func(i int, dst []byte) []byte, after func(done int)) error {
	waiting := 0 // commands of the batch in flight
	for i := 0; i < n || waiting > 0; {
		size := min(batch, n-i)
		c.out = c.out[:0]
		for range size {
			c.out = next(i, c.out)
			i++
		}
		if size > 0 {
			if err := c.send(c.out); err != nil {
				return err
			}
		}
		if err := c.skip(waiting); err != nil {
			return err
		}
		if after != nil && waiting > 0 {
			after(i - size)
		}
		waiting = size
	}
	return nil
}

// info returns the fields of the given INFO sections.
func (c *client) info(section string) (map[string]string, error) {
	text, err := c.do("INFO", section)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && k[0] != '#' {
			fields[k] = v
		}
	}
	return fields, nil
}

// number sends a command whose reply is a number.
func (c *client) number(args ...string) (int64, error) {
	text, err := c.do(args...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}

// reason is what a table cell says of an error: short for a command that the server does not know.
func reason(err error) string {
	var reply serverError
	if errors.As(err, &reply) && strings.HasPrefix(string(reply), "ERR unknown command") {
		return "n/a (unknown command)"
	}
	return "n/a (" + strings.ReplaceAll(err.Error(), "\n", "; ") + ")"
}
