package logging

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Redis' log levels, from the most lines to the fewest.
const (
	LevelDebug   = zapcore.DebugLevel - 1 // '.'
	LevelVerbose = zapcore.DebugLevel     // '-'
	LevelNotice  = zapcore.InfoLevel      // '*'
	LevelWarning = zapcore.WarnLevel      // '#', and all above
)

// Options say how to log. The zero value logs Redis' lines at level notice to standard output.
type Options struct {
	File  string        // appended to; "": Out
	Out   io.Writer     // nil: standard output
	JSON  bool          // a JSON object a line
	Level zapcore.Level // one of the constants above
	PID   int
	// Role gives the letter after the process: 'M' for a master, 'S' for a replica, 'C' while starting. It is asked for each
	// line, by any goroutine. Nil: 'M'.
	Role  func() byte
	Clock zapcore.Clock // nil: the system's
}

// New gives a logger and its level, which may be changed at any time (CONFIG SET loglevel). It fails if the file can't be opened.
func New(o Options) (*zap.Logger, zap.AtomicLevel, error) {
	level := zap.NewAtomicLevelAt(o.Level)
	out, err := o.sink()
	if err != nil {
		return nil, level, err
	}
	if o.Role == nil {
		o.Role = func() byte { return 'M' }
	}
	var core zapcore.Core = &lineCore{LevelEnabler: level, out: out, pid: o.PID, role: o.Role}
	if o.JSON {
		core = zapcore.NewCore(zapcore.NewJSONEncoder(jsonConfig()), out, level).With([]zap.Field{zap.Int("pid", o.PID)})
	}
	var options []zap.Option
	if o.Clock != nil {
		options = append(options, zap.WithClock(o.Clock))
	}
	return zap.New(core, options...), level, nil
}

// ParseLevel gives the level of a `loglevel`. False if there is none of that name.
func ParseLevel(name string) (zapcore.Level, bool) {
	switch strings.ToLower(name) {
	case "debug":
		return LevelDebug, true
	case "verbose":
		return LevelVerbose, true
	case "notice":
		return LevelNotice, true
	case "warning":
		return LevelWarning, true
	}
	return LevelNotice, false
}

func (o Options) sink() (zapcore.WriteSyncer, error) {
	switch {
	case o.File != "":
		f := logFile(o.File)
		if _, err := f.Write(nil); err != nil {
			return nil, fmt.Errorf("Can't open the log file: %w", err)
		}
		return zapcore.Lock(f), nil
	case o.Out != nil:
		return zapcore.Lock(zapcore.AddSync(o.Out)), nil
	}
	return zapcore.Lock(zapcore.AddSync(os.Stdout)), nil
}

// logFile is the path of a file that is opened for each write.
type logFile string

func (path logFile) Write(line []byte) (int, error) {
	f, err := os.OpenFile(string(path), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return 0, err
	}
	n, err := f.Write(line)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return n, err
}

// Sync does nothing: a line is with the system once it is written.
func (logFile) Sync() error { return nil }

func jsonConfig() zapcore.EncoderConfig {
	return zapcore.EncoderConfig{
		TimeKey: "time", LevelKey: "level", MessageKey: "msg", LineEnding: "\n",
		EncodeTime:     zapcore.TimeEncoderOfLayout(time.RFC3339Nano),
		EncodeDuration: zapcore.StringDurationEncoder,
		EncodeLevel:    func(l zapcore.Level, enc zapcore.PrimitiveArrayEncoder) { enc.AppendString(levelName(l)) },
	}
}

func levelName(l zapcore.Level) string {
	switch {
	case l <= LevelDebug:
		return "debug"
	case l == LevelVerbose:
		return "verbose"
	case l == LevelNotice:
		return "notice"
	case l == LevelWarning:
		return "warning"
	}
	return "error"
}
