package server

import (
	"firn/commands"
	"firn/server/script"
)

const functionFlags = commands.NoScript | commands.SkipMon

var functionCallCommands = []commands.Command{
	{Name: "FCALL", Arity: -3, Keys: commands.Keys{Find: scriptKeys}, Run: onSession(callFunction), Flags: functionFlags, Summary: "Invoke a function"},
	{Name: "FCALL_RO", Arity: -3, Keys: commands.Keys{Find: scriptKeys}, Run: onSession(callFunction), Flags: functionFlags, Summary: "Invoke a read-only function"},
}

// callFunction is FCALL and FCALL_RO: name numkeys [key ...] [arg ...].
func callFunction(c *commands.Call, s *session) error {
	s.shownFirst(c)
	f := s.srv.functions.load()
	fn := f.Find(string(c.Args[1]))
	if fn == nil {
		return commands.ErrFunctionMissing
	}
	if s.srv.shards.Over() > 0 && fn.Flags&(script.AllowOOM|script.NoWrites) == 0 {
		return commands.ErrOOM
	}
	keys, argv, err := functionArgs(c.Args)
	if err != nil {
		return err
	}
	return s.runScript(c, s.srv.functionJob(c, f, fn, keys, argv))
}

// functionArgs takes the keys and the arguments from the command line.
func functionArgs(args [][]byte) (keys, argv [][]byte, err error) {
	n, ok := commands.ParseInt(args[2])
	switch {
	case !ok:
		return nil, nil, commands.ErrFunctionNumKeys
	case n > int64(len(args)-3):
		return nil, nil, commands.ErrKeysOverArgs
	case n < 0:
		return nil, nil, commands.ErrKeysNegative
	}
	return args[3 : 3+n], args[3+n:], nil
}

// functionJob is the run of a function.
func (srv *Server) functionJob(c *commands.Call, f *functionSet, fn *script.Function, keys, argv [][]byte) *scriptJob {
	return &scriptJob{
		name: fn.Name, flags: scriptFlags(fn.Flags), ro: readOnlyRow(c.Row), keys: keys, args: c.Args, habits: f.habits[fn],
		run: func(run *script.Run, reply func(v script.Value)) *script.Failure {
			fs := srv.functions.engine.Take(&f.Functions)
			defer srv.functions.engine.Give(fs)
			callback, failure := fs.Lookup(fn, run.Host)
			if failure != nil {
				return failure
			}
			v, failure := fs.Invoke(run, callback, fs.Strings(keys), fs.Strings(argv))
			if failure == nil {
				reply(v)
			}
			return failure
		},
	}
}
