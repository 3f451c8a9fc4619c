package commands

import "firn/mvcc"

// checkLength refuses a string that would become longer than is allowed, or
// than 64 bits can count.
func checkLength(c *Call, size, more int64) error {
	if more > c.MaxBulk || size > c.MaxBulk-more {
		return ErrMaxString
	}
	return nil
}

func appendString(c *Call, tx *mvcc.Tx) error {
	key, more := c.Args[1], c.Args[2]
	e, ok := tx.Lookup(key)
	switch {
	case !ok:
		tx.SetString(key, more, 0)
		return edited(c, key, "append", int64(len(more)))
	case e.Type() != mvcc.String:
		return ErrWrongType
	}
	size := e.Len()
	if err := checkLength(c, size, int64(len(more))); err != nil {
		return err
	}
	tx.WriteAt(key, size, more)
	return edited(c, key, "append", size+int64(len(more)))
}

// edited replies the new length.
func edited(c *Call, key []byte, event string, size int64) error {
	c.Notify('$', event, key)
	c.Out.Int(size)
	return nil
}

func setrange(c *Call, tx *mvcc.Tx) error {
	key, value := c.Args[1], c.Args[3]
	off, ok := ParseInt(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if off < 0 {
		return ErrOffset
	}
	e, ok := tx.Lookup(key)
	size := int64(0)
	if ok {
		if e.Type() != mvcc.String {
			return ErrWrongType
		}
		size = e.Len()
	}
	if len(value) == 0 {
		c.Out.Int(size)
		return nil
	}
	if err := checkLength(c, off, int64(len(value))); err != nil {
		return err
	}
	tx.WriteAt(key, off, value)
	return edited(c, key, "setrange", max(size, off+int64(len(value))))
}
