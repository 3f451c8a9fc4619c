package commands

import (
	"slices"

	"firn/mvcc"
)

// setOptions are what stands after the value in SET.
type setOptions struct {
	nx, xx, get, keep bool
	time              timeOption
}

// A timeOption is EX, PX, EXAT or PXAT with its argument; the zero value is
// none.
type timeOption struct {
	kind  timeKind
	value []byte
}

type timeKind byte

const (
	noTime timeKind = iota
	timeEX
	timePX
	timeEXAT
	timePXAT
)

// parse reads a time option at argument i, and says whether there is one that
// may stand there: a later one replaces an earlier one of its kind, and
// excludes the other kinds.
func (t *timeOption) parse(c *Call, i int) bool {
	if i+1 == len(c.Args) {
		return false
	}
	kind := noTime
	switch {
	case c.Is(i, "EX"):
		kind = timeEX
	case c.Is(i, "PX"):
		kind = timePX
	case c.Is(i, "EXAT"):
		kind = timeEXAT
	case c.Is(i, "PXAT"):
		kind = timePXAT
	}
	if kind == noTime || t.kind != noTime && t.kind != kind {
		return false
	}
	t.kind, t.value = kind, c.Args[i+1]
	return true
}

// at is the instant that the option stands for, unix ms; 0 for none.
func (t *timeOption) at(c *Call) (int64, error) {
	switch t.kind {
	case timeEX:
		return futureExpireAt(c, seconds, t.value, c.Now)
	case timePX:
		return futureExpireAt(c, milliseconds, t.value, c.Now)
	case timeEXAT:
		return futureExpireAt(c, seconds, t.value, 0)
	case timePXAT:
		return futureExpireAt(c, milliseconds, t.value, 0)
	}
	return 0, nil
}

// absolute says whether the option names an instant, which may have passed.
func (t *timeOption) absolute() bool { return t.kind == timeEXAT || t.kind == timePXAT }

func parseSet(c *Call) (o setOptions, err error) {
	for i := 3; i < len(c.Args); i++ {
		switch {
		case c.Is(i, "NX") && !o.xx:
			o.nx = true
		case c.Is(i, "XX") && !o.nx:
			o.xx = true
		case c.Is(i, "GET"):
			o.get = true
		case c.Is(i, "KEEPTTL") && o.time.kind == noTime:
			o.keep = true
		case !o.keep && o.time.parse(c, i):
			i++
		default:
			return o, ErrSyntax
		}
	}
	return o, nil
}

func set(c *Call, tx *mvcc.Tx) error {
	key, value := c.Args[1], c.Args[2]
	if len(c.Args) == 3 {
		overwrite(c, tx, key, value)
		c.Out.OK()
		return nil
	}
	o, err := parseSet(c)
	if err != nil {
		return err
	}
	done, err := store(c, tx, value, &o)
	switch {
	case err != nil || o.get:
		return err
	case done:
		c.Out.OK()
	default:
		c.Out.Null()
	}
	return nil
}

// overwrite sets the key to the value, without expiry, whatever it held.
func overwrite(c *Call, tx *mvcc.Tx, key, value []byte) {
	tx.Overwrite(key, value)
	c.Notify('$', "set", key)
}

// store is SET and its variants, but for the reply (of which it gives the old
// value, if that is asked for). It says whether the key was set.
func store(c *Call, tx *mvcc.Tx, value []byte, o *setOptions) (done bool, err error) {
	key := c.Args[1]
	at, err := o.time.at(c)
	if err != nil {
		return false, err
	}
	if o.get {
		if _, _, err := replyOld(c, tx, key); err != nil {
			return false, err
		}
	}
	e, found := tx.Lookup(key)
	if o.nx && found || o.xx && !found {
		return false, nil
	}
	if o.keep && found {
		at = e.Expire()
	}
	tx.SetString(key, value, at)
	c.Notify('$', "set", key)
	switch {
	case o.time.kind != noTime:
		c.Notify('g', "expire", key)
		c.Propagate([]byte("SET"), key, value, []byte("PXAT"), AppendInt(nil, at))
	case o.get:
		propagateWithoutGet(c)
	}
	return true, nil
}

