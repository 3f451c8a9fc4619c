package commands

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"firn/mvcc"
)

// A nested hash is what KEYDB.NHSET makes of a path `key.a.b`: a value below
// names below names. Here it is a hash whose fields are the paths below the
// key, with dots. A value of several strings is a list under a field that
// begins with a dot, which no path does. KeyDB has a type of its own for it.
const pathDot = '.'

// splitPath splits a path into the key and the path below it, which is empty
// for the key itself; false if a name is empty.
func splitPath(path []byte) (key, below []byte, ok bool) {
	dotted := append([]byte{pathDot}, path...)
	if len(path) == 0 || bytes.HasSuffix(path, []byte{pathDot}) || bytes.Contains(dotted, []byte("..")) {
		return nil, nil, false
	}
	key, below, _ = bytes.Cut(path, []byte{pathDot})
	return key, below, true
}

// isBelow says whether a path leads through another.
func isBelow(path, above []byte) bool {
	return len(path) > len(above) && path[len(above)] == pathDot && bytes.HasPrefix(path, above)
}

// fieldPath returns the path that a field stands for, and whether a list is
// there.
func fieldPath(field []byte) (path []byte, list bool) {
	if len(field) > 0 && field[0] == pathDot {
		return field[1:], true
	}
	return field, false
}

// nhset is KEYDB.NHSET path value [value …]. It takes the place of whatever was
// at the path, above it as a value or below it.
func nhset(c *Call, tx *mvcc.Tx) error {
	key, below, ok := splitPath(c.Args[1])
	if !ok {
		return ErrSyntax
	}
	e, there := tx.Lookup(key)
	values := c.Args[2:]
	if len(below) == 0 {
		setPlainOrList(tx, key, values, there)
		c.Out.Int(toInt(there))
		return nil
	}
	if there && e.Type() != mvcc.Hash {
		tx.Delete(key)
	}
	w := tx.WriteHash(key)
	defer w.Close()
	replaced := clearPath(w, below)
	if len(values) == 1 {
		w.Set(below, values[0])
	} else {
		w.Set(append([]byte{pathDot}, below...), packList(values))
	}
	c.Out.Int(toInt(replaced))
	return nil
}

// setPlainOrList sets a key that has no path below it.
func setPlainOrList(tx *mvcc.Tx, key []byte, values [][]byte, there bool) {
	if len(values) == 1 {
		tx.SetString(key, values[0], 0)
		return
	}
	if there {
		tx.Delete(key)
	}
	w := tx.WriteList(key)
	for _, v := range values {
		w.PushRight(v)
	}
	w.Close()
}

// clearPath removes what is at a path, and says whether there was something;
// values above it go too.
func clearPath(w *mvcc.HashWriter, path []byte) (found bool) {
	var gone [][]byte
	h := w.Value()
	h.Each(func(field, _ []byte) bool {
		at, _ := fieldPath(field)
		switch {
		case bytes.Equal(at, path) || isBelow(at, path):
			found = true
		case !isBelow(path, at):
			return true
		}
		gone = append(gone, slices.Clone(field))
		return true
	})
	for _, field := range gone {
		w.Delete(field)
	}
	return found
}

func packList(values [][]byte) (packed []byte) {
	for _, v := range values {
		packed = append(binary.AppendUvarint(packed, uint64(len(v))), v...)
	}
	return packed
}

// unpackList is the inverse of packList. What somebody else has put there ends
// where it makes no sense.
func unpackList(packed []byte) (values [][]byte) {
	for len(packed) > 0 {
		n, l := binary.Uvarint(packed)
		if l <= 0 || n > uint64(len(packed)-l) {
			break
		}
		values = append(values, packed[l:l+int(n)])
		packed = packed[l+int(n):]
	}
	return values
}

// A nest is a value of a nested hash: names, a list, or a string.
type nest struct {
	names []nestName // in order; nil for a list or string
	list  [][]byte
	text  []byte
	kind  nestKind
}

type nestName struct {
	name []byte
	at   *nest
}

type nestKind byte

const (
	nestNames nestKind = iota
	nestList
	nestText
)

