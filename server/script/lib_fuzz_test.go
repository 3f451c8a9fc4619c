package script

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// FuzzLibraries feeds bytes to all that parses: it may throw, but not
// panic, and what comes out must come through the other way again.
func FuzzLibraries(f *testing.F) {
	for _, seed := range []string{
		"", "[1,2,{\"a\":null}]", "\x93\x01\xa1a\xc0", "\xdf\xff\xff\xff\xff\x01", "\xdd\xff\xff\xff\xff", "bBhH>i16!8d", "c0s", "\"\\ud83d\\ude00\"",
		"-0x1p", "nan(", strings.Repeat("[", 3000), strings.Repeat("\x91", 5000), "!0i33c99999999999",
	} {
		f.Add(seed, "\x05abcdefgh\x00ijkl")
	}
	st := NewState()
	body := `local a, b = ...
for _, f in ipairs({cjson.decode, cmsgpack.unpack, struct.size}) do pcall(f, a) end
pcall(struct.unpack, a, b)
pcall(struct.pack, a, 1, b, 2.5, b)
for _, f in ipairs({bit.tobit, bit.tohex}) do pcall(f, a, b) end
local ok, v = pcall(cmsgpack.unpack_one, a)
if ok then pcall(cjson.encode, v) cmsgpack.unpack(cmsgpack.pack(v)) end
ok, v = pcall(cjson.decode, a)
if ok then local text = cjson.encode(v) assert(cjson.encode(cjson.decode(text)) == text, text) end`
	chunk, err := Compile("fuzz", body)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.Contains(a, "nf") || strings.Contains(a, "an") || strings.Contains(a, "e") || strings.Contains(a, "E") {
			return // numbers that can't be encoded, or not without loss
		}
		_, failure := st.Invoke(&Run{}, st.instance(chunk), lua.LString(a), lua.LString(b))
		if failure != nil && !strings.Contains(failure.Text, "Cannot serialise") {
			require.Nil(t, failure)
		}
	})
}

// A header that promises much makes nothing grow.
func TestHeadersAllocateNothing(t *testing.T) {
	st := NewState()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, body := range []string{
		`return pcall(cmsgpack.unpack, "\221\255\255\255\255\1\2\3")`,
		`return pcall(cmsgpack.unpack, "\223\255\255\255\255\1\2\3")`,
		`return pcall(cmsgpack.unpack, "\219\255\255\255\255abc")`,
		`return false, cmsgpack.unpack("\129\206\3\255\255\254\1")`, // the key 67,108,862
		`return pcall(struct.unpack, "c2147483647", "abc")`,
		`return pcall(struct.pack, "c2147483647", "abc")`,
	} {
		require.Contains(t, runHere(t, st, body), "false", body)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}

// A table that holds another many times over is refused before it fills the memory.
func TestEncodedTextIsBounded(t *testing.T) {
	st := NewState()
	cfg := jsonConfig{null: st.L.NewUserData(), encodeDepth: 1000, maxEncoded: 1 << 20}
	st.Globals().RawSetString("cjson", cfg.table(st.L))
	got := runHere(t, st, `local t = {("x"):rep(1000)} for i = 1, 40 do t = {t, t} end return cjson.encode(t)`)
	require.Equal(t, "false|'not enough memory'", got)
}
