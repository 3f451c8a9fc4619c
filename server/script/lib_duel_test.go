package script

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"firn/commands/transcript"

	"github.com/gomodule/redigo/redis"
	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// shown wraps a Lua body so that what it returns, or its error, comes back as
// one string that tells types, bits and order apart.
const shown = `local show
show = function(v)
  local t = type(v)
  if t == 'number' then
    if v ~= v then return 'nan' end
    if v == 1/0 then return 'inf' elseif v == -1/0 then return '-inf' end
    return string.format('%%.17g', v)
  elseif t == 'string' then return "'" .. v .. "'"
  elseif t == 'table' then
    local keys = {}
    for k, x in pairs(v) do keys[#keys + 1] = show(k) .. '=' .. show(x) end
    table.sort(keys)
    return '{' .. table.concat(keys, ',') .. '}'
  elseif t == 'boolean' or t == 'nil' then return tostring(v)
  end
  return t
end
local all = function(...)
  local out = {}
  for i = 1, math.min(select('#', ...), 300) do out[i] = show((select(i, ...))) end
  return table.concat(out, '|')
end
return all(pcall(function()
%s
end))`

// runHere runs a body in a state of ours.
func runHere(t testing.TB, st *State, body string) string {
	chunk, err := Compile("user_script", fmt.Sprintf(shown, body))
	require.NoError(t, err, body)
	v, failure := st.Invoke(&Run{}, st.instance(chunk))
	require.Nil(t, failure, body)
	return string(v.(lua.LString))
}

// startRedis runs the reference, or skips the test.
func startRedis(t *testing.T) redis.Conn {
	program := os.Getenv("REDIS_SERVER")
	if program == "" {
		program = "redis-server"
	}
	version, err := exec.Command(program, "--version").Output()
	if err != nil || !strings.Contains(string(version), "v=7.0.15") {
		t.Skipf("no reference to compare with: %s, %v", version, err)
	}
	addr, err := transcript.FreeAddr()
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	cmd := exec.Command(program, "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "Ready to accept") {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	c, err := redis.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func runThere(t *testing.T, c redis.Conn, body string) string {
	reply, err := redis.String(c.Do("EVAL", fmt.Sprintf(shown, body), 0))
	require.NoError(t, err, body)
	return reply
}

// bodies returns the lines of the corpus.
func bodies(t *testing.T) (found []string) {
	text, err := os.ReadFile("testdata/libraries.lua.txt")
	require.NoError(t, err)
	for body := range strings.Lines(string(text)) {
		if body = strings.TrimSpace(body); body != "" && !strings.HasPrefix(body, "#") {
			found = append(found, body)
		}
	}
	return found
}

const recorded = "testdata/libraries.want.txt"

// The libraries answer what those of the reference do. With RECORD set the
// answers become the recorded ones.
func TestLibrariesAnswerAsTheReference(t *testing.T) {
	c := startRedis(t)
	st := NewState()
	var record strings.Builder
	for _, body := range bodies(t) {
		want := runThere(t, c, body)
		fmt.Fprintf(&record, "%q\n", want)
		if got := runHere(t, st, body); want != got {
			t.Errorf("%s\nwant %q\ngot  %q", body, want, got)
		}
	}
	if os.Getenv("RECORD") != "" {
		require.NoError(t, os.WriteFile(recorded, []byte(record.String()), 0o644))
	}
}

// The same where there is no reference: against what it has said before.
func TestLibrariesAnswerAsRecorded(t *testing.T) {
	text, err := os.ReadFile(recorded)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	found := bodies(t)
	require.Len(t, lines, len(found))
	st := NewState()
	for i, body := range found {
		want, err := strconv.Unquote(lines[i])
		require.NoError(t, err)
		require.Equal(t, want, runHere(t, st, body), body)
	}
}

// Random values come through the libraries as through those of the reference.
func TestRandomValuesAsTheReference(t *testing.T) {
	c := startRedis(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := libGenerator{rand.New(rand.NewPCG(seed, 1))}
	st := NewState()
	for range 3000 {
		body := g.body()
		require.Equal(t, runThere(t, c, body), runHere(t, st, body), "seed %d: %s", seed, body)
	}
}

// A libGenerator makes Lua bodies that call the libraries.
type libGenerator struct{ *rand.Rand }

func (g libGenerator) body() string {
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("return cjson.encode(%s)", g.value(3))
	case 1:
		return fmt.Sprintf("return cjson.decode(%s)", quoted(g.json(4)))
	case 2:
		return fmt.Sprintf("return cmsgpack.pack(%s, %s)", g.value(3), g.value(2))
	case 3:
		return fmt.Sprintf("return cmsgpack.unpack(%s)", quoted(g.bytes(12)))
	case 4:
		return fmt.Sprintf("return struct.pack(%s, %s, %s, %s)", quoted(g.format()), g.scalar(), g.scalar(), g.scalar())
	case 5:
		return fmt.Sprintf("return struct.unpack(%s, %s, %d)", quoted(g.format()), quoted(g.bytes(40)), g.IntN(4))
	case 6:
		return fmt.Sprintf("return cmsgpack.unpack_limit(%s, %d, %d)", quoted(g.bytes(12)), g.IntN(4)-1, g.IntN(4)-1)
	}
	op := g.pick("tobit", "bnot", "band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror", "bswap")
	return fmt.Sprintf("return bit.%s(%s, %s)", op, g.number(), g.number())
}

func (g libGenerator) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g libGenerator) number() string {
	switch g.IntN(5) {
	case 0:
		return fmt.Sprint(g.IntN(400) - 200)
	case 1:
		return fmt.Sprintf("%d", int64(g.Uint64())>>g.IntN(60))
	case 2:
		return fmt.Sprintf("%.17g", g.NormFloat64()*1e3)
	case 3:
		return fmt.Sprintf("%.15fe%d", g.Float64(), g.IntN(600)-300)
	}
	return g.pick("0", "-0", "1", "255", "65536", "2^31", "-2^31", "2^32", "2^52", "2^53", "2^63", "-2^63", "2^64", "1/0", "-1/0", "0.5", "1.5")
}

