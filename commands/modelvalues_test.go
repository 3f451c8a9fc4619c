package commands

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"firn/commands/transcript"
)

// A modelValue is the part of an entry that is no string. Values are never
// changed in place.
type modelValue struct {
	typ     string            // "" for a string
	members map[string]string // of a hash, with values; of a set; of a sorted set, with scores
	elems   []string          // of a list; the ids of a stream
}

// modelTypes are the types that commands want of their keys; the others take
// any.
var modelTypes = map[string]string{
	"GET": "string", "STRLEN": "string", "GETDEL": "string", "GETEX": "string", "APPEND": "string", "SETRANGE": "string", "GETRANGE": "string", "INCRBY": "string",
	"HSET": "hash", "HDEL": "hash", "HGET": "hash", "HLEN": "hash", "HINCRBY": "hash", "HGETALL": "hash",
	"LPUSH": "list", "RPUSH": "list", "LPOP": "list", "RPOP": "list", "LLEN": "list", "LRANGE": "list", "LINDEX": "list", "LMOVE": "list", "LREM": "list", "LTRIM": "list", "LSET": "list",
	"SADD": "set", "SREM": "set", "SISMEMBER": "set", "SCARD": "set", "SMEMBERS": "set", "SINTER": "set", "SUNION": "set", "SDIFF": "set",
	"ZADD": "zset", "ZINCRBY": "zset", "ZREM": "zset", "ZSCORE": "zset", "ZRANK": "zset", "ZRANGE": "zset", "ZPOPMIN": "zset", "ZREMRANGEBYRANK": "zset",
	"XADD": "stream", "XLEN": "stream", "XTRIM": "stream",
	"SUNIONSTORE": "set", "SINTERSTORE": "set", "SDIFFSTORE": "set",
}

// modelFree are the commands whose replies have no order.
var modelFree = map[string]bool{"KEYS": true, "HGETALL": true, "SMEMBERS": true, "SINTER": true, "SUNION": true, "SDIFF": true}

const modelWrong = "(error) WRONGTYPE Operation against a key holding the wrong kind of value"

// modelKey is one of twelve, mostly one of the two that commands of the type
// share.
func modelKey(r *rand.Rand, command string) string {
	i := slices.Index([]string{"string", "hash", "list", "set", "zset", "stream"}, modelTypes[command])
	if i < 0 || r.IntN(10) == 0 {
		return "key:" + strconv.Itoa(r.IntN(12))
	}
	return "key:" + strconv.Itoa(2*i+r.IntN(2))
}

// run checks the types of the keys and runs a row.
func (m *modelSpace) run(row *modelRow, line []string) string {
	wrong := func(key, typ string) bool {
		v, ok := m.get(key)
		return ok && cmp.Or(v.typ, "string") != typ
	}
	keys := line[1:min(2, len(line))]
	switch line[0] {
	case "SUNION", "SINTER", "SDIFF":
		keys = line[1:]
	case "SUNIONSTORE", "SINTERSTORE", "SDIFFSTORE":
		keys = line[2:]
	case "LMOVE":
		if _, ok := m.get(line[1]); ok {
			keys = line[1:3]
		}
	case "SET":
		if line[len(line)-1] == "GET" && wrong(line[1], "string") {
			return modelWrong
		}
	}
	if typ := modelTypes[line[0]]; typ != "" {
		for _, key := range keys {
			if wrong(key, typ) {
				return modelWrong
			}
		}
	}
	return row.run(m, line)
}

// of returns a copy of a key's value for a change.
func (m *modelSpace) of(key, typ string) modelEntry {
	v, ok := m.get(key)
	if !ok {
		return modelEntry{modelValue: modelValue{typ: typ, members: map[string]string{}}}
	}
	v.members, v.elems = maps.Clone(v.members), slices.Clone(v.elems)
	return v
}

// put stores a changed value; an empty one is none, but for a stream.
func (m *modelSpace) put(key string, v modelEntry) {
	if len(v.members) == 0 && len(v.elems) == 0 && v.typ != "stream" {
		delete(m.keys, key)
		return
	}
	m.keys[key] = v
}

func modelQuoted(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = transcript.Quote(w)
	}
	return modelList(all)
}

// ranked lists a sorted set by score and name.
func (v *modelValue) ranked() []string {
	return slices.SortedFunc(maps.Keys(v.members), func(a, b string) int {
		return cmp.Or(cmp.Compare(modelNumber(v.members[a]), modelNumber(v.members[b])), cmp.Compare(a, b))
	})
}

func modelAlgebra(op byte, a, b map[string]string) map[string]string {
	all := map[string]string{}
	for k := range a {
		if _, in := b[k]; op == 'U' || op == 'I' && in || op == 'D' && !in {
			all[k] = ""
		}
	}
	if op == 'U' {
		for k := range b {
			all[k] = ""
		}
	}
	return all
}

