package commands

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBitsModel runs random commands on a few strings, short and long, and
// beside them the same on slices of bytes, bit by bit. Every reply, and in the
// end every string, must be the same. The harness disturbs the keyspace in
// every pause, and replays the effects.
func TestBitsModel(t *testing.T) {
	seed := testSeed(t)
	for _, size := range []int{40, 5000, 150_000} {
		t.Run(fmt.Sprintf("up to %d bytes", size), func(t *testing.T) {
			m := &bitsModel{
				r: rand.New(rand.NewPCG(seed, uint64(size))), h: newHarness(4, seed), size: size, strings: map[string][]byte{},
			}
			m.h.rough = true
			for range max(400, 40_000/size) {
				args := m.line()
				want := m.answer(args)
				require.Equal(t, want, m.do(t, args...), "%.200q", args)
			}
			for key, want := range m.strings {
				require.Equal(t, fmt.Sprintf("$%d\r\n%s\r\n", len(want), want), m.do(t, "GET", key))
			}
			require.NoError(t, m.h.verify())
		})
	}
}

type bitsModel struct {
	r       *rand.Rand
	h       *harness
	size    int
	strings map[string][]byte
}

func (m *bitsModel) do(t *testing.T, args ...string) string {
	raw, err := m.h.Do("main", commandLine(args...))
	require.NoError(t, err, "%.200q", args)
	return string(raw)
}

func commandLine(args ...string) [][]byte {
	line := make([][]byte, len(args))
	for i, a := range args {
		line[i] = []byte(a)
	}
	return line
}

// line makes up a command.
func (m *bitsModel) line() []string {
	key := m.key()
	switch m.r.IntN(12) {
	case 0, 1:
		return []string{"SETBIT", key, m.bit(), m.number(2)}
	case 2:
		return []string{"GETBIT", key, m.bit()}
	case 3:
		return []string{"SETRANGE", key, m.number(m.size), string(m.text())}
	case 4, 5:
		return append([]string{"BITCOUNT", key}, m.span()...)
	case 6, 7:
		return append([]string{"BITPOS", key, m.number(2)}, m.span()...)
	case 8:
		return []string{"BITPOS", key, m.number(2), m.index()}
	case 9:
		if m.r.IntN(3) == 0 {
			return []string{"BITOP", "NOT", key, m.key()}
		}
		return []string{"BITOP", []string{"AND", "OR", "XOR"}[m.r.IntN(3)], key, m.key(), m.key(), m.key()}
	}
	return m.bitfieldLine(key)
}

func (m *bitsModel) key() string         { return "k" + m.number(4) + "{t}" }
func (m *bitsModel) bit() string         { return m.number(8 * m.size) }
func (m *bitsModel) number(n int) string { return strconv.Itoa(m.r.IntN(n)) }
func (m *bitsModel) index() string       { return strconv.Itoa(m.r.IntN(20*m.size) - 10*m.size) }

// text is noise, or a run of equal bytes.
func (m *bitsModel) text() []byte {
	p := make([]byte, m.r.IntN(m.size/2))
	fill := m.r.IntN(3)
	for i := range p {
		p[i] = []byte{0, 0xff, byte(m.r.Uint32())}[fill]
	}
	return p
}

// span is no range, or one in bytes or bits.
func (m *bitsModel) span() []string {
	unit := m.r.IntN(4)
	scale := []int{0, 1, 1, 8}[unit]
	if unit == 0 {
		return nil
	}
	a, b := m.r.IntN(2*m.size*scale)-m.size*scale/2, m.r.IntN(2*m.size*scale)-m.size*scale
	return append([]string{strconv.Itoa(a), strconv.Itoa(b)}, [][]string{nil, {"BYTE"}, {"BIT"}}[unit-1]...)
}

