package commands

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

// A modelSpace is the keyspace as a map, with the rows of modelRows as short as
// they can be said. Replies are in the transcripts' form.
type modelSpace struct {
	now  int64
	keys map[string]modelEntry
}

type modelEntry struct {
	text   string
	expire int64 // unix ms, 0: never
	modelValue
}

func (m *modelSpace) get(key string) (modelEntry, bool) {
	v, ok := m.keys[key]
	if ok && v.expire != 0 && v.expire <= m.now {
		delete(m.keys, key)
		return modelEntry{}, false
	}
	return v, ok
}

func (m *modelSpace) set(key, text string, expire int64) {
	m.keys[key] = modelEntry{text: text, expire: expire}
}

// edit changes the text and keeps the expiry.
func (m *modelSpace) edit(key, text string) { m.set(key, text, m.keys[key].expire) }

func modelInt(n int) string { return "(integer) " + strconv.Itoa(n) }

func modelBool(b bool) string {
	if b {
		return modelInt(1)
	}
	return modelInt(0)
}

func modelBulk(v modelEntry, ok bool) string {
	if !ok {
		return "(nil)"
	}
	return transcript.Quote(v.text)
}

func modelList(elems []string) string {
	for i, e := range elems {
		elems[i] = fmt.Sprintf("%*d) %s", len(strconv.Itoa(len(elems))), i+1, e)
	}
	if len(elems) == 0 {
		return "(empty array)"
	}
	return strings.Join(elems, "\n")
}

// A modelRow says what a command line replies and does. Its shape lists how
// random arguments are made: k a key, v a text, n a small number.
type modelRow struct {
	shape string
	run   func(m *modelSpace, a []string) string
}

// modelRows are the command lines that the model knows, beginning with fixed
// words in upper case.
var modelRows = []modelRow{
	{"GET k", func(m *modelSpace, a []string) string { return modelBulk(m.get(a[1])) }},
	{"STRLEN k", func(m *modelSpace, a []string) string {
		v, _ := m.get(a[1])
		return modelInt(len(v.text))
	}},
	{"SET k v", func(m *modelSpace, a []string) string { m.set(a[1], a[2], 0); return "OK" }},
	{"SET k n", func(m *modelSpace, a []string) string { m.set(a[1], a[2], 0); return "OK" }},
	{"SET k v KEEPTTL", func(m *modelSpace, a []string) string {
		v, _ := m.get(a[1])
		m.set(a[1], a[2], v.expire)
		return "OK"
	}},
	{"SET k v NX", func(m *modelSpace, a []string) string {
		if _, ok := m.get(a[1]); ok {
			return "(nil)"
		}
		m.set(a[1], a[2], 0)
		return "OK"
	}},
	{"SET k v XX GET", func(m *modelSpace, a []string) string {
		v, ok := m.get(a[1])
		if ok {
			m.set(a[1], a[2], 0)
		}
		return modelBulk(v, ok)
	}},
	{"SET k v PX n", func(m *modelSpace, a []string) string {
		m.set(a[1], a[2], m.now+modelNumber(a[4]))
		return "OK"
	}},
	{"SETEX k n v", func(m *modelSpace, a []string) string {
		m.set(a[1], a[3], m.now+1000*modelNumber(a[2]))
		return "OK"
	}},
	{"GETDEL k", func(m *modelSpace, a []string) string {
		v, ok := m.get(a[1])
		delete(m.keys, a[1])
		return modelBulk(v, ok)
	}},
	{"GETEX k PERSIST", func(m *modelSpace, a []string) string {
		v, ok := m.get(a[1])
		if ok {
			m.set(a[1], v.text, 0)
		}
		return modelBulk(v, ok)
	}},
	{"APPEND k v", func(m *modelSpace, a []string) string {
		v, _ := m.get(a[1])
		m.edit(a[1], v.text+a[2])
		return modelInt(len(v.text) + len(a[2]))
	}},
	{"SETRANGE k n v", func(m *modelSpace, a []string) string {
		v, ok := m.get(a[1])
		at := int(modelNumber(a[2]))
		if len(a[3]) == 0 {
			return modelInt(len(v.text))
		}
		text := v.text + strings.Repeat("\x00", max(0, at+len(a[3])-len(v.text)))
		text = text[:at] + a[3] + text[at+len(a[3]):]
		if !ok {
			delete(m.keys, a[1])
		}
		m.edit(a[1], text)
		return modelInt(len(text))
	}},
	{"GETRANGE k n n", func(m *modelSpace, a []string) string {
		v, _ := m.get(a[1])
		from, to := int(modelNumber(a[2])), int(modelNumber(a[3]))+1
		to = min(to, len(v.text))
		return transcript.Quote(v.text[min(from, max(to, 0)):max(to, 0)])
	}},
	{"INCRBY k n", func(m *modelSpace, a []string) string {
		v, ok := m.get(a[1])
		if !ok {
			v.text = "0"
		}
		n, err := strconv.ParseInt(v.text, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != v.text {
			return "(error) " + string(ErrNotInteger)
		}
		m.edit(a[1], strconv.FormatInt(n+modelNumber(a[2]), 10))
		return "(integer) " + m.keys[a[1]].text
	}},
	{"MSET k v k v", func(m *modelSpace, a []string) string {
		m.set(a[1], a[2], 0)
		m.set(a[3], a[4], 0)
		return "OK"
	}},
	{"MSETNX k v k v", func(m *modelSpace, a []string) string {
		_, one := m.get(a[1])
		_, two := m.get(a[3])
		if one || two {
			return modelInt(0)
		}
		m.set(a[1], a[2], 0)
		m.set(a[3], a[4], 0)
		return modelInt(1)
	}},
	{"MGET k k k", func(m *modelSpace, a []string) string {
		var all []string
		for _, k := range a[1:] {
			v, ok := m.get(k)
			all = append(all, modelBulk(v, ok && v.typ == ""))
		}
		return modelList(all)
	}},
	{"DEL k k", func(m *modelSpace, a []string) string {
		n := 0
		for _, k := range a[1:] {
			if _, ok := m.get(k); ok {
				n++
				delete(m.keys, k)
			}
		}
		return modelInt(n)
	}},
	{"EXISTS k k", func(m *modelSpace, a []string) string {
		n := 0
		for _, k := range a[1:] {
			if _, ok := m.get(k); ok {
				n++
			}
		}
		return modelInt(n)
	}},
	{"PEXPIRE k n", func(m *modelSpace, a []string) string {
		v, ok := m.get(a[1])
		if ok {
			v.expire = m.now + modelNumber(a[2])
			m.keys[a[1]] = v
		}
		return modelBool(ok)
	}},
	{"PERSIST k", func(m *modelSpace, a []string) string {
		v, ok := m.get(a[1])
		if !ok || v.expire == 0 {
			return modelInt(0)
		}
		v.expire = 0
		m.keys[a[1]] = v
		return modelInt(1)
	}},
	{"PTTL k", func(m *modelSpace, a []string) string {
		v, ok := m.get(a[1])
		switch {
		case !ok:
			return modelInt(-2)
		case v.expire == 0:
			return modelInt(-1)
		}
		return modelInt(int(v.expire - m.now))
	}},
	{"RENAME k k", func(m *modelSpace, a []string) string {
		v, ok := m.get(a[1])
		if !ok {
			return "(error) " + string(ErrNoKey)
		}
		delete(m.keys, a[1])
		m.keys[a[2]] = v
		return "OK"
	}},
	{"RENAMENX k k", func(m *modelSpace, a []string) string {
		v, ok := m.get(a[1])
		if !ok {
			return "(error) " + string(ErrNoKey)
		}
		if _, there := m.get(a[2]); there {
			return modelInt(0)
		}
		delete(m.keys, a[1])
		m.keys[a[2]] = v
		return modelInt(1)
	}},
	{"KEYS *", func(m *modelSpace, _ []string) string {
		var all []string
		for k := range m.keys {
			if _, ok := m.get(k); ok {
				all = append(all, transcript.Quote(k))
			}
		}
		slices.Sort(all)
		return modelList(all)
	}},
}

func modelNumber(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// TestModel runs random command lines on the rows and on the model, whose
// replies and contents must be the same. FIRN_SEED repeats a run.
func TestModel(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 4))
	for range 4 {
		h := newHarness(4, r.Uint64())
		h.rough = true
		m := &modelSpace{now: h.now, keys: map[string]modelEntry{}}
		for range 3000 {
			modelStep(t, r, h, m)
		}
		for key := range m.keys { // all there is
			for _, row := range modelShows {
				modelCompare(t, h, m, &row, append([]string{strings.Fields(row.shape)[0], key}, strings.Fields(row.shape)[2:]...))
			}
		}
		require.NoError(t, h.verify())
	}
}

