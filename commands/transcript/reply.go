package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// A Reply is one parsed reply of either protocol.
type Reply struct {
	Kind  byte    // the type byte of the protocol: + - : $ * _ # , ( = % ~ > !
	Null  bool    // $-1, *-1 or _
	Text  string  // the value of all but the aggregates
	Elems []Reply // of an aggregate; a map's keys and values in turn
	Attr  *Reply  // the attributes before it, if any
}

// maxDepth bounds the recursion; no reply of Redis is so deep.
const maxDepth = 64

// trustedSize bounds what is allocated because a length says so.
const trustedSize = 1 << 20

// Read reads one reply and also returns its bytes. It is strict: what Redis
// would never send is an error.
func Read(r *bufio.Reader) (Reply, []byte, error) {
	d := decoder{r: r}
	v, err := d.reply(0)
	return v, d.raw.Bytes(), err
}

// ReadAll parses bytes that must be exactly one reply.
func ReadAll(raw []byte) (Reply, error) {
	src := bytes.NewReader(raw)
	r := bufio.NewReader(src)
	v, _, err := Read(r)
	if rest := r.Buffered() + src.Len(); err == nil && rest > 0 {
		err = fmt.Errorf("%d bytes after the reply", rest)
	}
	if err != nil {
		return v, fmt.Errorf("not one reply: %.200q: %w", raw, err)
	}
	return v, nil
}

type decoder struct {
	r   *bufio.Reader
	raw bytes.Buffer
}

func (d *decoder) reply(depth int) (v Reply, err error) {
	if depth > maxDepth {
		return v, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	line, err := d.line()
	if err != nil {
		return v, err
	}
	v.Kind, v.Text = line[0], line[1:]
	switch v.Kind {
	case '+', '-':
		return v, nil
	case ':', '(', ',', '#', '_':
		return v, v.scalar()
	case '$', '=', '!':
		return v, d.bulk(&v)
	case '*', '%', '~', '>':
		return v, d.aggregate(&v, depth)
	case '|':
		return d.attributed(v, depth)
	}
	return v, fmt.Errorf("no type %q", v.Kind)
}

// line reads to the next CRLF; neither may stand alone.
func (d *decoder) line() (string, error) {
	s, err := d.r.ReadString('\n')
	d.raw.WriteString(s)
	if err != nil {
		return "", fmt.Errorf("in a line: %w", unexpected(err))
	}
	line, ok := strings.CutSuffix(s, "\r\n")
	if !ok || strings.Contains(line, "\r") {
		return "", fmt.Errorf("line %.100q ends without CRLF, or has a CR inside", s)
	}
	if line == "" {
		return "", fmt.Errorf("empty line")
	}
	return line, nil
}

func (v *Reply) scalar() error {
	bad := fmt.Errorf("no value of type %q: %q", v.Kind, v.Text)
	switch v.Kind {
	case ':':
		if n, err := strconv.ParseInt(v.Text, 10, 64); err != nil || strconv.FormatInt(n, 10) != v.Text {
			return bad
		}
	case '(':
		if n, ok := new(big.Int).SetString(v.Text, 10); !ok || n.String() != v.Text {
			return bad
		}
	case ',':
		if _, err := strconv.ParseFloat(v.Text, 64); err != nil {
			return bad
		}
	case '#':
		if v.Text != "t" && v.Text != "f" {
			return bad
		}
	case '_':
		v.Null = true
		if v.Text != "" {
			return bad
		}
	}
	return nil
}

// size takes the length that stands in v.Text; -1 where a null may be.
func (v *Reply) size() (int, error) {
	n, err := strconv.Atoi(v.Text)
	low := 0
	if v.Kind == '$' || v.Kind == '*' {
		low = -1
	}
	if err != nil || n < low || strconv.Itoa(n) != v.Text {
		return 0, fmt.Errorf("no length of type %q: %q", v.Kind, v.Text)
	}
	v.Text, v.Null = "", n < 0
	return n, nil
}

func (d *decoder) bulk(v *Reply) error {
	n, err := v.size()
	if err != nil || v.Null {
		return err
	}
	var b bytes.Buffer
	b.Grow(min(n, trustedSize) + 2 + bytes.MinRead)
	if _, err := io.CopyN(&b, d.r, int64(n)+2); err != nil {
		return fmt.Errorf("in a string of %d bytes: %w", n, unexpected(err))
	}
	d.raw.Write(b.Bytes())
	text, ok := strings.CutSuffix(b.String(), "\r\n")
	if !ok || v.Kind == '=' && (len(text) < 4 || text[3] != ':') {
		return fmt.Errorf("a string of %d bytes is %.100q", n, b.Bytes())
	}
	v.Text = text
	return nil
}

func (d *decoder) aggregate(v *Reply, depth int) error {
	n, err := v.size()
	if err != nil {
		return err
	}
	if v.Kind == '%' {
		n *= 2
	}
	for i := range n {
		e, err := d.reply(depth + 1)
		if err != nil {
			return fmt.Errorf("element %d of %d: %w", i, n, err)
		}
		v.Elems = append(v.Elems, e)
	}
	return nil
}

// attributed reads attributes and the reply that they belong to.
func (d *decoder) attributed(attr Reply, depth int) (Reply, error) {
	attr.Kind = '%'
	if err := d.aggregate(&attr, depth); err != nil {
		return attr, err
	}
	v, err := d.reply(depth + 1)
	v.Attr = &attr
	return v, err
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
