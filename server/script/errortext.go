package script

import "strings"

// errorText gives an error its code: "-CODE text" loses the dash, "-text"
// without a space and "text" get ERR. Line ends at its ends are cut off.
func errorText(s string) string {
	code := "ERR"
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		if before, after, found := strings.Cut(rest, " "); found {
			code, rest = before, after
		}
		s = rest
	}
	return code + " " + strings.Trim(s, "\r\n")
}

// oneLine puts spaces in place of line ends, which would end a reply early.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, s)
}
