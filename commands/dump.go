package commands

import (
	"math"

	"firn/mvcc"
	"firn/persistence/rdb"
)

var dumpCommands = []Command{
	{Name: "DUMP", Arity: 2, Keys: oneKey, Run: OnView(dump), Cost: dumpCost, Summary: "Return a serialized version of the value stored at the specified key."},
	{Name: "RESTORE", Arity: -4, Keys: oneKey, Dest: oneKey, Run: OnStore(restore), Cost: restoreCost, Flags: DenyOOM, Summary: "Create a key using the provided serialized value, previously obtained using DUMP."},
}

const (
	dumpBytesPerUnit    = 256 // bytes that are written in about a microsecond
	restoreBytesPerUnit = 64
)

// dumpCost counts the elements, and the bytes that they take.
func dumpCost(c *Call, v *mvcc.View) int {
	e, ok := v.Peek(c.Args[1])
	if !ok {
		return 1
	}
	return e.Count() + int(min(e.Size()/dumpBytesPerUnit, math.MaxInt32))
}

func dump(c *Call, v *mvcc.View) error {
	e, ok := v.Get(c.Args[1])
	if !ok {
		c.Out.Null()
		return nil
	}
	p := payload{call: c}
	w := rdb.Encoder{Compress: c.Compress}
	if c.Pause != nil {
		w.Flush = p.flush
	}
	t := rdb.Type(&e, c.Now)
	w.Byte(t)
	w.Value(t, &e, c.Now)
	last := w.Take()
	p.add(rdb.AppendFooter(last, t, rdb.CRC64(p.sum, last)))
	p.reply()
	return nil
}

// A payload is what DUMP returns, in pieces: its length stands before it and its
// checksum behind it, so that it is made before the first byte is sent.
type payload struct {
	call   *Call
	pieces [][]byte
	size   int64
	sum    uint64
}

func (p *payload) add(b []byte) {
	p.pieces = append(p.pieces, b)
	p.size += int64(len(b))
}

// flush takes what the encoder has collected.
func (p *payload) flush(b []byte) {
	p.sum = rdb.CRC64(p.sum, b)
	p.add(b)
	p.call.Pause()
}

func (p *payload) reply() {
	out := p.call.Out
	out.BulkHeader(p.size)
	for _, b := range p.pieces {
		out.Keep(b)
		out.Spill()
	}
	out.crlf()
}

// restoreCost counts the bytes of the payload.
func restoreCost(c *Call, _ *mvcc.View) int { return len(c.Args[3]) / restoreBytesPerUnit }

// restoreOptions are what stands behind the payload, -1 for what isn't said.
type restoreOptions struct {
	replace, absolute bool
	idle, freq        int64 // seconds; counter
}

func parseRestore(c *Call) (o restoreOptions, err error) {
	o.idle, o.freq = -1, -1
	for i := 4; i < len(c.Args); i++ {
		more := i+1 < len(c.Args)
		switch {
		case c.Is(i, "REPLACE"):
			o.replace = true
		case c.Is(i, "ABSTTL"):
			o.absolute = true
		case c.Is(i, "IDLETIME") && more && o.freq == -1:
			i++
			o.idle, err = parseBetween(c.Args[i], math.MaxInt64, ErrRestoreIdle)
		case c.Is(i, "FREQ") && more && o.idle == -1:
			i++
			o.freq, err = parseBetween(c.Args[i], math.MaxUint8, ErrRestoreFreq)
		default:
			return o, ErrSyntax
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// parseBetween reads an integer from 0 to most; out is the error for any other.
func parseBetween(b []byte, most int64, out Error) (int64, error) {
	n, ok := ParseInt(b)
	if !ok {
		return 0, ErrNotInteger
	}
	if n < 0 || n > most {
		return 0, out
	}
	return n, nil
}

// restore checks and decodes; what is left for commit takes the same time for
// every value.
func restore(c *Call, v *mvcc.View) (commit func(*mvcc.Tx) error, err error) {
	o, err := parseRestore(c)
	if err != nil {
		return nil, err
	}
	if _, ok := v.Peek(c.Args[1]); ok && !o.replace {
		return nil, ErrBusyKey
	}
	expire, err := parseBetween(c.Args[2], math.MaxInt64, ErrRestoreTTL)
	if err != nil {
		return nil, err
	}
	if expire != 0 && !o.absolute {
		expire += c.Now // beyond the last moment it is a past one, as in Redis
	}
	r := restored{restoreOptions: o, expire: expire, clock: o.clock(c, v.Space().Access())}
	if r.value, err = openPayload(c, v.Space()); err != nil {
		return nil, err
	}
	if len(r.value.String) > mvcc.ChunkSize {
		r.chunks = cutChunks(r.value.String, c.Pause)
	}
	return func(tx *mvcc.Tx) error { return r.commit(c, tx) }, nil
}

func openPayload(c *Call, s *mvcc.Space) (rdb.Value, error) {
	body, ok := rdb.OpenPayload(c.Args[3])
	if !ok {
		return rdb.Value{}, ErrDumpVersion
	}
	if len(body) == 0 {
		return rdb.Value{}, ErrDumpFormat
	}
	d := rdb.NewDecoder(body[1:])
	d.Pause, d.Longest = c.Pause, c.MaxBulk
	value, err := d.Value(body[0], s)
	if err != nil {
		return rdb.Value{}, ErrDumpFormat
	}
	return value, nil
}

// clock is the access clock that the options ask for, -1 for that of a new key.
func (o *restoreOptions) clock(c *Call, a *mvcc.Access) int64 {
	switch {
	case a.LFU && o.freq >= 0:
		return int64(mvcc.FrequencyClock(c.Now, byte(o.freq)))
	case !a.LFU && o.idle >= 0:
		return int64(mvcc.IdleClock(c.Now, o.idle))
	}
	return -1
}

// cutChunks copies a long string into chunks as mvcc.Tx.SetChunks wants them.
func cutChunks(p []byte, pause func()) (chunks [][]byte) {
	for len(p) > 0 {
		n := min(len(p), mvcc.ChunkSize)
		chunks = append(chunks, append(make([]byte, 0, n), p[:n]...))
		p = p[n:]
		if pause != nil {
			pause()
		}
	}
	return chunks
}

// restored is a value that is ready to be put in.
type restored struct {
	restoreOptions
	value  rdb.Value
	chunks [][]byte // of a long string
	expire int64    // unix ms, 0: never
	clock  int64
}

func (r *restored) commit(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	c.Out.OK()
	if r.expire != 0 && r.expire <= c.Now {
		if r.replace && tx.Delete(key) {
			c.Propagate([]byte("DEL"), key)
			c.Notify('g', "del", key)
		}
		return nil
	}
	tx.Expire(key)
	r.put(tx, key)
	if r.clock >= 0 {
		tx.SetClock(key, uint32(r.clock))
	}
	if r.expire != 0 && !r.absolute {
		args := append([][]byte{}, c.Args...)
		args[2] = AppendInt(nil, r.expire)
		c.Propagate(append(args, []byte("ABSTTL"))...)
	}
	c.Notify('g', "restore", key)
	return nil
}

// put sets the key, as one change.
func (r *restored) put(tx *mvcc.Tx, key []byte) {
	switch {
	case r.chunks != nil:
		tx.SetChunks(key, int64(len(r.value.String)), r.chunks)
		if r.expire != 0 {
			tx.SetExpire(key, r.expire)
			tx.Changes--
		}
	case r.value.Collection != nil:
		tx.PutValue(key, r.value.Collection, r.expire)
	default:
		tx.SetString(key, r.value.String, r.expire)
	}
}
