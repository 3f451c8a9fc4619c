package integration

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A form is how a command is called, from the reference that COMMAND DOCS
// answers by.
type form struct {
	Name      string   `json:"name"`
	Group     string   `json:"group"`
	Flags     []string `json:"flags"`
	Tips      []string `json:"tips"`
	Arguments []part   `json:"arguments"`
}

// A part is a node of the tree of arguments.
type part struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Token     *string  `json:"token"`
	Flags     []string `json:"flags"`
	Arguments []part   `json:"arguments"`
}

func (p *part) is(flag string) bool { return slices.Contains(p.Flags, flag) }

// readForms returns the forms of the commands that the server has, that read or
// write keys, and whose replies chance, time or another client don't decide.
func readForms(t *testing.T, addr string) []form {
	text, err := os.ReadFile("../commands/reference.json")
	require.NoError(t, err)
	var all []form
	require.NoError(t, json.Unmarshal(text, &all))
	w, err := openWire(addr, 0)
	require.NoError(t, err)
	defer w.Close()
	list, err := w.do("COMMAND", "LIST")
	require.NoError(t, err)
	forms := slices.DeleteFunc(all, func(f form) bool { return !f.fits(list) })
	require.Greater(t, len(forms), 40)
	return forms
}

// undecided are commands that may answer otherwise another time.
var undecided = []string{
	"randomkey", "spop", "srandmember", "hrandfield", "zrandmember", // chance
	"object|idletime", "object|freq", "memory|usage", // time, place
	"migrate", "restore", "restore-asking", "dump", "pfdebug", "pfselftest",
}

// unblocked are commands that wait only if they are told to, which the generator
// never does.
var unblocked = []string{"xread", "xreadgroup"}

func (f *form) fits(list string) bool {
	touches := slices.Contains(f.Flags, "write") || slices.Contains(f.Flags, "readonly")
	container, _, _ := strings.Cut(f.Name, "|")
	blocks := slices.Contains(f.Flags, "blocking") && !slices.Contains(unblocked, f.Name)
	return touches && !blocks && !slices.Contains(undecided, f.Name) &&
		strings.Contains(list, strconv.Quote(container)) && (container == f.Name || strings.Contains(list, strconv.Quote(f.Name)))
}

// A generator makes command lines of all forms on few keys.
type generator struct {
	*rand.Rand
	forms []form
	many  int    // how often a part that may be repeated is
	group string // of the command that is being made
	noLex bool   // no ranges by text, which Redis leaves undefined where scores differ

	noDistances bool // none stored: their last digit is that of the C library's sine
}

// sequence returns n commands, and then some that show everything there is.
func (g *generator) sequence(n int) (commands [][]string) {
	for len(commands) < n {
		commands = append(commands, g.command())
	}
	for db := range 3 {
		commands = append(commands, []string{"SELECT", strconv.Itoa(db)}, []string{"DBSIZE"}, []string{"KEYS", "*"})
		for i := range fewKeys {
			key := fmt.Sprint("k", i)
			commands = append(commands, []string{"TYPE", key}, []string{"OBJECT", "ENCODING", key}, []string{"PEXPIRETIME", key}, []string{"DEBUG", "DIGEST-VALUE", key})
		}
	}
	return append(commands, []string{"DEBUG", "DIGEST"})
}

// fewKeys are the keys that most commands are about.
const fewKeys = 14

func (g *generator) command() []string {
	switch g.IntN(25) {
	case 0:
		return []string{"SELECT", strconv.Itoa(g.IntN(3))}
	case 1:
		return []string{"ECHO", g.word()}
	}
	f := &g.forms[g.IntN(len(g.forms))]
	if strings.HasPrefix(f.Name, "flush") && g.IntN(4) > 0 {
		return []string{"DBSIZE"}
	}
	line := strings.Split(strings.ToUpper(f.Name), "|")
	g.group, g.many = f.Group, 1+g.IntN(4)
	if g.IntN(12) == 0 {
		g.many = 150 + g.IntN(200) // so that it goes aside
	}
	for i := range f.Arguments {
		line = g.part(line, &f.Arguments[i])
	}
	if strings.HasSuffix(f.Name, "scan") { // a page of everything, whose cursor is no matter of chance
		line = append(line, "COUNT", "1000000")
	}
	if g.isUndefined(line) {
		return []string{"PING"}
	}
	if g.IntN(40) == 0 {
		line = line[:len(line)-1+g.IntN(2)]
	}
	if len(line) == 0 {
		return []string{"PING"}
	}
	return line
}

