package commands

import (
	"bytes"

	"firn/mvcc"
)

// streamsKeys are the keys of XREAD and XREADGROUP: half of what stands behind
// STREAMS, rounded down if the line is wrong.
var streamsKeys = Keys{Find: func(args [][]byte) []int {
	refs := xreadKeys(args)
	if refs == nil {
		refs = xreadKeys(args[:len(args)-1])
	}
	at := make([]int, len(refs))
	for i, r := range refs {
		at[i] = r.at
	}
	return at
}}

type readOptions struct {
	block           bool
	timeout         int64 // ms; 0: for ever
	count           int   // 0: all
	noAck           bool
	group, consumer []byte
	keys, ids       [][]byte
}

func parseRead(c *Call, group bool) (o readOptions, err error) {
	for i := 1; i < len(c.Args) && o.keys == nil; i++ {
		more := len(c.Args) - 1 - i
		switch {
		case more > 0 && c.Is(i, "block"):
			i++
			o.block = true
			o.timeout, err = parseBlock(c, i)
		case more > 0 && c.Is(i, "count"):
			i++
			n, ok := ParseInt(c.Args[i])
			if !ok {
				err = ErrNotInteger
			}
			o.count = int(max(n, 0))
		case more > 0 && c.Is(i, "streams"):
			if more%2 != 0 {
				err = ErrXReadUnbalanced
			}
			o.keys, o.ids = c.Args[i+1:i+1+more/2], c.Args[i+1+more/2:]
		case more > 1 && c.Is(i, "group"):
			if !group {
				err = ErrXReadGroupOption
			}
			o.group, o.consumer = c.Args[i+1], c.Args[i+2]
			i += 2
		case c.Is(i, "noack"):
			if !group {
				err = ErrXReadNoAck
			}
			o.noAck = true
		default:
			err = ErrSyntax
		}
		if err != nil {
			return o, err
		}
	}
	if o.keys == nil {
		return o, ErrSyntax
	}
	if group && o.group == nil {
		return o, ErrXReadNoGroup
	}
	return o, nil
}

// parseBlock reads how long a read blocks, in ms.
func parseBlock(c *Call, i int) (int64, error) {
	if c.InScript {
		return 0, ErrBlockInScript(c.Args[0])
	}
	n, ok := ParseInt(c.Args[i])
	switch {
	case !ok:
		return 0, ErrTimeout
	case n < 0:
		return 0, ErrTimeoutNeg
	}
	return n, nil
}

// xread answers with what is there. With BLOCK it waits if that is nothing.
func xread(c *Call, v *mvcc.View) error {
	o, err := parseRead(c, false)
	if err != nil {
		return err
	}
	after, err := o.afterIDs(v)
	if err != nil {
		return err
	}
	n := 0
	for i, key := range o.keys {
		if s, ok := peekStream(v, key); ok && news(s, after[i]) {
			n++
		}
	}
	if n == 0 && o.block && c.block(o.waitRead(after)) {
		return nil
	}
	c.readHeader(n)
	for i, key := range o.keys {
		if s, ok, _ := streamAt(v, key); ok && news(s, after[i]) {
			o.readStream(c, s, key, after[i])
		}
	}
	return nil
}

// readStream replies what the stream has behind the id.
func (o *readOptions) readStream(c *Call, s mvcc.StreamValue, key []byte, after mvcc.StreamID) {
	from, _ := after.Next()
	c.streamHeader(key)
	c.streamRange(s, from, mvcc.MaxStreamID, o.count, false)
}

// afterIDs returns the id of each stream behind which is to be read.
func (o *readOptions) afterIDs(v *mvcc.View) ([]mvcc.StreamID, error) {
	after := make([]mvcc.StreamID, len(o.keys))
	for i, arg := range o.ids {
		s, ok, err := streamAt(v, o.keys[i])
		if err != nil {
			return nil, err
		}
		switch string(cutNUL(arg)) {
		case "$":
			if ok {
				after[i] = s.LastID()
			}
		case ">":
			return nil, ErrXReadNews
		default:
			if after[i], err = parseStreamID(arg, 0, true); err != nil {
				return nil, err
			}
		}
	}
	return after, nil
}

// cutNUL ends an argument where C's strcmp would.
func cutNUL(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// news says whether the stream has an entry behind the id.
func news(s mvcc.StreamValue, after mvcc.StreamID) bool {
	last, ok := s.LastEntryID()
	return ok && after.Less(last)
}

// readHeader begins the reply about n streams, or is all of it.
func (c *Call) readHeader(n int) {
	switch {
	case n == 0:
		c.Out.NullArray()
	case c.Out.Proto() == RESP3:
		c.Out.Map(n)
	default:
		c.Out.Array(n)
	}
}

func (c *Call) streamHeader(key []byte) {
	if c.Out.Proto() == RESP2 {
		c.Out.Array(2)
	}
	c.Out.Bulk(key)
}

func xreadCost(c *Call, v *mvcc.View) int {
	o, err := parseRead(c, false)
	if err != nil {
		return 1
	}
	cost := 0
	for i, key := range o.keys {
		s, ok := peekStream(v, key)
		if id, err := parseStreamID(o.ids[i], 0, true); ok && err == nil {
			cost += o.cost(s, id)
		}
		cost++
	}
	return cost
}

// cost estimates how many entries are read behind the id.
func (o *readOptions) cost(s mvcc.StreamValue, after mvcc.StreamID) int {
	n := s.About(after, mvcc.MaxStreamID)
	if o.count > 0 {
		n = min(n, o.count)
	}
	return n
}
