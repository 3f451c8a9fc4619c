package config

import (
	"errors"
	"strings"
)

// cmdline is a command line, taken apart.
type cmdline struct {
	action  Action
	file    string
	stdin   bool
	options string // configuration lines
	refused error
}

// parseArgs takes a command line apart as redis-server does: [file] [--name value …] [-], or one of the words for which
// no server is started. --check-config and --print-config may stand wherever an option's name may.
func parseArgs(args []string) cmdline {
	var line cmdline
	if len(args) == 0 {
		return line
	}
	switch args[0] {
	case "-v", "--version":
		line.action = ShowVersion
		return line
	case "-h", "--help":
		line.action = ShowHelp
		return line
	case "--test-memory", "--check-system":
		line.refused = errors.New("Firn has no " + args[0] + ": it tests neither the machine's memory nor its kernel")
		return line
	}
	for len(args) > 0 && actionOf(args[0]) != Serve {
		line.action = actionOf(args[0])
		args = args[1:]
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		line.file = args[0]
		args = args[1:]
	}
	if line.file == "" && len(args) > 0 && args[0] == "-" {
		line.stdin = true
		args = args[1:]
	}
	if len(args) > 0 && args[len(args)-1] == "-" {
		line.stdin = true
		args = args[:len(args)-1]
	}
	var action Action
	line.options, action = optionLines(args, true)
	if action != Serve {
		line.action = action
	}
	return line
}

func actionOf(arg string) Action {
	switch arg {
	case "--check-config":
		return CheckConfig
	case "--print-config":
		return PrintConfig
	}
	return Serve
}

// optionLines makes configuration lines of options. A word that begins with "--" is a name if the option before it has a value,
// so that one value may begin with "--" too. An empty --save counts as one with the value "".
func optionLines(args []string, actions bool) (string, Action) {
	var b strings.Builder
	action := Serve
	complete := true
	for i, arg := range args {
		if a := actionOf(arg); actions && complete && a != Serve {
			action = a
			continue
		}
		if !complete || !strings.HasPrefix(arg, "--") {
			b.WriteString(quote(arg))
			b.WriteByte(' ')
			complete = true
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(arg[2:])
		b.WriteByte(' ')
		words, _ := splitArgs(arg)
		complete = len(words) != 1
		next := i+1 < len(args)
		if !complete && strings.EqualFold(arg, "--save") && (!next || strings.HasPrefix(args[i+1], "--")) {
			b.WriteString(`""`)
			complete = true
		}
	}
	return b.String(), action
}
