package transcript

import (
	"errors"
	"strings"
)

// ErrQuotes is the error for a line whose quotes don't match.
var ErrQuotes = errors.New("unbalanced quotes")

const blanks = " \t\n\v\f\r"

// Split cuts a line into words by redis-cli's rules: "…" with the escapes \n
// \r \t \b \a \xHH, '…' with \' only; a closing quote ends the word.
func Split(line string) ([][]byte, error) {
	var words [][]byte
	for {
		line = strings.TrimLeft(line, blanks)
		if line == "" {
			return words, nil
		}
		word, rest, err := splitWord(line)
		if err != nil {
			return nil, err
		}
		words, line = append(words, word), rest
	}
}

func splitWord(line string) (word []byte, rest string, err error) {
	word = []byte{}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"' || c == '\'':
			return splitQuoted(word, line[i+1:], c)
		case strings.IndexByte(blanks, c) >= 0:
			return word, line[i:], nil
		default:
			word = append(word, c)
		}
	}
	return word, "", nil
}

func splitQuoted(word []byte, line string, quote byte) ([]byte, string, error) {
	for len(line) > 0 {
		if line[0] == quote {
			rest := line[1:]
			if rest != "" && strings.IndexByte(blanks, rest[0]) < 0 {
				return nil, "", ErrQuotes
			}
			return word, rest, nil
		}
		c, n := unescape(line, quote)
		word, line = append(word, c), line[n:]
	}
	return nil, "", ErrQuotes
}

// unescape gives the byte at the front of a quoted line and how many bytes it
// is written with.
func unescape(s string, quote byte) (c byte, n int) {
	if s[0] != '\\' || len(s) == 1 {
		return s[0], 1
	}
	if quote == '\'' {
		if s[1] == '\'' {
			return '\'', 2
		}
		return '\\', 1
	}
	if len(s) >= 4 && s[1] == 'x' && hex(s[2]) >= 0 && hex(s[3]) >= 0 {
		return byte(hex(s[2])<<4 | hex(s[3])), 4
	}
	if i := strings.IndexByte("nrtba", s[1]); i >= 0 {
		return "\n\r\t\b\a"[i], 2
	}
	return s[1], 2
}

func hex(c byte) int { return strings.IndexByte("0123456789abcdef", c|0x20) }
