package server

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	graphColumns = 80
	graphRows    = 4
	graphFill    = "_o#" // from low to high within a row
)

// graph draws the samples as Redis' LATENCY GRAPH does; now is unix seconds.
func (l *latencySeries) graph(now int64) string {
	low, high := l.samples[0].millis, l.samples[0].millis
	for _, s := range l.samples {
		low, high = min(low, s.millis), max(high, s.millis)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s - high %d ms, low %d ms (all time high %d ms)\n", l.event, high, low, l.worst)
	b.WriteString(strings.Repeat("-", graphColumns) + "\n")
	for at := 0; at < len(l.samples); at += graphColumns {
		if at > 0 {
			b.WriteByte('\n')
		}
		part := l.samples[at:min(at+graphColumns, len(l.samples))]
		drawBars(&b, part, low, high)
		drawLabels(&b, part, now)
	}
	return b.String()
}

// drawBars draws one column a sample, in rows from the top.
func drawBars(b *strings.Builder, samples []latencySample, low, high int64) {
	steps, span := int64(len(graphFill)*graphRows), max(high-low, 1)
	for row := graphRows - 1; row >= 0; row-- {
		for _, s := range samples {
			step := min((s.millis-low)*steps/span, steps-1) - int64(row*len(graphFill))
			switch {
			case step < 0:
				b.WriteByte(' ')
			case step < int64(len(graphFill)):
				b.WriteByte(graphFill[step])
			default:
				b.WriteByte('|')
			}
		}
		b.WriteByte('\n')
	}
}

// drawLabels writes under each column, downwards, how long ago it was.
func drawLabels(b *strings.Builder, samples []latencySample, now int64) {
	blank := bytes.Repeat([]byte{' '}, len(samples))
	b.Write(append(blank, '\n'))
	for row := 0; ; row++ {
		line, any := bytes.Clone(blank), false
		for i, s := range samples {
			if label := ago(now - s.at); row < len(label) {
				line[i], any = label[row], true
			}
		}
		if !any {
			return
		}
		b.Write(append(line, '\n'))
	}
}

// ago is a time in its largest whole unit.
func ago(seconds int64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%dm", seconds/60)
	case seconds < 24*3600:
		return fmt.Sprintf("%dh", seconds/3600)
	}
	return fmt.Sprintf("%dd", seconds/(24*3600))
}
