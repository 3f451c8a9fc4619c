package transcript

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Compare returns an error that shows both replies, if the one that came isn't
// the one that the step expects.
func (s *Step) Compare(got Reply) error {
	text := got.String()
	if s.Matches(text) {
		return nil
	}
	return fmt.Errorf("> %s\nwant:\n%s\ngot:\n%s", s.Command(), s.Want, text)
}

// Matches says whether a printed reply is what the step expects.
func (s *Step) Matches(got string) bool {
	want := s.Want
	if s.Modifier&Ignore != 0 {
		return true
	}
	if s.Modifier&Unordered != 0 {
		want, got = sorted(want), sorted(got)
	}
	if s.Modifier&Approx != 0 {
		return near(want, got)
	}
	return want == got
}

// Update makes the reply the expected one, unless it already matches: what a
// file says of a reply that may vary doesn't change without need.
func (s *Step) Update(got Reply) {
	if text := got.String(); !s.Matches(text) {
		s.Want = text
	}
}

var numbered = regexp.MustCompile(`^ *\d+[)#~] `)

// sorted orders the elements of a printed list, and of the lists in it.
func sorted(text string) string {
	head := numbered.FindString(text)
	if head == "" {
		return text
	}
	var elems []string
	for _, line := range strings.Split(text, "\n") {
		rest := line[min(len(head), len(line)):]
		if numbered.MatchString(line[:min(len(head), len(line))]) || len(elems) == 0 {
			elems = append(elems, rest)
			continue
		}
		elems[len(elems)-1] += "\n" + rest
	}
	for i, e := range elems {
		elems[i] = "- " + strings.ReplaceAll(sorted(e), "\n", "\n  ")
	}
	slices.Sort(elems)
	return strings.Join(elems, "\n")
}

var numeral = regexp.MustCompile(`-?\d+(\.\d+)?(e[-+]?\d+)?`)

// near says whether two texts differ only in numbers, and little in those.
func near(want, got string) bool {
	if numeral.ReplaceAllString(want, "0") != numeral.ReplaceAllString(got, "0") {
		return false
	}
	a, b := numeral.FindAllString(want, -1), numeral.FindAllString(got, -1)
	for i := range a {
		if !nearNumber(a[i], b[i]) {
			return false
		}
	}
	return true
}

func nearNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil || x < 0 != (y < 0) {
		return false // -1 and -2 are answers of their own, not numbers
	}
	diff, size := math.Abs(x-y), math.Max(math.Abs(x), math.Abs(y))
	if strings.ContainsAny(a+b, ".e") {
		return diff <= size*1e-9
	}
	return x >= 0 && diff <= math.Max(2, size/50)
}
