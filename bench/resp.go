package main

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// A token is one element of a RESP2 reply: a header with its number, or a string with its bytes. body points into the
// buffer that was parsed and holds until that buffer is read into again.
type token struct {
	kind byte  // '+', '-', ':', '$', '*', or '_' for a null
	n    int64 // value of ':', element count of '*'
	body []byte
}

// A parser cuts replies into tokens as bytes arrive. It keeps only how many elements the current reply still lacks,
// so a reply of a million keys is neither buffered whole nor parsed twice.
type parser struct{ left int64 }

var errProtocol = errors.New("reply is not RESP2")

// next takes the first token of b. used is zero when b does not hold a whole token yet.
func (p *parser) next(b []byte) (t token, used int, err error) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return t, 0, nil
	}
	if end < 2 || b[end-1] != '\r' {
		return t, 0, fmt.Errorf("%w: %q", errProtocol, b[:min(end+1, 40)])
	}
	t, used = token{kind: b[0], body: b[1 : end-1]}, end+1
	switch t.kind {
	case '+', '-':
	case ':', '$', '*':
		if t.n, err = parseInt(t.body); err != nil {
			return t, 0, err
		}
	default:
		return t, 0, fmt.Errorf("%w: %q", errProtocol, b[:min(end+1, 40)])
	}
	if t.kind == '$' && t.n >= 0 {
		size := int(t.n)
		if len(b) < used+size+2 {
			return t, 0, nil
		}
		t.body = b[used : used+size]
		used += size + 2
	}
	p.count(&t)
	return t, used, nil
}

// count keeps the number of elements that the reply still lacks, and turns the two nulls of RESP2 into one kind.
func (p *parser) count(t *token) {
	if p.left == 0 {
		p.left = 1
	}
	p.left--
	if (t.kind == '$' || t.kind == '*') && t.n < 0 {
		t.kind = '_'
	}
	if t.kind == '*' {
		p.left += t.n
	}
}

// done tells that the last token ended a reply.
func (p *parser) done() bool { return p.left == 0 }

func parseInt(b []byte) (int64, error) {
	neg := len(b) > 0 && b[0] == '-'
	digits := b
	if neg {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, fmt.Errorf("%w: number %q", errProtocol, b)
	}
	var n int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%w: number %q", errProtocol, b)
		}
		n = n*10 + int64(c-'0')
	}
	if neg {
		return -n, nil
	}
	return n, nil
}

// appendHeader appends the header of a command with n arguments.
func appendHeader(dst []byte, n int) []byte {
	dst = append(dst, '*')
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, '\r', '\n')
}

// appendArg appends one argument of a command.
func appendArg[T string | []byte](dst []byte, arg T) []byte {
	dst = append(dst, '$')
	dst = strconv.AppendInt(dst, int64(len(arg)), 10)
	dst = append(dst, '\r', '\n')
	dst = append(dst, arg...)
	return append(dst, '\r', '\n')
}

// appendCommand appends a whole command.
func appendCommand(dst []byte, args ...string) []byte {
	dst = appendHeader(dst, len(args))
	for _, a := range args {
		dst = appendArg(dst, a)
	}
	return dst
}
