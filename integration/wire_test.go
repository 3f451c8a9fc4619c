package integration

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
)

// A wire is a client that sends commands and reads replies, nothing more, so
// that what was sent when is known.
type wire struct {
	net.Conn
	in *bufio.Reader
}

func openWire(addr string, db int) (*wire, error) {
	conn, err := dial(addr)
	if err != nil {
		return nil, err
	}
	w := &wire{conn, bufio.NewReaderSize(conn, 64<<10)}
	if _, err := w.do("SELECT", strconv.Itoa(db)); err != nil {
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

// do sends one command and returns its reply.
func (w *wire) do(args ...string) (string, error) {
	if err := w.send([][]string{args}); err != nil {
		return "", err
	}
	return w.reply()
}

// send sends all commands with one write.
func (w *wire) send(commands [][]string) error {
	var b []byte
	for _, args := range commands {
		b = fmt.Appendf(b, "*%d\r\n", len(args))
		for _, a := range args {
			b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
		}
	}
	_, err := w.Write(b)
	return err
}

// reply reads a reply and writes it as text: +OK, :1, "bulk", nil, -ERR …,
// [a b].
func (w *wire) reply() (string, error) {
	line, err := w.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	switch line[0] {
	case '+', '-', ':':
		return line, nil
	case '$':
		return w.bulk(line[1:])
	case '*':
		return w.array(line[1:])
	}
	return "", fmt.Errorf("no reply starts with %q", line)
}

func (w *wire) bulk(length string) (string, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return "nil", err
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(w.in, b); err != nil {
		return "", err
	}
	return strconv.Quote(string(b[:n])), nil
}

func (w *wire) array(length string) (string, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return "nil", err
	}
	parts := make([]string, n)
	for i := range parts {
		if parts[i], err = w.reply(); err != nil {
			return "", err
		}
	}
	return "[" + strings.Join(parts, " ") + "]", nil
}

// elements takes an array of plain strings or numbers apart.
func elements(reply string) []string {
	return strings.Fields(strings.Trim(reply, "[]"))
}

// sorted brings a reply whose order is free into one.
func sorted(reply string) string {
	if !strings.HasPrefix(reply, "[") {
		return reply
	}
	all := strings.FieldsFunc(reply, func(r rune) bool { return strings.ContainsRune("[] ", r) })
	slices.Sort(all)
	return "[" + strings.Join(all, " ") + "]"
}
