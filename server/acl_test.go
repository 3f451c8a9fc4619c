package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands about users answer what those of the reference do while it has no
// user but its first.
func TestACLAnswersAsTheReference(t *testing.T) {
	reference := redisServer(t)
	c := serve(t).dial()
	for _, line := range corpus(t, "testdata/acl.txt") {
		want, got := reference.do(line), c.do(line)
		if !strings.HasPrefix(line, "HELLO") && want != got {
			t.Errorf("%s\nwant %q\ngot  %q", line, want, got)
		}
	}
}

// bulkTexts returns the texts of an array of bulk strings, sorted.
func bulkTexts(reply string) (texts []string) {
	for i, line := range strings.Split(reply, "\r\n") {
		if i > 0 && !strings.HasPrefix(line, "$") {
			texts = append(texts, line)
		}
	}
	slices.Sort(texts)
	return texts
}

// Of each category the commands that are here are listed, and those only.
func TestCategoriesAreTheReference(t *testing.T) {
	reference := redisServer(t)
	c := serve(t).dial()
	here, there := bulkTexts(c.do("COMMAND LIST")), bulkTexts(reference.do("COMMAND LIST"))
	// Those of the first list that the second has.
	both := func(names, known []string) []string {
		return slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(known, name) })
	}
	for _, category := range bulkTexts(c.do("ACL CAT")) {
		want := both(bulkTexts(reference.do("ACL CAT "+category)), here)
		require.NotEmpty(t, want)
		require.Equal(t, want, both(bulkTexts(c.do("ACL CAT "+strings.ToUpper(category))), there), category)
	}
}

func TestGenpass(t *testing.T) {
	c := serve(t).dial()
	seen := map[string]bool{}
	for line, digits := range map[string]int{
		"ACL GENPASS": 64, "ACL GENPASS 256": 64, "ACL GENPASS 4096": 1024, "ACL GENPASS 129": 33, "ACL GENPASS 128": 32,
	} {
		pass := c.text(line)
		require.Len(t, pass, digits, line)
		require.Empty(t, strings.Trim(pass, "0123456789abcdef"), line)
		require.False(t, seen[pass])
		seen[pass] = true
	}
}
