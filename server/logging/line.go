package logging

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// lineCore is a zap core that writes Redis' lines.
type lineCore struct {
	zapcore.LevelEnabler
	out    zapcore.WriteSyncer
	pid    int
	role   func() byte
	fields []zap.Field // those given by With
}

// With gives a core whose lines all have fields.
func (c *lineCore) With(fields []zap.Field) zapcore.Core {
	d := *c
	d.fields = slices.Concat(c.fields, fields)
	return &d
}

// Check adds the core to an entry that is to be written.
func (c *lineCore) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return checked.AddCore(e, c)
	}
	return checked
}

// Write writes one line.
func (c *lineCore) Write(e zapcore.Entry, fields []zap.Field) error {
	line := make([]byte, 0, 128)
	line = strconv.AppendInt(line, int64(c.pid), 10)
	line = append(line, ':', c.role(), ' ')
	line = e.Time.Local().AppendFormat(line, "02 Jan 2006 15:04:05.000")
	line = append(line, ' ', levelMark(e.Level), ' ')
	line = append(line, oneLine(e.Message)...)
	line = appendFields(line, slices.Concat(c.fields, fields))
	_, err := c.out.Write(append(line, '\n'))
	return err
}

// Sync hands what was written to the system.
func (c *lineCore) Sync() error { return c.out.Sync() }

func levelMark(l zapcore.Level) byte {
	switch {
	case l <= LevelDebug:
		return '.'
	case l == LevelVerbose:
		return '-'
	case l == LevelNotice:
		return '*'
	}
	return '#'
}

// oneLine keeps a message on its line.
func oneLine(message string) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(message)
}

func appendFields(line []byte, fields []zap.Field) []byte {
	prefix := ""
	for _, f := range fields {
		if f.Type == zapcore.NamespaceType {
			prefix += f.Key + "."
			continue
		}
		values := zapcore.NewMapObjectEncoder()
		f.AddTo(values)
		for _, key := range slices.Sorted(maps.Keys(values.Fields)) {
			line = append(line, ' ')
			line = append(line, prefix...)
			line = append(line, key...)
			line = append(line, '=')
			line = append(line, shown(values.Fields[key])...)
		}
	}
	return line
}

func shown(value any) string {
	var s string
	switch v := value.(type) {
	case time.Time:
		s = v.Format(time.RFC3339Nano)
	case []byte:
		s = string(v)
	default:
		s = fmt.Sprint(v)
	}
	special := func(r rune) bool { return r <= ' ' || r == '"' || r == unicode.ReplacementChar || !unicode.IsPrint(r) }
	if s == "" || strings.ContainsFunc(s, special) {
		return strconv.Quote(s)
	}
	return s
}
