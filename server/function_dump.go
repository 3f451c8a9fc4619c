package server

import (
	"strings"

	"firn/commands"
	"firn/persistence/rdb"
	"firn/server/script"
)

// The opcodes of a library in an RDB file and in FUNCTION DUMP.
const (
	opFunction2 = 245 // its code
	opFunction  = 246 // of the release candidates of Redis 7.0: name, engine, description and code
)

// functionDump is FUNCTION DUMP: the libraries as they stand in an RDB file, and
// the footer of a payload.
func functionDump(c *commands.Call, s *session) error {
	s.aside(func(c *commands.Call) error {
		return c.Guard(func() error { return s.dumpLibraries(c) })
	})
	return nil
}

func (s *session) dumpLibraries(c *commands.Call) error {
	w := rdb.Encoder{Compress: c.Compress}
	for _, lib := range s.srv.functions.load().Libraries() {
		w.Byte(opFunction2)
		w.String([]byte(lib.Code))
	}
	body := w.Take()
	c.Out.Bulk(rdb.AppendFooter(body, 0, rdb.CRC64(0, body)))
	return nil
}

// What FUNCTION RESTORE does with libraries that are there.
const (
	restoreAppend  = "append"
	restoreReplace = "replace"
	restoreFlush   = "flush"
)

// functionRestore is FUNCTION RESTORE payload [FLUSH|APPEND|REPLACE].
func functionRestore(c *commands.Call, s *session) error {
	if len(c.Args) > 4 {
		return commands.ErrSubcommandSyntax([]byte("FUNCTION"), c.Args[1])
	}
	policy := restoreAppend
	if len(c.Args) == 4 {
		policy = strings.ToLower(string(c.Args[3]))
		if policy != restoreAppend && policy != restoreReplace && policy != restoreFlush {
			return commands.ErrRestorePolicy
		}
	}
	s.aside(func(c *commands.Call) error {
		return c.Guard(func() error { return s.restoreLibraries(c, policy) })
	})
	return nil
}

func (s *session) restoreLibraries(c *commands.Call, policy string) error {
	body, ok := rdb.OpenPayload(c.Args[2])
	if !ok {
		return commands.ErrDumpVersion
	}
	restored, err := s.srv.functions.read(body, func() script.Host { return s.loadHost(c) }, s.srv.config().ProtoMaxBulkLen)
	if err != nil {
		return err
	}
	err = s.changeFunctions(c, func(f *script.Functions) (*script.Functions, error) {
		if policy == restoreFlush {
			return restored, nil
		}
		next, err := f.Join(restored, policy == restoreReplace)
		if err != nil {
			return nil, commands.ErrFunctionLoad(err)
		}
		return next, nil
	})
	if err == nil {
		c.Out.OK()
	}
	return err
}

// read loads the libraries of a payload. Every one gets a host of its own, and a
// string may be as long as longest.
func (f *functions) read(body []byte, host func() script.Host, longest int64) (*script.Functions, error) {
	d := rdb.NewDecoder(body)
	d.Longest = longest
	found := &script.Functions{}
	for len(d.Rest()) > 0 {
		code, err := readLibrary(d)
		if err != nil {
			return nil, err
		}
		lib, err := f.compile(code, host(), found, false)
		if err != nil {
			return nil, err
		}
		if found, err = with(found, lib, false); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// readLibrary reads the code of one library.
func readLibrary(d *rdb.Decoder) (string, error) {
	op, err := d.Byte()
	if err != nil {
		return "", commands.ErrRestoreType
	}
	switch op {
	case opFunction2:
		code, err := d.String()
		if err != nil {
			return "", commands.ErrRestoreLibrary
		}
		return string(code), nil
	case opFunction:
		return readOldLibrary(d)
	}
	return "", commands.ErrRestoreNoFunction
}

func readOldLibrary(d *rdb.Decoder) (string, error) {
	name, err := d.String()
	if err != nil {
		return "", commands.ErrRestoreName
	}
	named := string(name)
	engine, err := d.String()
	if err != nil {
		return "", commands.ErrRestoreEngine
	}
	first := "#!" + string(engine) + " name=" + named + "\n"
	described, err := d.Len()
	if err != nil {
		return "", commands.ErrRestoreHasText
	}
	if described != 0 {
		if _, err := d.String(); err != nil {
			return "", commands.ErrRestoreText
		}
	}
	code, err := d.String()
	if err != nil {
		return "", commands.ErrRestoreBlob
	}
	return first + string(code), nil
}
