package config

import (
	"strconv"
	"strings"
)

const blanks = " \t\n\v\f\r"

// splitArgs cuts a line into words. A word may have parts in "…", with the escapes \n \r \t \b \a \xHH, or in '…', with \' only.
// False if a quote isn't closed or is closed in the middle of a word.
func splitArgs(line string) ([]string, bool) {
	var words []string
	for {
		line = strings.TrimLeft(line, blanks)
		if line == "" {
			return words, true
		}
		word, rest, ok := splitWord(line)
		if !ok {
			return nil, false
		}
		words = append(words, word)
		line = rest
	}
}

// splitWord reads one word. A quote may begin inside it; where a quote ends, the word ends.
func splitWord(line string) (word, rest string, ok bool) {
	end := strings.IndexAny(line, " \n\r\t\"'")
	if end < 0 {
		return line, "", true
	}
	if line[end] != '"' && line[end] != '\'' {
		return line[:end], line[end:], true
	}
	quoted, rest, ok := unquote(line[end+1:], line[end])
	if !ok || rest != "" && !strings.ContainsRune(blanks, rune(rest[0])) {
		return "", "", false
	}
	return line[:end] + quoted, rest, true
}

// unquote reads up to the closing quote.
func unquote(s string, closing byte) (word, rest string, ok bool) {
	var b []byte
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == closing:
			return string(b), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s) && (closing == '"' || s[i+1] == '\''):
			ch, used := unescape(s[i+1:], closing)
			b = append(b, ch)
			i += used
		default:
			b = append(b, s[i])
		}
	}
	return "", "", false
}

// unescape reads what stands after a backslash and gives the number of bytes it took.
func unescape(s string, closing byte) (byte, int) {
	if s[0] == 'x' && closing == '"' && len(s) >= 3 {
		if v, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
			return byte(v), 3
		}
	}
	if i := strings.IndexByte("nrtba", s[0]); i >= 0 && closing == '"' {
		return "\n\r\t\b\a"[i], 1
	}
	return s[0], 1
}