func (m *bitsModel) bitfieldLine(key string) []string {
	args := []string{"BITFIELD", key}
	for range 1 + m.r.IntN(5) {
		if m.r.IntN(2) == 0 {
			args = append(args, "OVERFLOW", []string{"WRAP", "SAT", "FAIL"}[m.r.IntN(3)])
		}
		signed := m.r.IntN(2)
		width := 1 + m.r.IntN(63+signed)
		at := m.bit()
		if m.r.IntN(3) == 0 {
			at = "#" + m.number(8*m.size/width)
		}
		op := []string{"GET", "SET", "INCRBY"}[m.r.IntN(3)]
		args = append(args, op, "ui"[signed:signed+1]+strconv.Itoa(width), at)
		if op != "GET" {
			args = append(args, strconv.FormatInt(int64(m.r.Uint64())>>m.r.IntN(64), 10))
		}
	}
	return args
}

// answer does what the command should do, and returns its reply.
func (m *bitsModel) answer(args []string) string {
	key := args[1]
	s, there := m.strings[key]
	switch args[0] {
	case "SETBIT":
		at := atoi(args[2])
		old := modelBit(s, at)
		m.strings[key] = withBit(s, at, args[3] == "1")
		return integer(old)
	case "GETBIT":
		return integer(modelBit(s, atoi(args[2])))
	case "SETRANGE":
		return m.setrange(key, atoi(args[2]), args[3])
	case "BITCOUNT":
		n := 0
		from, to := modelRange(s, args[2:])
		for i := from; i < to; i++ {
			n += modelBit(s, i)
		}
		return integer(n)
	case "BITPOS":
		return integer(modelBitpos(s, there, args[2:]))
	case "BITOP":
		return m.bitop(args[1], args[2], args[3:])
	}
	return m.bitfield(key, args[2:])
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func integer(n int) string { return ":" + strconv.Itoa(n) + "\r\n" }

func modelBit(s []byte, at int) int {
	if at>>3 >= len(s) {
		return 0
	}
	return int(s[at>>3]>>(7-at&7)) & 1
}

func withBit(s []byte, at int, on bool) []byte {
	if need := at>>3 + 1; need > len(s) {
		s = append(s, make([]byte, need-len(s))...)
	}
	s[at>>3] &^= 0x80 >> (at & 7)
	if on {
		s[at>>3] |= 0x80 >> (at & 7)
	}
	return s
}

func (m *bitsModel) setrange(key string, off int, text string) string {
	s, there := m.strings[key]
	if need := off + len(text); text != "" && need > len(s) {
		s = append(s, make([]byte, need-len(s))...)
	}
	copy(s[min(off, len(s)):], text)
	if there || text != "" {
		m.strings[key] = s
	}
	return integer(len(s))
}

// modelRange returns the bits that a range names.
func modelRange(s []byte, args []string) (from, to int) {
	unit, total := 8, len(s)
	if len(args) == 3 && args[2] == "BIT" {
		unit, total = 1, 8*len(s)
	}
	start, end := 0, total-1
	if len(args) > 0 {
		start = atoi(args[0])
	}
	if len(args) > 1 {
		end = atoi(args[1])
	}
	if start < 0 {
		start = max(0, start+total)
	}
	if end < 0 {
		end = max(0, end+total)
	}
	end = min(end, total-1)
	if end < start {
		return 0, 0
	}
	return start * unit, (end + 1) * unit
}

func modelBitpos(s []byte, there bool, args []string) int {
	want := atoi(args[0])
	if !there {
		return -want
	}
	from, to := modelRange(s, args[1:])
	for i := from; i < to; i++ {
		if modelBit(s, i) == want {
			return i
		}
	}
	if want == 0 && len(args) < 3 && to > 0 {
		return to
	}
	return -1
}

func (m *bitsModel) bitop(op, dest string, keys []string) string {
	longest := 0
	for _, k := range keys {
		longest = max(longest, len(m.strings[k]))
	}
	at := func(k string, i int) byte {
		if s := m.strings[k]; i < len(s) {
			return s[i]
		}
		return 0
	}
	out := make([]byte, longest)
	for i := range out {
		out[i] = at(keys[0], i)
		for _, k := range keys[1:] {
			switch op {
			case "AND":
				out[i] &= at(k, i)
			case "OR":
				out[i] |= at(k, i)
			case "XOR":
				out[i] ^= at(k, i)
			}
		}
		if op == "NOT" {
			out[i] = ^out[i]
		}
	}
	if delete(m.strings, dest); longest > 0 {
		m.strings[dest] = out
	}
	return integer(longest)
}

// bitfield works on big integers, which nothing overflows.
func (m *bitsModel) bitfield(key string, args []string) string {
	var replies []string
	s, how := m.strings[key], "WRAP"
	s = withRoom(s, args)
	for len(args) > 0 {
		if args[0] == "OVERFLOW" {
			how, args = args[1], args[2:]
			continue
		}
		f := parseModelField(args[1], args[2])
		old := f.get(s)
		if args[0] == "GET" {
			replies, args = append(replies, ":"+old.String()), args[3:]
			continue
		}
		value, ok := new(big.Int).SetString(args[3], 10)
		if !ok {
			panic(args[3])
		}
		reply := old
		if args[0] == "INCRBY" {
			value.Add(value, old)
			reply = value
		}
		if f.fit(value, how, args[0] == "SET") {
			f.set(s, value)
			replies = append(replies, ":"+reply.String())
		} else {
			replies = append(replies, "$-1")
		}
		args = args[4:]
	}
	if s != nil {
		m.strings[key] = s
	}
	return strings.Join(append([]string{"*" + strconv.Itoa(len(replies))}, append(replies, "")...), "\r\n")
}

// withRoom makes s long enough for all that is written.
func withRoom(s []byte, args []string) []byte {
	for i, word := range args {
		if word == "SET" || word == "INCRBY" {
			f := parseModelField(args[i+1], args[i+2])
			if need := (f.at+f.width-1)/8 + 1; need > len(s) {
				s = append(s, make([]byte, need-len(s))...)
			}
		}
	}
	return s
}

type modelField struct {
	at, width int
	signed    bool
}

func parseModelField(typ, at string) modelField {
	f := modelField{width: atoi(typ[1:]), signed: typ[0] == 'i'}
	if at[0] == '#' {
		f.at = f.width * atoi(at[1:])
	} else {
		f.at = atoi(at)
	}
	return f
}

func (f modelField) get(s []byte) *big.Int {
	v := new(big.Int)
	for i := range f.width {
		v.Lsh(v, 1)
		v.Or(v, big.NewInt(int64(modelBit(s, f.at+i))))
	}
	if f.signed && v.Bit(f.width-1) == 1 {
		v.Sub(v, f.count())
	}
	return v
}

func (f modelField) set(s []byte, v *big.Int) {
	for i := range f.width {
		withBit(s, f.at+i, v.Bit(f.width-1-i) == 1)
	}
}

// count is the number of values that the field has.
func (f modelField) count() *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(f.width)) }

