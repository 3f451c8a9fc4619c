package transcript

import (
	"fmt"
	"strconv"
	"strings"
)

// String prints a reply as the package doc describes: without a line end after
// the last line.
func (v Reply) String() string {
	if v.Attr != nil {
		return v.Attr.String() + "\n" + v.bare()
	}
	return v.bare()
}

func (v Reply) bare() string {
	switch {
	case v.Null:
		return "(nil)"
	case v.aggregate():
		return v.list()
	}
	switch v.Kind {
	case '-', '!':
		return "(error) " + v.Text
	case ':':
		return "(integer) " + v.Text
	case '$':
		return Quote(v.Text)
	case ',':
		return "(double) " + v.Text
	case '(':
		return "(big number) " + v.Text
	case '=':
		return fmt.Sprintf("(verbatim %s) %s", v.Text[:3], Quote(v.Text[4:]))
	case '#':
		return map[string]string{"t": "(true)", "f": "(false)"}[v.Text]
	}
	if v.Text == "" {
		return `(status) ""`
	}
	return v.Text
}

func (v Reply) aggregate() bool { return strings.IndexByte("*%~>", v.Kind) >= 0 }

// list prints an aggregate that is not null. The numbers are padded to the
// width of the last, and what an element needs beyond its first line is
// indented by that.
func (v Reply) list() string {
	empty, mark, step := "(empty array)", ")", 1
	switch v.Kind {
	case '%':
		empty, mark, step = "(empty hash)", "#", 2
	case '~':
		empty, mark = "(empty set)", "~"
	case '>':
		empty = "(empty push)"
	}
	if len(v.Elems) == 0 {
		return empty
	}
	width := len(strconv.Itoa(len(v.Elems) / step))
	indent := "\n" + strings.Repeat(" ", width+2)
	var lines []string
	for i := 0; i < len(v.Elems); i += step {
		text := v.Elems[i].String()
		if v.Kind == '%' {
			text += v.Elems[i+1].behindKey()
		}
		lines = append(lines, fmt.Sprintf("%*d%s %s", width, i/step+1, mark, strings.ReplaceAll(text, "\n", indent)))
	}
	return strings.Join(lines, "\n")
}

// behindKey prints a map's value: one of several lines begins on its own.
func (v Reply) behindKey() string {
	text := v.String()
	if strings.Contains(text, "\n") {
		return " => \n" + text
	}
	return " => " + text
}

// Quote prints bytes between double quotes as redis-cli does; Split reads them
// back.
func Quote(s string) string {
	b := []byte{'"'}
	for i := range len(s) {
		c := s[i]
		if at := strings.IndexByte("\n\r\t\a\b\\\"", c); at >= 0 {
			b = append(b, '\\', `nrtab\"`[at])
			continue
		}
		if c < ' ' || c > '~' {
			b = fmt.Appendf(b, `\x%02x`, c)
			continue
		}
		b = append(b, c)
	}
	return string(append(b, '"'))
}