// nhget is KEYDB.NHGET [JSON|RESP] path.
func nhget(c *Call, v *mvcc.View) error {
	json := false
	switch {
	case len(c.Args) > 3:
		return ErrSyntax
	case len(c.Args) == 2 || c.Is(1, "resp"):
	case c.Is(1, "json"):
		json = true
	default:
		return ErrSyntax
	}
	key, below, ok := splitPath(c.Args[len(c.Args)-1])
	if !ok {
		return ErrSyntax
	}
	e, ok := v.Get(key)
	if !ok {
		return ErrNoKey
	}
	n, err := findNest(&e, v.Now, below)
	switch {
	case err != nil:
		return err
	case json:
		c.Out.Bulk(n.appendJSON(nil))
	default:
		n.send(c)
	}
	return nil
}

// findNest reads what is at a path below a key.
func findNest(e *mvcc.Entry, now int64, below []byte) (*nest, error) {
	switch e.Type() {
	case mvcc.Hash:
		return nestOf(e.Hash(now), below)
	case mvcc.String:
		if len(below) == 0 {
			return &nest{kind: nestText, text: e.Bytes(nil)}, nil
		}
	case mvcc.List:
		if len(below) == 0 {
			return listNest(e.List()), nil
		}
	default:
		return nil, ErrWrongType
	}
	return nil, ErrNoKey
}

func listNest(l mvcc.ListValue) *nest {
	n := &nest{kind: nestList}
	l.Ascend(0, func(b []byte) bool {
		n.list = append(n.list, slices.Clone(b))
		return true
	})
	return n
}

// nestOf gathers the fields of a hash that are at or below a path.
func nestOf(h mvcc.HashValue, path []byte) (*nest, error) {
	root, found := &nest{}, false
	h.Each(func(field, value []byte) bool {
		at, list := fieldPath(field)
		n := root
		switch {
		case len(path) == 0:
			n = root.descend(at)
		case isBelow(at, path):
			n = root.descend(at[len(path)+1:])
		case !bytes.Equal(at, path):
			return true
		}
		found = true
		if n.kind, n.text = nestText, value; list {
			n.kind, n.list = nestList, unpackList(value)
		}
		return true
	})
	if !found {
		return nil, ErrNoKey
	}
	root.sort()
	return root, nil
}

// descend returns the nest at a path below n, which it makes.
func (n *nest) descend(path []byte) *nest {
	for more := true; more; {
		var name []byte
		name, path, more = bytes.Cut(path, []byte{pathDot})
		i := slices.IndexFunc(n.names, func(m nestName) bool { return bytes.Equal(m.name, name) })
		if i < 0 {
			i = len(n.names)
			n.names = append(n.names, nestName{name, &nest{}})
		}
		n = n.names[i].at
	}
	return n
}

func (n *nest) sort() {
	slices.SortFunc(n.names, func(a, b nestName) int { return bytes.Compare(a.name, b.name) })
	for _, m := range n.names {
		m.at.sort()
	}
}

// send appends the nest as KeyDB does: one name alone has no array around it.
func (n *nest) send(c *Call) {
	switch n.kind {
	case nestText:
		c.Out.Bulk(n.text)
		return
	case nestList:
		c.Out.Array(len(n.list))
		for _, b := range n.list {
			c.Out.Bulk(b)
		}
		return
	}
	if len(n.names) > 1 {
		c.Out.Array(len(n.names))
	}
	for _, m := range n.names {
		c.Out.Array(2)
		c.Out.Bulk(m.name)
		m.at.send(c)
	}
}

func (n *nest) appendJSON(dst []byte) []byte {
	switch n.kind {
	case nestText:
		return appendJSONString(dst, n.text)
	case nestList:
		dst = append(dst, '[')
		for i, b := range n.list {
			dst = appendJSONString(appendComma(dst, i), b)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, m := range n.names {
		dst = append(appendJSONString(appendComma(dst, i), m.name), " : "...)
		dst = m.at.appendJSON(dst)
	}
	return append(dst, '}')
}

func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

// appendJSONString keeps the bytes that are not UTF-8 as they are, as KeyDB
// does.
func appendJSONString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for _, b := range s {
		switch {
		case b == '"' || b == '\\':
			dst = append(dst, '\\', b)
		case b < ' ':
			dst = fmt.Appendf(dst, "\\u%04x", b)
		default:
			dst = append(dst, b)
		}
	}
	return append(dst, '"')
}
