package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A unit says how a figure is printed. Figures are kept in base units: bytes, milliseconds, fractions.
type unit string

const (
	perSecond unit = "/s"
	millis    unit = "ms"
	micros    unit = "µs"
	seconds   unit = "s"
	mebibytes unit = "MiB"
	percent   unit = "%"
	factor    unit = "x"
	count     unit = ""
)

// A Line is one metric of one row, with a sample a round for each server.
type Line struct {
	Row     string               `json:"row"`
	Metric  string               `json:"metric"`
	Unit    unit                 `json:"unit"`
	Raw     bool                 `json:"raw,omitempty"` // only in the JSON file
	Samples map[string][]float64 `json:"samples"`
}

// A Table is an experiment's result. Rows stand in the order in which they were first written to.
type Table struct {
	Name   string                       `json:"name"`
	Title  string                       `json:"title"`
	Lines  []*Line                      `json:"lines"`
	Failed map[string]map[string]string `json:"failed,omitempty"` // row, server: why there is no figure
	Notes  []string                     `json:"notes,omitempty"`
	rows   []string
}

func newTable(name, title string) *Table {
	return &Table{Name: name, Title: title, Failed: map[string]map[string]string{}}
}

// Add appends a sample.
func (t *Table) Add(row, metric string, u unit, server string, v float64) {
	t.add(row, metric, u, server, v, false)
}

// AddRaw appends a sample that is kept for the JSON file and not printed.
func (t *Table) AddRaw(row, metric string, u unit, server string, v float64) {
	t.add(row, metric, u, server, v, true)
}

func (t *Table) add(row, metric string, u unit, server string, v float64, raw bool) {
	t.noteRow(row)
	for _, l := range t.Lines {
		if l.Row == row && l.Metric == metric {
			l.Samples[server] = append(l.Samples[server], v)
			return
		}
	}
	t.Lines = append(t.Lines, &Line{row, metric, u, raw, map[string][]float64{server: {v}}})
}

// Fail says why a server has no figures in a row.
func (t *Table) Fail(row, server, why string) {
	t.noteRow(row)
	if t.Failed[row] == nil {
		t.Failed[row] = map[string]string{}
	}
	t.Failed[row][server] = why
}

// Note adds a line below the table, once.
func (t *Table) Note(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	if !slices.Contains(t.Notes, note) {
		t.Notes = append(t.Notes, note)
	}
}

func (t *Table) noteRow(row string) {
	if !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
	}
}

// Render prints the table: medians over the rounds, a column a server, and for each but the baseline its ratio to it.
func (t *Table) Render(servers []string) string {
	base := baseline(servers)
	head := append([]string{t.Name, ""}, servers...)
	for _, s := range servers {
		if s != base {
			head = append(head, s+"/"+base)
		}
	}
	cells := [][]string{head}
	for _, row := range t.rows {
		cells = append(cells, t.renderRow(row, servers, base)...)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", t.Name, t.Title)
	align(&b, cells)
	for _, n := range slices.Concat(t.Notes, t.longReasons(servers), t.disturbance()) {
		fmt.Fprintf(&b, "  %s\n", n)
	}
	return b.String()
}

// baseline is what ratios are taken to: redis where it takes part, else the last server named.
func baseline(servers []string) string {
	if slices.Contains(servers, "redis") {
		return "redis"
	}
	return servers[len(servers)-1]
}

func (t *Table) renderRow(row string, servers []string, base string) [][]string {
	var out [][]string
	label := row
	for _, l := range t.Lines {
		if l.Row != row || l.Raw {
			continue
		}
		line := []string{label, l.Metric}
		for _, s := range servers {
			line = append(line, t.cell(l, s))
		}
		for _, s := range servers {
			if s != base {
				line = append(line, ratio(l.Samples[s], l.Samples[base]))
			}
		}
		out = append(out, line)
		label = ""
	}
	if len(out) > 0 {
		return out
	}
	line := []string{row, ""}
	for _, s := range servers {
		line = append(line, shorten(t.Failed[row][s]))
	}
	return [][]string{line}
}

func (t *Table) cell(l *Line, server string) string {
	if s := l.Samples[server]; len(s) > 0 {
		return format(median(s), l.Unit)
	}
	if why := t.Failed[l.Row][server]; why != "" {
		return shorten(why)
	}
	return "-"
}

const reasonWidth = 24

func shorten(why string) string {
	if utf8.RuneCountInString(why) <= reasonWidth {
		return why
	}
	return "n/a, see below"
}

// longReasons lists the reasons that no cell has room for.
func (t *Table) longReasons(servers []string) []string {
	var out []string
	for _, row := range t.rows {
		for _, s := range servers {
			why := t.Failed[row][s]
			if utf8.RuneCountInString(why) > reasonWidth {
				out = append(out, fmt.Sprintf("%s, %s: %s", s, row, why))
			}
		}
	}
	return out
}

const (
	othersMetric = "cores used by others"
	disturbed    = 0.15 // of a core: from here on a row is disturbed; the probe's own share is below
)

// disturbance says in one line how much else ran on the machine while the table was measured.
func (t *Table) disturbance() []string {
	rows, all, most := 0, 0, 0.0
	for _, l := range t.Lines {
		if l.Metric != othersMetric {
			continue
		}
		for _, samples := range l.Samples {
			for _, v := range samples {
				all++
				most = max(most, v)
				if v > disturbed {
					rows++
				}
			}
		}
	}
	if rows == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Disturbed: in %d of %d measurements other processes used up to %.1f cores.", rows, all, most)}
}

// align writes the cells in columns: the first two to the left, the figures to the right.
func align(b *strings.Builder, cells [][]string) {
	var width []int
	for _, line := range cells {
		for i, c := range line {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, line := range cells {
		var s strings.Builder
		for i, c := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i < 2 {
				s.WriteString("  " + c + pad)
			} else {
				s.WriteString("  " + pad + c)
			}
		}
		b.WriteString(strings.TrimRight(s.String(), " ") + "\n")
	}
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

// ratio compares medians; a dash where it would say nothing.
func ratio(a, b []float64) string {
	if len(a) == 0 || len(b) == 0 {
		return "-"
	}
	x, y := median(a), median(b)
	if y <= 0 || x < 0 {
		return "-"
	}
	return strconv.FormatFloat(x/y, 'f', 2, 64)
}

func format(v float64, u unit) string {
	switch u {
	case perSecond, count:
		return thousands(v)
	case percent:
		return digits(v*100) + " %"
	case mebibytes:
		return digits(v/(1<<20)) + " MiB"
	case factor:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return digits(v) + " " + string(u)
}

// digits prints about three significant digits, without an exponent.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return thousands(v)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func thousands(v float64) string {
	s := strconv.FormatFloat(math.Round(math.Abs(v)), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if v <= -0.5 {
		return "-" + s
	}
	return s
}
