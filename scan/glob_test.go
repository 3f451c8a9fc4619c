package scan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowMatch is the reference: Redis' grammar matched byte by byte, by recursion at every star, with nothing prepared.
func slowMatch(p, s []byte, fold bool) bool {
	for len(p) > 0 && len(s) > 0 {
		if p[0] == '*' {
			if rest := bytes.TrimLeft(p, "*"); len(rest) > 0 {
				return slowMatch(rest, s, fold) || slowMatch(p, s[1:], fold)
			}
			return true
		}
		used, ok := slowElement(p, s[0], fold)
		if !ok {
			return false
		}
		p, s = p[used:], s[1:]
		if len(s) == 0 {
			p = bytes.TrimLeft(p, "*")
		}
	}
	return len(p) == 0 && len(s) == 0
}

// slowElement matches one byte with the element at the front of p and tells how long the element is.
func slowElement(p []byte, b byte, fold bool) (used int, ok bool) {
	same := func(x, y byte) bool { return x == y || fold && lowerC(int8(x)) == lowerC(int8(y)) }
	switch {
	case p[0] == '?':
		return 1, true
	case p[0] == '[':
		return slowClass(p, b, fold, same)
	case p[0] == '\\' && len(p) > 1:
		return 2, same(p[1], b)
	}
	return 1, same(p[0], b)
}

func slowClass(p []byte, b byte, fold bool, same func(x, y byte) bool) (used int, ok bool) {
	i, not, hit := 1, false, false
	if i < len(p) && p[i] == '^' {
		i, not = 2, true
	}
	for ; i < len(p) && p[i] != ']'; i++ {
		switch {
		case p[i] == '\\' && i+1 < len(p):
			i++
			hit = hit || p[i] == b
		case i+2 < len(p) && p[i+1] == '-':
			hit = hit || slowRange(int8(p[i]), int8(p[i+2]), int8(b), fold)
			i += 2
		default:
			hit = hit || same(p[i], b)
		}
	}
	return min(i+1, len(p)), hit != not
}

func slowRange(from, to, b int8, fold bool) bool {
	lo, hi := min(from, to), max(from, to)
	if fold {
		return lowerC(lo) <= lowerC(b) && lowerC(b) <= lowerC(hi)
	}
	return lo <= b && b <= hi
}

