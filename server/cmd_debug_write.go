package server

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"firn/commands"
	"firn/mvcc"
	"firn/persistence/rdb"
	"firn/server/config"
	"firn/shard"
)

// A populate is what DEBUG POPULATE is asked for.
type populate struct {
	count  int64
	prefix string
	size   int64 // of a value; 0: as long as its text
}

func parsePopulate(c *commands.Call) (p populate, err error) {
	p.prefix = "key"
	var ok bool
	if p.count, ok = commands.ParseInt(c.Args[2]); !ok || p.count < 0 {
		return p, commands.ErrNotPositive
	}
	if len(c.Args) > 3 {
		prefix, _, _ := bytes.Cut(c.Args[3], []byte{0})
		p.prefix = string(prefix)
	}
	if len(c.Args) > 4 {
		if p.size, ok = commands.ParseInt(c.Args[4]); !ok || p.size < 0 {
			return p, commands.ErrNotPositive
		}
	}
	if p.size > c.MaxBulk {
		return p, commands.ErrMaxString
	}
	return p, nil
}

// longestName is how long a name is that Redis makes up here.
const longestName = 127

// key is the name of the i-th key.
func (p *populate) key(i int64) []byte {
	name := strconv.AppendInt([]byte(p.prefix+":"), i, 10)
	return name[:min(len(name), longestName)]
}

// value is that of the i-th key, in the buffer of the one before; zeros follow
// the text.
func (p *populate) value(buf []byte, i int64) []byte {
	text := strconv.AppendInt([]byte("value:"), i, 10)
	if p.size == 0 {
		return text
	}
	if buf == nil {
		buf = make([]byte, p.size)
	}
	copy(buf, text) // never shorter than the one before
	return buf
}

// debugPopulate makes keys one by one, in slices. As in Redis they are no
// effects of a command.
func debugPopulate(c *commands.Call, s *session) error {
	p, err := parsePopulate(c)
	if err != nil {
		return err
	}
	s.aside(func(c *commands.Call) error {
		return c.Guard(func() error {
			h, value := s.freshHold(), []byte(nil)
			for i := range p.count {
				if i%pauseEvery == pauseEvery-1 {
					c.Pause()
				}
				key := p.key(i)
				value = p.value(value, i)
				s.srv.edit(h, c.DB, c.Now, key, func(tx *mvcc.Tx) {
					if _, exists := tx.PeekWrite(key); !exists {
						tx.SetPlain(key, value, 0)
					}
				})
			}
			c.Out.OK()
			return nil
		})
	})
	return nil
}

// edit writes one key from a task of the heavy pool, without an effect beyond
// that of an expired key.
func (srv *Server) edit(h *shard.Hold, db int, now int64, key []byte, f func(*mvcc.Tx)) {
	h.Reset()
	h.Want(key)
	for l := h.Take(false); l != nil; l = h.Take(false) {
		free := make(chan struct{})
		l.Wait(func() { close(free) })
		srv.shards.Heavy.Block(func() { <-free })
	}
	defer h.GiveWay()
	defer h.Give()
	h.Tx.Begin(srv.shards.Space, db, now)
	f(&h.Tx)
	h.Forget(now)
}

// parseReload says whether a file is asked for that only an earlier save can
// have made.
func parseReload(c *commands.Call) (noSave bool, err error) {
	for i := 2; i < len(c.Args); i++ {
		switch {
		case c.Is(i, "nosave"):
			noSave = true
		case c.Is(i, "merge"), c.Is(i, "noflush"):
		default:
			return false, commands.ErrDebugReload
		}
	}
	return noSave, nil
}

// debugReload does in memory what saving and loading would do to the data:
// every key is written anew from its value, with the encoding that SET would
// choose; access clocks begin anew unless eviction goes by them; what has
// expired is not there any more. Nothing is written to a disk and nothing is
// proved of one. Others work on meanwhile: what they write is kept, because a
// key is read and written at one instant.
func debugReload(c *commands.Call, s *session) error {
	noSave, err := parseReload(c)
	if err != nil {
		return err
	}
	if noSave {
		return commands.ErrDebugLoad
	}
	return s.rebuild(c, "DB reloaded by DEBUG RELOAD")
}

// debugLoadAOF is debugReload under another name: a log of all commands would
// end in the same data.
func debugLoadAOF(c *commands.Call, s *session) error {
	return s.rebuild(c, "Append Only File loaded by DEBUG LOADAOF")
}

func (s *session) rebuild(c *commands.Call, done string) error {
	cuts := s.srv.cutAll(s.hold(), c.Now)
	s.aside(func(c *commands.Call) error {
		defer release(cuts)
		return c.Guard(func() error {
			h := s.freshHold()
			for db, cut := range cuts {
				if cut != nil {
					s.srv.rebuild(h, db, cut, c.Pause)
				}
			}
			s.srv.log.Warn(done)
			c.Out.OK()
			return nil
		})
	})
	return nil
}

// rebuild writes the keys of a cut anew.
func (srv *Server) rebuild(h *shard.Hold, db int, cut *shard.Cut, pause func()) {
	policy := srv.config().MaxMemoryPolicy
	keepClocks := policy.LFU() || policy == config.AllKeysLRU || policy == config.VolatileLRU
	n := 0
	for _, v := range cut.Versions() {
		v.Ascend(0, func(_ uint64, e mvcc.Entry) bool {
			srv.edit(h, db, cut.Now(), e.Key(), func(tx *mvcc.Tx) { rewrite(tx, e.Key(), keepClocks) })
			if n++; n%pauseEvery == 0 {
				pause()
			}
			return true
		})
	}
}

// rewriteMost is the size in bytes up to which a value may have another form
// when it is loaded.
const rewriteMost = 128 << 10

// rewrite writes a key anew. A big value has only one form, and stays, and so do
// members that expire.
func rewrite(tx *mvcc.Tx, key []byte, keepClock bool) {
	e, ok := tx.PeekWrite(key)
	if !ok {
		return
	}
	clock := e.Clock()
	switch t := rdb.Type(&e, tx.Now); {
	case e.Size() > rewriteMost || rdb.VersionOf(t) != rdb.Version:
	case e.Type() == mvcc.String:
		tx.SetString(key, slices.Clone(e.Bytes(nil)), e.Expire())
	default:
		expire := e.Expire()
		tx.PutValue(key, loaded(&e, t, tx), expire)
	}
	if keepClock {
		tx.SetClock(key, clock)
	}
}

// loaded saves a collection to memory and loads it.
func loaded(e *mvcc.Entry, t byte, tx *mvcc.Tx) mvcc.Detached {
	var w rdb.Encoder
	w.Value(t, e, tx.Now)
	v, err := rdb.NewDecoder(w.Take()).Value(t, tx.Space())
	if err != nil {
		panic(fmt.Errorf("server: what was saved as type %d is not loaded: %w", t, err))
	}
	return v.Collection
}