func modelStep(t *testing.T, r *rand.Rand, h *harness, m *modelSpace) {
	if r.IntN(20) == 0 {
		d := time.Duration(1+r.IntN(60)) * time.Millisecond
		require.NoError(t, h.Advance(d))
		m.now = h.now
	}
	rows := modelRows
	if r.IntN(3) > 0 {
		rows = modelValueRows
	}
	row := rows[r.IntN(len(rows))]
	line := modelLine(r, row.shape)
	modelCompare(t, h, m, &row, line)
}

func modelCompare(t *testing.T, h *harness, m *modelSpace, row *modelRow, line []string) {
	t.Helper()
	if h.table.Lookup([]byte(line[0])) == nil {
		t.Fatalf("the model knows %s, the table doesn't", line[0])
	}
	args := make([][]byte, len(line))
	for i, w := range line {
		args[i] = []byte(w)
	}
	raw, err := wellFormed(h, args)
	require.NoError(t, err)
	v, err := transcript.ReadAll(raw)
	require.NoError(t, err)
	want := &transcript.Step{Args: args, Want: m.run(row, line)}
	if modelFree[line[0]] {
		want.Modifier = transcript.Unordered
	}
	require.NoError(t, want.Compare(v))
}

func modelLine(r *rand.Rand, shape string) []string {
	line := strings.Fields(shape)
	for i, w := range line {
		switch w {
		case "k":
			line[i] = modelKey(r, line[0])
		case "f":
			line[i] = "field:" + strconv.Itoa(r.IntN([]int{4, 100}[r.IntN(2)]))
		case "n":
			line[i] = strconv.Itoa(1 + r.IntN(100))
		case "v":
			line[i] = strings.Repeat(string(rune('a'+r.IntN(26))), []int{0, 1, 30, 44, 45, 500, 5000, 70_000}[r.IntN(8)])
		}
	}
	return line
}