func TestGlobAnswersLikeRedis(t *testing.T) {
	f := func(pattern, s string, want bool) {
		t.Helper()
		require.Equal(t, want, Compile([]byte(pattern)).MatchString(s), "%q on %q", pattern, s)
		require.Equal(t, want, slowMatch([]byte(pattern), []byte(s), false), "the reference: %q on %q", pattern, s)
	}
	// B4: the cases of kvrocks PR#2608
	f("aa", "aa", true)
	f("aa", "aab", false)
	f("aa*", "aab", true)
	f("h[a-c]llo", "hbllo", true)
	f("h[a-c]llo", "hdllo", false)
	f("h[c-a]llo", "hbllo", true)
	f("h[^e]llo", "hello", false)
	f("h[^e]llo", "hallo", true)
	f(`h\*llo`, "h*llo", true)
	f(`h\*llo`, "hello", false)
	f("[", "[", false)
	f("[]", "[]", false)
	f("[]", "]", false)
	f("[z-a]", "m", true)
	f(`a\`, `a\`, true)
	f(`\`, `\`, true)

	// Unclosed and odd classes
	f("[^", "x", true)
	f("[^]", "x", true)
	f("[^]a", "xa", true)
	f("[a-", "a", true)
	f("[a-", "-", true)
	f("[a-", "b", false)
	f("[a-]", "_", true) // from ] to a, and never closed
	f("[a-]", "-", false)
	f(`[\`, `\`, true)
	f(`[\]`, "]", true)
	f(`[\]]`, "]", true)
	f(`[\]]`, `\`, false)
	f(`[a-\]`, "\\", true)
	f(`[a-\]x`, "]x", true) // the range ends at the backslash, so the bracket closes
	f(`[a-\]x`, "]", false)
	f("[--0]", ".", true)
	f("[abc", "c", true)
	f("x[abc", "x", false)
	f("[a^]", "^", true)
	f("[[]", "[", true)
	f("[]a]", "a]", false)
	f("[a-\xff]", "\xff", true) // signed: from -1 to 'a'
	f("[a-\xff]", "b", false)
	f("[a-\xff]", "A", true)
	f("[\x80-\x90]", "\x88", true)

	// Stars and ends
	f("", "", true)
	f("", "a", false)
	f("*", "", false)
	f("**", "", false)
	f("*", "a", true)
	f("a*", "a", true)
	f("a**", "a", true)
	f("*a", "a", true)
	f("*a*", "a", true)
	f("*a?", "aab", true)
	f("*a?", "aba", false)
	f("?*", "", false)
	f("a*b*c", "a_b_b_c", true)
	f("ab*ba", "aba", false)
	f("*ab*ba*", "aba", false)
	f("*[ab]c*", "xxbcx", true)
	f("*a?c*", "aabac_adc", true)
	f("*a?c*", "aaa", false)
	f("a\x00*", "a\x00b", true)
	f("a?c", "a\xffc", true)
}

func TestGlobFolds(t *testing.T) {
	f := func(pattern, s string, want bool) {
		t.Helper()
		require.Equal(t, want, CompileFold([]byte(pattern)).MatchString(s), "%q on %q", pattern, s)
		require.Equal(t, want, slowMatch([]byte(pattern), []byte(s), true), "the reference: %q on %q", pattern, s)
	}
	f("MAXMEMORY*", "maxmemory-policy", true)
	f("*SIZE", "hash-max-Size", true)
	f("[A-C]x", "bX", true)
	f("[abc]", "B", true)
	f(`[\a]`, "A", false) // an escaped member keeps its case
	f(`\a`, "A", true)
	f("[Z-a]", "z", false) // ordered first, lowered afterwards: empty
	f("[\x80-\xff]", "\x90", false)
	f("\xc0", "\xe0", false)
}

func TestGlobTellsWhatItKnows(t *testing.T) {
	f := func(pattern, prefix, literal string, isLiteral, all bool) {
		t.Helper()
		g := Compile([]byte(pattern))
		lit, ok := g.Literal()
		require.Equal(t, prefix, string(g.Prefix()), "prefix of %q", pattern)
		require.Equal(t, isLiteral, ok, "literal of %q", pattern)
		require.Equal(t, literal, string(lit), "literal of %q", pattern)
		require.Equal(t, all, g.All(), "all of %q", pattern)
	}
	f("*", "", "", false, true)
	f("**", "", "", false, false)
	f("", "", "", true, false)
	f("user:*", "user:", "", false, false)
	f("user:?", "user:", "", false, false)
	f("user:?*", "user:", "", false, false)
	f("us[er]r*x", "us", "", false, false)
	f("*22*", "", "", false, false)
	f("plain", "plain", "plain", true, false)
	f(`a\*b\`, `a*b\`, `a*b\`, true, false)
	f(`a[b]c`, `abc`, `abc`, true, false)
	f("a[]c", "a", "", false, false)

	_, ok := CompileFold([]byte("port")).Literal()
	require.False(t, ok)
	lit, ok := CompileFold([]byte("123")).Literal()
	require.True(t, ok)
	require.Equal(t, "123", string(lit))
}

func TestGlobKeepsNoReference(t *testing.T) {
	pattern := []byte("user:*:name")
	g := Compile(pattern)
	for i := range pattern {
		pattern[i] = '!'
	}
	require.True(t, g.MatchString("user:7:name"))
	require.Equal(t, "user:", string(g.Prefix()))
}

// B1: one key and a pattern of stars took Redis seconds (CVE-2022-36021).
func TestGlobStarsAreNotExponential(t *testing.T) {
	key := []byte(strings.Repeat("a", 30) + "b")
	start := time.Now()
	require.False(t, Compile([]byte(strings.Repeat("a*", 31)+"a")).Match(key))
	require.False(t, Compile([]byte(strings.Repeat("a*", 31))).Match(key))
	require.False(t, Compile([]byte(strings.Repeat("?*", 30)+"c")).Match(key))
	require.Less(t, time.Since(start), time.Second)
}

// B3: a slow matcher makes a SCAN of 200 k keys overshoot its budget.
func TestGlobWalksManyKeysInBoundedTime(t *testing.T) {
	g := Compile([]byte("*a*a*a*a*a*a*a*b"))
	start := time.Now()
	hits := 0
	for i := range 200_000 {
		if g.MatchString("aaaaaaaaaaaaaaaaaaaa" + strconv.Itoa(i)) {
			hits++
		}
	}
	require.Zero(t, hits)
	require.Less(t, time.Since(start), 5*time.Second)
}

// The bound is len(pattern) * len(string) steps: 64 Ki * 128 with classes, where the naive way is hopeless.
func TestGlobWorstCaseIsAProduct(t *testing.T) {
	s := bytes.Repeat([]byte("ab"), 32<<10)
	start := time.Now()
	require.False(t, Compile([]byte(strings.Repeat("*[ab]?", 40)+"*c?")).Match(s))
	require.False(t, Compile([]byte("*"+strings.Repeat("[ab]", 128)+"c*")).Match(s))
	require.Less(t, time.Since(start), 10*time.Second)
}

func TestGlobMatchDoesNotAllocate(t *testing.T) {
	s, str := []byte("key:000000002200:field"), "key:000000002200:field"+strings.Repeat("x", 64)
	for _, pattern := range []string{"*22*", "key:*", "*x", "k*0[0-9]2?00*f*", str} {
		g := Compile([]byte(pattern))
		require.Zero(t, testing.AllocsPerRun(100, func() { g.Match(s); g.MatchString(str) }), pattern)
	}
}

// patternBytes are few, so that random patterns meet random strings, and hold every byte that means something.
const patternBytes = "aabbcZz*?[]^-\\\x00\x80\xff"

func randomBytes(r *rand.Rand, from string, most int) []byte {
	b := make([]byte, r.IntN(most+1))
	for i := range b {
		b[i] = from[r.IntN(len(from))]
	}
	return b
}

func testRand(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("FIRN_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("FIRN_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func TestGlobRandomAgainstReference(t *testing.T) {
	r := testRand(t)
	hits := 0
	for range 200_000 {
		p, s := randomBytes(r, patternBytes, 8), randomBytes(r, patternBytes[:8], 6)
		if r.IntN(2) == 0 {
			s = randomBytes(r, patternBytes, 4)
		}
		fold := r.IntN(4) == 0
		if checkGlob(t, p, s, fold) {
			hits++
		}
	}
	require.Greater(t, hits, 5_000, "the patterns hardly ever match: the test shows nothing")
}

// checkGlob compares one match with the reference, and the match with what the Glob says of itself.
func checkGlob(t *testing.T, p, s []byte, fold bool) bool {
	g := compile(p, fold)
	got := g.Match(s)
	if want := slowMatch(p, s, fold); got != want {
		require.Equal(t, want, got, "pattern %q, string %q, fold %v", p, s, fold)
	}
	if got && !bytes.HasPrefix(s, g.Prefix()) {
		require.Fail(t, "prefix", "pattern %q has prefix %q but matches %q", p, g.Prefix(), s)
	}
	if lit, ok := g.Literal(); ok && got != bytes.Equal(lit, s) {
		require.Fail(t, "literal", "pattern %q is %q but says %v to %q", p, lit, got, s)
	}
	return got
}

func FuzzGlob(f *testing.F) {
	f.Add([]byte("*a[b-"), []byte("xab"), false)
	f.Add([]byte(`h[^\]]*\`), []byte(`hello\`), true)
	f.Fuzz(func(t *testing.T, p, s []byte, fold bool) {
		if bytes.Count(p, []byte("*")) > 6 || len(s) > 40 {
			return // the reference is exponential
		}
		checkGlob(t, p, s, fold)
	})
}

func BenchmarkGlob(b *testing.B) {
	keys := make([][]byte, 1024)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "user:%015d", i*7919)
	}
	for _, pattern := range []string{"*22*", "user:*", "*22", "u*r:*[0-4]2?*", strings.Repeat("a*", 31) + "a"} {
		b.Run(pattern, func(b *testing.B) {
			g := Compile([]byte(pattern))
			for i := 0; b.Loop(); i++ {
				g.Match(keys[i&1023])
			}
		})
	}
	b.Run("stars that all search", func(b *testing.B) {
		g, key := Compile([]byte(strings.Repeat("*a", 31)+"*c*")), []byte(strings.Repeat("ab", 40))
		for b.Loop() {
			g.Match(key)
		}
	})
}
