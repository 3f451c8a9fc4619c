package resp

import "bytes"

const cSpaces = " \t\n\v\f\r"

// SplitArgs splits a line into words by the rules of redis-cli, inline requests and redis.conf (sdssplitargs in sds.c).
// Words are separated by white space. Within "double quotes" \n, \r, \t, \b, \a and \xHH are what they are in C and any
// other escaped byte is itself; within 'single quotes' only \' is an escape. A closing quote ends the word and must be
// followed by white space or the end. A NUL byte ends the line.
//
// The words are copies. The only error is the ProtocolError for unbalanced quotes.
func SplitArgs(line []byte) ([][]byte, error) {
	if end := bytes.IndexByte(line, 0); end >= 0 {
		line = line[:end]
	}
	var words [][]byte
	text := make([]byte, 0, len(line)) // of all words; unquoting never makes one longer
	for {
		line = bytes.TrimLeft(line, cSpaces)
		if len(line) == 0 {
			return words, nil
		}
		from, ok := len(text), false
		if text, line, ok = appendWord(text, line); !ok {
			return nil, errUnbalancedQuotes
		}
		words = append(words, text[from:len(text):len(text)])
	}
}

// appendWord appends the word at the front of line and returns what follows it.
func appendWord(text, line []byte) (word, rest []byte, ok bool) {
	for i, c := range line {
		switch c {
		case ' ', '\n', '\r', '\t': // but not \v and \f, which only count between words
			return text, line[i:], true
		case '"', '\'':
			return appendQuoted(text, line[i+1:], c)
		}
		text = append(text, c)
	}
	return text, nil, true
}

// appendQuoted appends what stands before the closing quote.
func appendQuoted(text, line []byte, quote byte) (word, rest []byte, ok bool) {
	for len(line) > 0 {
		if line[0] == quote {
			rest = line[1:]
			return text, rest, len(rest) == 0 || bytes.IndexByte([]byte(cSpaces), rest[0]) >= 0
		}
		b, n := unescape(line, quote)
		text = append(text, b)
		line = line[n:]
	}
	return nil, nil, false
}

// unescape is the byte at the front of a quoted line, and how many bytes it is written with.
func unescape(line []byte, quote byte) (b byte, n int) {
	if line[0] != '\\' || len(line) == 1 {
		return line[0], 1
	}
	if quote == '\'' {
		if line[1] == '\'' {
			return '\'', 2
		}
		return '\\', 1
	}
	if len(line) >= 4 && line[1] == 'x' {
		high, ok1 := hexDigit(line[2])
		low, ok2 := hexDigit(line[3])
		if ok1 && ok2 {
			return high<<4 | low, 4
		}
	}
	return escaped(line[1]), 2
}

func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10, true
	}
	return 0, false
}