// part appends what the node stands for.
func (g *generator) part(line []string, p *part) []string {
	if p.is("optional") && g.IntN(5) < 3 || p.Token != nil && g.leaves(*p.Token) {
		return line
	}
	times := 1
	if p.is("multiple") {
		times = g.many
	}
	for i := range times {
		if p.Token != nil && *p.Token != "" && (i == 0 || p.is("multiple_token")) {
			line = append(line, *p.Token)
		}
		if p.Name == "auto_id" { // of the clock
			line[len(line)-1] = g.id()
		}
		switch p.Type {
		case "pure-token":
		case "oneof":
			line = g.part(line, &p.Arguments[g.IntN(len(p.Arguments))])
		case "block":
			for j := range p.Arguments {
				line = g.part(line, &p.Arguments[j])
			}
		default:
			line = append(line, g.value(p, times))
		}
	}
	return line
}

func (g *generator) leaves(token string) bool {
	return token == "BLOCK" || token == "STOREDIST" && g.noDistances
}

func (g *generator) value(p *part, times int) string {
	switch p.Type {
	case "key":
		if times > 4 {
			return fmt.Sprint("many", g.IntN(400))
		}
		return g.key()
	case "pattern":
		return []string{"*", "k?", "many1*", "k1", "[k-m]*", "", "nothing*"}[g.IntN(7)]
	case "unix-time":
		return g.instant(p.Name)
	case "double":
		return g.double(p.Name)
	case "integer":
		return g.integer(p.Name)
	}
	switch p.Name {
	case "encoding":
		return []string{"u8", "i16", "u1", "i64", "u63", "i5", "u64"}[g.IntN(7)]
	case "type":
		return []string{"string", "list", "zset", "none"}[g.IntN(4)]
	case "operation":
		return []string{"AND", "OR", "XOR", "NOT", "NAND"}[g.IntN(5)]
	}
	return g.text(p.Name)
}

func (g *generator) word() string {
	switch g.IntN(8) {
	case 0:
		return ""
	case 1:
		return strings.Repeat(string(rune('a'+g.IntN(26))), g.IntN(6000))
	case 2:
		return strings.Repeat("long ", 1000+g.IntN(20_000)) // an object of its own
	case 3:
		return fmt.Sprintf("%.3f", g.NormFloat64()*100)
	case 4:
		return "a\r\n\x00\xffz"
	}
	return strconv.Itoa(g.IntN(3000) - 500)
}

// instant is a time so far away that the test is over by then, or not after
// 1970: SET refuses that, and all others delete the key at once. (What SET gives
// a time that has just passed counts for DBSIZE until a duty comes by.)
func (g *generator) instant(name string) string {
	if g.IntN(8) == 0 {
		return strconv.Itoa(-g.IntN(3))
	}
	far := 4_000_000_000 + g.IntN(1_000_000)*1000
	if strings.Contains(name, "milli") {
		far *= 1000
	}
	return strconv.Itoa(far)
}

func (g *generator) integer(name string) string {
	switch name {
	case "weight": // none of which makes -0, that Redis keeps in large sorted sets only
		return []string{"1", "2", "7", "x"}[g.IntN(4)]
	case "seconds", "milliseconds", "time": // far apart, so that GT and LT don't depend on the speed
		if g.IntN(8) == 0 {
			return strconv.Itoa(g.IntN(5) - 4)
		}
		return strconv.Itoa(10_000_000 + g.IntN(1_000_000)*10_000)
	case "min-idle-time":
		return "0"
	case "offset", "increment", "start", "end", "stop":
		return strconv.Itoa([]int{g.IntN(20) - 5, g.IntN(2000), g.IntN(100_000)}[g.IntN(3)])
	case "bit":
		return strconv.Itoa(g.IntN(2))
	case "destination-db", "index1", "index2", "db":
		return strconv.Itoa(g.IntN(3))
	case "cursor":
		return "0"
	case "numkeys", "numfields":
		return strconv.Itoa(g.many)
	case "len", "limit":
		return strconv.Itoa(g.IntN(30))
	}
	return []string{"0", "1", "-1", "7", "250", "-9000", strconv.Itoa(math.MaxInt64), "x"}[g.IntN(8)]
}