// replyOld appends the value of a key that is about to be written, as GET
// would; null if there is none.
func replyOld(c *Call, tx *mvcc.Tx, key []byte) (e mvcc.Entry, ok bool, err error) {
	e, ok = tx.Get(key)
	if !ok {
		tx.Expire(key)
		c.Out.Null()
		return e, false, nil
	}
	if e.Type() != mvcc.String {
		return e, false, ErrWrongType
	}
	c.Out.BulkEntry(&tx.View, &e)
	return e, true, nil
}

// propagateWithoutGet hands SET on without its GET, as nobody reads the reply
// there.
func propagateWithoutGet(c *Call) {
	args := slices.Clone(c.Args[:3])
	for i := 3; i < len(c.Args); i++ {
		if !c.Is(i, "GET") {
			args = append(args, c.Args[i])
		}
	}
	c.Propagate(args...)
}

func setnx(c *Call, tx *mvcc.Tx) error {
	done, err := store(c, tx, c.Args[2], &setOptions{nx: true})
	if err != nil {
		return err
	}
	if done {
		c.Out.Int(1)
	} else {
		c.Out.Int(0)
	}
	return nil
}

func setex(c *Call, tx *mvcc.Tx) error { return setFor(c, tx, timeEX) }

func psetex(c *Call, tx *mvcc.Tx) error { return setFor(c, tx, timePX) }

func setFor(c *Call, tx *mvcc.Tx, kind timeKind) error {
	o := setOptions{time: timeOption{kind, c.Args[2]}}
	if _, err := store(c, tx, c.Args[3], &o); err != nil {
		return err
	}
	c.Out.OK()
	return nil
}

func getset(c *Call, tx *mvcc.Tx) error {
	key, value := c.Args[1], c.Args[2]
	if _, _, err := replyOld(c, tx, key); err != nil {
		return err
	}
	tx.SetString(key, value, 0)
	c.Notify('$', "set", key)
	c.Propagate([]byte("SET"), key, value)
	return nil
}

func getdel(c *Call, tx *mvcc.Tx) error {
	_, ok, err := replyOld(c, tx, c.Args[1])
	if !ok {
		return err
	}
	drop(c, tx, c.Args[1])
	return nil
}

// drop deletes a key that is there, in place of the command's own effect.
func drop(c *Call, tx *mvcc.Tx, key []byte) {
	tx.Delete(key)
	c.Notify('g', "del", key)
	c.Propagate([]byte("DEL"), key)
}

func parseGetex(c *Call) (t timeOption, persist bool, err error) {
	for i := 2; i < len(c.Args); i++ {
		switch {
		case c.Is(i, "PERSIST") && t.kind == noTime:
			persist = true
		case !persist && t.parse(c, i):
			i++
		default:
			return t, persist, ErrSyntax
		}
	}
	return t, persist, nil
}

func getex(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	t, persist, err := parseGetex(c)
	if err != nil {
		return err
	}
	e, ok, err := replyOld(c, tx, key)
	if !ok {
		return err
	}
	at, err := t.at(c)
	switch {
	case err != nil:
		return err
	case t.absolute() && at <= c.Now:
		drop(c, tx, key)
	case t.kind != noTime:
		tx.SetExpire(key, at)
		c.Notify('g', "expire", key)
		c.Propagate([]byte("PEXPIREAT"), key, AppendInt(nil, at))
	case persist && e.Expire() != 0:
		tx.SetExpire(key, 0)
		c.Notify('g', "persist", key)
		c.Propagate([]byte("PERSIST"), key)
	}
	return nil
}

func mset(c *Call, tx *mvcc.Tx) error {
	if len(c.Args)%2 == 0 {
		return ErrArity(c.Row.full)
	}
	setPairs(c, tx)
	c.Out.OK()
	return nil
}

func msetnx(c *Call, tx *mvcc.Tx) error {
	if len(c.Args)%2 == 0 {
		return ErrArity(c.Row.full)
	}
	for i := 1; i < len(c.Args); i += 2 {
		c.pauseAt(i / 2)
		c.next(&tx.View, i/2, c.Args[i])
		if _, found := tx.Lookup(c.Args[i]); found {
			c.Out.Int(0)
			return nil
		}
	}
	setPairs(c, tx)
	c.Out.Int(1)
	return nil
}

func setPairs(c *Call, tx *mvcc.Tx) {
	for i := 1; i < len(c.Args); i += 2 {
		c.pauseAt(i / 2)
		c.next(&tx.View, i/2, c.Args[i])
		overwrite(c, tx, c.Args[i], c.Args[i+1])
	}
}