// fit makes the value fit, and says whether it may be written. An unsigned SET
// takes a negative number for a very big one.
func (f modelField) fit(v *big.Int, how string, set bool) bool {
	low, high := new(big.Int), f.count()
	if f.signed {
		low.Rsh(f.count(), 1)
		high.Sub(high, low)
		low.Neg(low)
	} else if set && v.Sign() < 0 {
		v.Add(v, new(big.Int).Lsh(big.NewInt(1), 64))
	}
	high.Sub(high, big.NewInt(1))
	switch {
	case v.Cmp(low) >= 0 && v.Cmp(high) <= 0:
		return true
	case how == "FAIL":
		return false
	case how == "WRAP":
		v.Sub(v, low)
		v.Mod(v, f.count())
		v.Add(v, low)
	case v.Cmp(low) < 0:
		v.Set(low)
	default:
		v.Set(high)
	}
	return true
}

// TestModelOfBitsFindsFaults shows the model a reply that is wrong by one.
func TestModelOfBitsFindsFaults(t *testing.T) {
	m := &bitsModel{strings: map[string][]byte{"k": bytes.Repeat([]byte{0xaa}, 100)}}
	require.Equal(t, ":399\r\n", m.answer([]string{"BITCOUNT", "k", "2", "-1", "BIT"}))
	require.Equal(t, "*2\r\n:-86\r\n:127\r\n", m.answer([]string{"BITFIELD", "k", "GET", "i8", "#1", "OVERFLOW", "SAT", "INCRBY", "i8", "#1", "300"}))
}