func (g libGenerator) scalar() string {
	return g.pick(g.number(), g.number(), quoted(g.bytes(9)), quoted(g.number()), "true", "nil", "cjson.null")
}

// value is a Lua expression. Tables have one key, or are arrays: the order of
// others is not the same.
func (g libGenerator) value(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return g.scalar()
	}
	if g.IntN(2) == 0 {
		return fmt.Sprintf("{[%s]=%s}", g.pick(quoted(g.bytes(4)), "1", "2", "9", "-3", "1.25"), g.value(depth-1))
	}
	parts := make([]string, g.IntN(4))
	for i := range parts {
		if parts[i] = g.value(depth - 1); parts[i] == "nil" {
			parts[i] = "7"
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// json is a text that often is JSON.
func (g libGenerator) json(depth int) string {
	if g.IntN(40) == 0 {
		return g.bytes(3)
	}
	if depth == 0 || g.IntN(3) == 0 {
		return g.pick(g.number(), "true", "null", `"a\u00e9b"`, `"\n"`, "-1.5e3", "0", "1e-7", " 5 ", "nan", "0x1F", `""`)
	}
	parts := make([]string, g.IntN(3))
	if g.IntN(2) == 0 {
		for i := range parts {
			parts[i] = fmt.Sprintf("%q:%s", g.pick("a", "b", "c", "\t"), g.json(depth-1))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	for i := range parts {
		parts[i] = g.json(depth - 1)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (g libGenerator) bytes(most int) string {
	b := make([]byte, g.IntN(most+1))
	for i := range b {
		b[i] = byte(g.Uint32())
		if g.IntN(4) == 0 {
			b[i] &= 0x0f
		}
	}
	return string(b)
}

func (g libGenerator) format() string {
	var s strings.Builder
	for range g.IntN(6) {
		s.WriteString(g.pick("b", "B", "h", "H", "l", "L", "T", "i", "I", "f", "d", "x", "s", "c", "c0", "c3", "i3", "I5", "i7", "i16", "<", ">", "!", "!2", "!4", " ", "!16"))
	}
	return s.String()
}

// quoted is a Lua literal for s.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		fmt.Fprintf(&b, "\\%03d", s[i])
	}
	b.WriteByte('"')
	return b.String()
}