// modelAdd returns a row that sets members to values, in pairs or alone.
func modelAdd(shape, typ string, step int, score bool) modelRow {
	return modelRow{shape, func(m *modelSpace, a []string) string {
		v, n := m.of(a[1], typ), 0
		for i := 2; i < len(a); i += step {
			member, value := a[i], ""
			if step == 2 {
				value = a[i+1]
			}
			if score {
				member, value = value, member
			}
			if _, ok := v.members[member]; !ok {
				n++
			}
			v.members[member] = value
		}
		m.put(a[1], v)
		return modelInt(n)
	}}
}

func modelRemove(shape, typ string) modelRow {
	return modelRow{shape, func(m *modelSpace, a []string) string {
		v, n := m.of(a[1], typ), 0
		for _, member := range a[2:] {
			if _, ok := v.members[member]; ok {
				n++
				delete(v.members, member)
			}
		}
		m.put(a[1], v)
		return modelInt(n)
	}}
}

func modelLen(shape, typ string) modelRow {
	return modelRow{shape, func(m *modelSpace, a []string) string {
		v := m.of(a[1], typ)
		return modelInt(len(v.members) + len(v.elems))
	}}
}

// modelIncr adds to a value or score; a score is a reply of another kind.
func modelIncr(shape, typ string) modelRow {
	return modelRow{shape, func(m *modelSpace, a []string) string {
		v := m.of(a[1], typ)
		member, by := a[2], a[3]
		if typ == "zset" {
			member, by = by, member
		}
		old, ok := v.members[member]
		if !ok {
			old = "0"
		}
		n, err := strconv.ParseInt(old, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != old {
			return "(error) ERR hash value is not an integer"
		}
		v.members[member] = strconv.FormatInt(n+modelNumber(by), 10)
		m.put(a[1], v)
		if typ == "zset" {
			return transcript.Quote(v.members[member])
		}
		return "(integer) " + v.members[member]
	}}
}

func modelPush(shape string, left bool) modelRow {
	return modelRow{shape, func(m *modelSpace, a []string) string {
		v := m.of(a[1], "list")
		for _, e := range a[2:] {
			if left {
				v.elems = slices.Insert(v.elems, 0, e)
			} else {
				v.elems = append(v.elems, e)
			}
		}
		m.put(a[1], v)
		return modelInt(len(v.elems))
	}}
}

// modelShows show a value of each type.
var modelShows = []modelRow{
	{"LRANGE k 0 -1", func(m *modelSpace, a []string) string { v := m.of(a[1], "list"); return modelQuoted(v.elems) }},
	{"SMEMBERS k", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "set")
		return modelQuoted(slices.Collect(maps.Keys(v.members)))
	}},
	{"HGETALL k", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "hash")
		var all []string
		for f, x := range v.members {
			all = append(all, f, x)
		}
		return modelQuoted(all)
	}},
	{"ZRANGE k 0 -1 WITHSCORES", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "zset")
		var all []string
		for _, member := range v.ranked() {
			all = append(all, member, v.members[member])
		}
		return modelQuoted(all)
	}},
	modelLen("XLEN k", "stream"),
}

func modelSets(op string) modelRow {
	return modelRow{"S" + op + " k k", func(m *modelSpace, a []string) string {
		x, y := m.of(a[1], "set"), m.of(a[2], "set")
		return modelQuoted(slices.Collect(maps.Keys(modelAlgebra(op[0], x.members, y.members))))
	}}
}

func modelSetsStore(op string) modelRow {
	return modelRow{"S" + op + "STORE k k k", func(m *modelSpace, a []string) string {
		x, y := m.of(a[2], "set"), m.of(a[3], "set")
		result := modelValue{typ: "set", members: modelAlgebra(op[0], x.members, y.members)}
		m.put(a[1], modelEntry{modelValue: result})
		return modelInt(len(result.members))
	}}
}

