package integration

import (
	"fmt"
	"slices"
	"strings"
)

// homes are the first and the last of the few keys that the commands of a group
// mostly are about, so that they mostly meet values of their type.
var homes = map[string][2]int{
	"string": {0, 2}, "bitmap": {1, 2}, "hash": {3, 4}, "list": {5, 6}, "set": {7, 8}, "sorted-set": {9, 10}, "stream": {11, 11},
	"hyperloglog": {12, 12}, "geo": {13, 13},
}

func (g *generator) key() string {
	home, ok := homes[g.group]
	if !ok || g.IntN(12) == 0 {
		home = [2]int{0, fewKeys - 1}
	}
	return fmt.Sprint("k", home[0]+g.IntN(home[1]-home[0]+1))
}

// text is what an argument of this name may be: members, fields, ids and groups
// come again and again, or nothing would ever be found.
func (g *generator) text(name string) string {
	switch name {
	case "member", "member1", "member2", "field", "newfield", "element", "pivot":
		if g.IntN(12) == 0 {
			return g.word()
		}
		if g.many > 4 {
			return fmt.Sprint("m", g.IntN(500))
		}
		return fmt.Sprint([]string{"m", "", "m1"}[g.IntN(3)], g.IntN(12))
	case "group", "groupname":
		return fmt.Sprint("g", g.IntN(2))
	case "consumer", "consumername":
		return fmt.Sprint("c", g.IntN(3))
	case "id", "last-id", "threshold", "max_deleted_entry_id":
		return g.id()
	case "min-idle-time":
		return "0"
	case "min", "max":
		return []string{"-", "+", "[m1", "(m5", "[", "x"}[g.IntN(6)]
	case "start", "end", "stop":
		return g.bound()
	}
	return g.word()
}

// id is one of a stream's entries, or what stands for one.
func (g *generator) id() string {
	if g.IntN(8) == 0 {
		return []string{"0", "$", ">", "-", "+", "x", "7-*"}[g.IntN(7)]
	}
	return fmt.Sprintf("%d-%d", g.IntN(60), g.IntN(4))
}

// bound is an end of a range, of whatever kind.
func (g *generator) bound() string {
	if g.group == "stream" {
		return []string{"-", "+", g.id(), "(" + g.id()}[g.IntN(4)]
	}
	return []string{"0", "-1", "3", "-20", "(1.5", "-inf", "+inf", "100", "[m1", "-", "+"}[g.IntN(11)]
}

func (g *generator) double(name string) string {
	switch name {
	case "longitude", "latitude":
		return fmt.Sprintf("%.5f", g.Float64()*90-4)
	case "radius", "width", "height":
		return []string{"0", "100", "3000.5", "1e6", "-1"}[g.IntN(5)]
	case "min", "max":
		return []string{"-inf", "+inf", "0", "(1.5", "100", "x"}[g.IntN(6)]
	}
	return []string{"0", "1.5", "-2", "3e3", "inf", "x", "0.1"}[g.IntN(7)]
}

// isUndefined says whether Redis promises nothing for the line: what stands
// first of equal weights, and what is between texts where scores differ.
func (g *generator) isUndefined(line []string) bool {
	switch {
	case strings.HasPrefix(line[0], "SORT"):
		return slices.Contains(line, "BY") && (slices.Contains(line, "LIMIT") || slices.Contains(line, "STORE"))
	case g.noLex:
		return strings.HasSuffix(line[0], "LEX") || line[0] == "ZLEXCOUNT" || slices.Contains(line, "BYLEX")
	}
	return false
}
