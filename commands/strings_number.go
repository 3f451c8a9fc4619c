package commands

import (
	"math"

	"firn/mvcc"
)

func incr(c *Call, tx *mvcc.Tx) error { return addInt(c, tx, 1) }

func decr(c *Call, tx *mvcc.Tx) error { return addInt(c, tx, -1) }

func incrby(c *Call, tx *mvcc.Tx) error {
	by, ok := ParseInt(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	return addInt(c, tx, by)
}

func decrby(c *Call, tx *mvcc.Tx) error {
	by, ok := ParseInt(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if by == math.MinInt64 {
		return ErrDecrOverflow // there is no -by
	}
	return addInt(c, tx, -by)
}

// addInt adds to the integer at the command's key, which keeps its expiry.
func addInt(c *Call, tx *mvcc.Tx, by int64) error {
	key := c.Args[1]
	n, expire := int64(0), int64(0)
	if e, ok := tx.Lookup(key); ok {
		if e.Type() != mvcc.String {
			return ErrWrongType
		}
		if n, ok = intValue(&e); !ok {
			return ErrNotInteger
		}
		expire = e.Expire()
	}
	sum := n + by
	if (by > 0) != (sum > n) && by != 0 {
		return ErrOverflow
	}
	tx.SetInt(key, sum, expire)
	c.Notify('$', "incrby", key)
	c.Out.Int(sum)
	return nil
}

// intValue reads a string value as an integer, however it is stored.
func intValue(e *mvcc.Entry) (int64, bool) {
	if n, ok := e.Int(); ok {
		return n, true
	}
	if e.Len() > maxIntLen {
		return 0, false
	}
	return ParseInt(e.Bytes(nil))
}

func incrbyfloat(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	e, ok := tx.Lookup(key)
	n, expire := Float80{}, int64(0)
	if ok {
		if e.Type() != mvcc.String {
			return ErrWrongType
		}
		if n, ok = floatValue(&e); !ok {
			return ErrNotFloat
		}
		expire = e.Expire()
	}
	by, ok := ParseFloat80(c.Args[2])
	if !ok {
		return ErrNotFloat
	}
	sum, ok := n.Add(by)
	if !ok {
		return ErrNaNOrInf
	}
	value := sum.Append(nil)
	tx.SetPlain(key, value, expire)
	c.Notify('$', "incrbyfloat", key)
	c.Out.Bulk(value)
	// Others get the result: their arithmetic might be another one.
	c.Propagate([]byte("SET"), key, value, []byte("KEEPTTL"))
	return nil
}

// floatValue reads a string value as a number, however it is stored.
func floatValue(e *mvcc.Entry) (Float80, bool) {
	if e.Len() > float80MaxLen {
		return Float80{}, false
	}
	return ParseFloat80(e.Bytes(nil))
}
