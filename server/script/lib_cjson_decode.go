package script

import (
	"strings"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// A jsonDecoder reads one text. It stops at a zero byte as the original does,
// for which that is the end of the string.
type jsonDecoder struct {
	L     *lua.LState
	cfg   *jsonConfig
	data  string
	at    int
	depth int
	stack int // values that the original would have on Lua's stack
	tmp   []byte
}

// A jsonToken is what the original calls one: the names show in its errors.
type jsonToken struct {
	kind  string
	index int    // where it begins, or where the error is
	text  string // of a string, or what is wrong
	num   float64
	truth bool
}

// The kinds of token, under the names that errors give them.
const (
	jsonObjBegin = "T_OBJ_BEGIN"
	jsonObjEnd   = "T_OBJ_END"
	jsonArrBegin = "T_ARR_BEGIN"
	jsonArrEnd   = "T_ARR_END"
	jsonString   = "T_STRING"
	jsonNumber   = "T_NUMBER"
	jsonBool     = "T_BOOLEAN"
	jsonNull     = "T_NULL"
	jsonColon    = "T_COLON"
	jsonComma    = "T_COMMA"
	jsonEnd      = "T_END"
	jsonError    = "T_ERROR"
)

func (cfg *jsonConfig) decode(L *lua.LState) int {
	if L.GetTop() != 1 {
		argError(L, 1, "expected 1 argument")
	}
	data := stringArg(L, 1)
	if len(data) >= 2 && (data[0] == 0 || data[1] == 0) {
		raise(L, "JSON parser does not support UTF-16 or UTF-32")
	}
	d := jsonDecoder{L: L, cfg: cfg, data: data, stack: 1}
	v := d.value(d.next())
	if t := d.next(); t.kind != jsonEnd {
		d.refuse("the end", t)
	}
	L.Push(v)
	return 1
}

// peek is the byte n further on; behind the end there are zeros.
func (d *jsonDecoder) peek(n int) byte {
	if i := d.at + n; i < len(d.data) {
		return d.data[i]
	}
	return 0
}

func (d *jsonDecoder) refuse(expected string, t jsonToken) {
	found := t.kind
	if t.kind == jsonError {
		found = t.text
	}
	raise(d.L, "Expected %s but found %s at character %d", expected, found, t.index+1)
}

func (d *jsonDecoder) wrong(text string) jsonToken {
	return jsonToken{kind: jsonError, index: d.at, text: text}
}

// descend goes a level deeper, into something that needs slots on the stack.
func (d *jsonDecoder) descend(slots int) {
	d.depth++
	if d.depth > d.cfg.decodeDepth || d.stack+slots > cStack {
		raise(d.L, "Found too many nested data structures (%d) at character %d", d.depth, d.at)
	}
	stopped(d.L)
}

func (d *jsonDecoder) value(t jsonToken) lua.LValue {
	switch t.kind {
	case jsonString:
		return lua.LString(t.text)
	case jsonNumber:
		return lua.LNumber(t.num)
	case jsonBool:
		return lua.LBool(t.truth)
	case jsonNull:
		return d.cfg.null
	case jsonObjBegin:
		return d.object()
	case jsonArrBegin:
		return d.array()
	}
	d.refuse("value", t)
	return lua.LNil
}

func (d *jsonDecoder) object() lua.LValue {
	d.descend(3)
	table := d.L.NewTable()
	t := d.next()
	for first := true; !first || t.kind != jsonObjEnd; first = false {
		if t.kind != jsonString {
			d.refuse("object key string", t)
		}
		key := t.text
		if t = d.next(); t.kind != jsonColon {
			d.refuse("colon", t)
		}
		d.stack += 2
		table.RawSetString(key, d.value(d.next()))
		d.stack -= 2
		if t = d.next(); t.kind == jsonObjEnd {
			break
		}
		if t.kind != jsonComma {
			d.refuse("comma or object end", t)
		}
		t = d.next()
	}
	d.depth--
	return table
}

func (d *jsonDecoder) array() lua.LValue {
	d.descend(2)
	table := d.L.NewTable()
	t := d.next()
	for i := 1; i > 1 || t.kind != jsonArrEnd; i++ {
		d.stack++
		table.RawSetInt(i, d.value(t))
		d.stack--
		if t = d.next(); t.kind == jsonArrEnd {
			break
		}
		if t.kind != jsonComma {
			d.refuse("comma or array end", t)
		}
		t = d.next()
	}
	d.depth--
	return table
}

func (d *jsonDecoder) next() jsonToken {
	for c := d.peek(0); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = d.peek(0) {
		d.at++
	}
	c := d.peek(0)
	if kind := jsonSign(c); kind != "" {
		d.at++
		return jsonToken{kind: kind, index: d.at - 1}
	}
	switch {
	case c == 0:
		return jsonToken{kind: jsonEnd, index: d.at}
	case c == '"':
		return d.text()
	case c == '-' || isDigit(c):
		if !d.cfg.decodeInvalid && d.invalidNumber() {
			return d.wrong("invalid number")
		}
		return d.number()
	case strings.IndexByte("fiInNt+", c) >= 0:
		return d.word()
	}
	return d.wrong("invalid token")
}

func jsonSign(c byte) string {
	switch c {
	case '{':
		return jsonObjBegin
	case '}':
		return jsonObjEnd
	case '[':
		return jsonArrBegin
	case ']':
		return jsonArrEnd
	case ':':
		return jsonColon
	case ',':
		return jsonComma
	}
	return ""
}

// word reads a token that begins with a letter or +.
func (d *jsonDecoder) word() jsonToken {
	rest, index := d.data[d.at:], d.at
	switch {
	case strings.HasPrefix(rest, "true"):
		d.at += len("true")
		return jsonToken{kind: jsonBool, index: index, truth: true}
	case strings.HasPrefix(rest, "false"):
		d.at += len("false")
		return jsonToken{kind: jsonBool, index: index}
	case strings.HasPrefix(rest, "null"):
		d.at += len("null")
		return jsonToken{kind: jsonNull, index: index}
	case d.cfg.decodeInvalid && d.invalidNumber():
		return d.number()
	}
	return d.wrong("invalid token")
}

// invalidNumber says whether what follows is a number to C, but not to JSON.
func (d *jsonDecoder) invalidNumber() bool {
	if d.peek(0) == '+' {
		return true
	}
	skip := 0
	if d.peek(0) == '-' {
		skip = 1
	}
	c, after := d.peek(skip), d.peek(skip+1)
	if c == '0' {
		return after|0x20 == 'x' || isDigit(after)
	}
	if int8(c) <= '9' { // a char of C is signed
		return false
	}
	rest := d.data[d.at+skip:]
	return hasFold(rest, "inf") || hasFold(rest, "nan")
}

func (d *jsonDecoder) number() jsonToken {
	f, n := scanFloat(d.data[d.at:])
	if n == 0 {
		return d.wrong("invalid number")
	}
	d.at += n
	return jsonToken{kind: jsonNumber, index: d.at - n, num: f}
}

// text reads a string.
func (d *jsonDecoder) text() jsonToken {
	index := d.at
	d.at++
	d.tmp = d.tmp[:0]
	for {
		c := d.peek(0)
		switch c {
		case '"':
			d.at++
			return jsonToken{kind: jsonString, index: index, text: string(d.tmp)}
		case 0:
			return d.wrong("unexpected end of string")
		case '\\':
			if problem := d.escape(); problem != "" {
				return d.wrong(problem)
			}
		default:
			d.tmp = append(d.tmp, c)
			d.at++
		}
	}
}

// escape reads what begins with a backslash, and says what is wrong with it.
func (d *jsonDecoder) escape() string {
	c := d.peek(1)
	switch c {
	case 'u':
		return d.unicode()
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 't':
		c = '\t'
	case 'n':
		c = '\n'
	case 'f':
		c = '\f'
	case 'r':
		c = '\r'
	default:
		return "invalid escape code"
	}
	d.tmp = append(d.tmp, c)
	d.at += 2
	return ""
}

// unicode reads \uXXXX, or two of them that are a surrogate pair.
func (d *jsonDecoder) unicode() string {
	const invalid = "invalid unicode escape code"
	r := d.hex4(2)
	if r < 0 {
		return invalid
	}
	length := 6
	if r&0xF800 == 0xD800 {
		if r&0x400 != 0 || d.peek(6) != '\\' || d.peek(7) != 'u' {
			return invalid
		}
		low := d.hex4(8)
		if low < 0 || low&0xFC00 != 0xDC00 {
			return invalid
		}
		r = (r&0x3FF<<10 | low&0x3FF) + 0x10000
		length = 12
	}
	d.tmp = utf8.AppendRune(d.tmp, r)
	d.at += length
	return ""
}

// hex4 reads the four hexadecimal digits n further on; negative if they aren't.
func (d *jsonDecoder) hex4(n int) rune {
	var r rune
	for i := range 4 {
		c := d.peek(n + i)
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case isHexDigit(c):
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}