// modelValueRows are the command lines of all types but strings.
var modelValueRows = append(slices.Clone(modelShows),
	modelAdd("HSET k f v", "hash", 2, false), modelAdd("HSET k f n f n f n", "hash", 2, false), modelRemove("HDEL k f f f", "hash"),
	modelLen("HLEN k", "hash"), modelIncr("HINCRBY k f n", "hash"),
	modelRow{"HGET k f", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "hash")
		x, ok := v.members[a[2]]
		return modelBulk(modelEntry{text: x}, ok)
	}},
	modelPush("LPUSH k v f", true), modelPush("RPUSH k f f n f", false), modelPush("RPUSH k v", false), modelLen("LLEN k", "list"),
	modelRow{"LPOP k n", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "list")
		n := min(int(modelNumber(a[2])), len(v.elems))
		if n == 0 {
			return "(nil)"
		}
		out := v.elems[:n]
		v.elems = v.elems[n:]
		m.put(a[1], v)
		return modelQuoted(out)
	}},
	modelRow{"LINDEX k n", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "list")
		if i := int(modelNumber(a[2])); i < len(v.elems) {
			return transcript.Quote(v.elems[i])
		}
		return "(nil)"
	}},
	modelRow{"LMOVE k k RIGHT LEFT", func(m *modelSpace, a []string) string {
		from := m.of(a[1], "list")
		if len(from.elems) == 0 {
			return "(nil)"
		}
		last := from.elems[len(from.elems)-1]
		from.elems = from.elems[:len(from.elems)-1]
		if a[1] == a[2] {
			from.elems = slices.Insert(from.elems, 0, last)
			m.put(a[1], from)
			return transcript.Quote(last)
		}
		m.put(a[1], from)
		to := m.of(a[2], "list")
		to.elems = slices.Insert(to.elems, 0, last)
		m.put(a[2], to)
		return transcript.Quote(last)
	}},
	modelRow{"LREM k 0 f", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "list")
		n := len(v.elems)
		v.elems = slices.DeleteFunc(v.elems, func(e string) bool { return e == a[3] })
		m.put(a[1], v)
		return modelInt(n - len(v.elems))
	}},
	modelRow{"LTRIM k 0 n", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "list")
		v.elems = v.elems[:min(int(modelNumber(a[3]))+1, len(v.elems))]
		m.put(a[1], v)
		return "OK"
	}},
	modelRow{"LSET k n v", func(m *modelSpace, a []string) string {
		v, i := m.of(a[1], "list"), int(modelNumber(a[2]))
		switch {
		case len(v.elems) == 0:
			return "(error) " + string(ErrNoKey)
		case i >= len(v.elems):
			return "(error) ERR index out of range"
		}
		v.elems[i] = a[3]
		m.put(a[1], v)
		return "OK"
	}},
	modelAdd("SADD k f f f", "set", 1, false), modelAdd("SADD k n n v", "set", 1, false), modelRemove("SREM k f n f", "set"), modelLen("SCARD k", "set"),
	modelRow{"SISMEMBER k f", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "set")
		_, ok := v.members[a[2]]
		return modelBool(ok)
	}},
	modelSets("UNION"), modelSets("INTER"), modelSets("DIFF"), modelSetsStore("UNION"), modelSetsStore("INTER"), modelSetsStore("DIFF"),
	modelAdd("ZADD k n f n f n f", "zset", 2, true), modelAdd("ZADD k n v", "zset", 2, true), modelRemove("ZREM k f f", "zset"), modelIncr("ZINCRBY k n f", "zset"),
	modelRow{"ZSCORE k f", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "zset")
		x, ok := v.members[a[2]]
		return modelBulk(modelEntry{text: x}, ok)
	}},
	modelRow{"ZRANK k f", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "zset")
		if i := slices.Index(v.ranked(), a[2]); i >= 0 {
			return modelInt(i)
		}
		return "(nil)"
	}},
	modelRow{"ZPOPMIN k n", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "zset")
		var out []string
		for _, member := range v.ranked()[:min(int(modelNumber(a[2])), len(v.members))] {
			out = append(out, member, v.members[member])
			delete(v.members, member)
		}
		m.put(a[1], v)
		return modelQuoted(out)
	}},
	modelRow{"ZREMRANGEBYRANK k n n", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "zset")
		n := 0
		for i, member := range v.ranked() {
			if i >= int(modelNumber(a[2])) && i <= int(modelNumber(a[3])) {
				delete(v.members, member)
				n++
			}
		}
		m.put(a[1], v)
		return modelInt(n)
	}},
	modelRow{"XADD k 5-* f v", func(m *modelSpace, a []string) string {
		v := m.of(a[1], "stream")
		n := 0
		if v.text != "" {
			n = int(modelNumber(v.text)) + 1
		}
		v.text = strconv.Itoa(n)
		v.elems = append(v.elems, v.text)
		m.put(a[1], v)
		return transcript.Quote(fmt.Sprint("5-", n))
	}},
	modelRow{"XTRIM k MAXLEN n", func(m *modelSpace, a []string) string {
		v, ok := m.get(a[1])
		if !ok {
			return modelInt(0)
		}
		v = m.of(a[1], "stream")
		n := max(0, len(v.elems)-int(modelNumber(a[3])))
		v.elems = v.elems[n:]
		m.put(a[1], v)
		return modelInt(n)
	}},
)
