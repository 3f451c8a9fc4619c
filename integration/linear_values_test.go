package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// A shelf is the model of a keyspace with a hash, two lists, four sets and a
// sorted set, of few members each. Shelves are comparable.
type shelf struct {
	hash  [4]string // of the fields f0…: "" where missing, else "=" and the value
	lists [2]string // l0 and l1: elements, each with a comma behind it
	sets  [4]uint8  // s0…: a bit for each of m0…m7
	zset  [4]string // like hash, of m0…
}

// at turns the digit of a key, field or member into an index.
func at(name string) int { return int(name[1] - '0') }

// apply runs a command on the model and returns its reply, arrays without order
// sorted.
func (s *shelf) apply(args call) string {
	switch args[0][0] {
	case 'H':
		return s.applyHash(args)
	case 'S':
		return s.applySet(args)
	case 'Z':
		return s.applyZSet(args)
	}
	return s.applyList(args)
}

// cells counts or lists what is there of numbered cells.
func cells(all []string, name string, pairs bool) (list []string) {
	for i, v := range all {
		if v == "" {
			continue
		}
		list = append(list, strconv.Quote(fmt.Sprint(name, i)))
		if pairs {
			list = append(list, strconv.Quote(v[1:]))
		}
	}
	return list
}

func (s *shelf) applyHash(args call) string {
	switch args[0] {
	case "HGETALL":
		return sorted(array(cells(s.hash[:], "f", true)))
	case "HLEN":
		return fmt.Sprint(":", len(cells(s.hash[:], "f", false)))
	}
	f := &s.hash[at(args[2])]
	old := *f
	switch args[0] {
	case "HGET":
		return bulkOf(old)
	case "HSET":
		*f = "=" + args[3]
		return created(old)
	case "HSETNX":
		if old == "" {
			*f = "=" + args[3]
		}
		return created(old)
	case "HINCRBY":
		n, _ := strconv.Atoi(strings.TrimPrefix(old, "="))
		*f = fmt.Sprint("=", n+1)
		return fmt.Sprint(":", n+1)
	case "HDEL":
		*f = ""
		return deleted(old)
	}
	panic("the model does not know " + args[0])
}

func array(elems []string) string { return "[" + strings.Join(elems, " ") + "]" }

func created(old string) string {
	if old == "" {
		return ":1"
	}
	return ":0"
}

func deleted(old string) string {
	if old == "" {
		return ":0"
	}
	return ":1"
}

func (s *shelf) applyList(args call) string {
	l := &s.lists[at(args[1])]
	switch args[0] {
	case "LPUSH":
		*l = args[2] + "," + *l
		return fmt.Sprint(":", strings.Count(*l, ","))
	case "RPOP":
		return bulkOf(cutLast(l))
	case "LMOVE": // RIGHT LEFT
		v := cutLast(l)
		if v != "" {
			to := &s.lists[at(args[2])]
			*to = v[1:] + "," + *to
		}
		return bulkOf(v)
	case "LRANGE":
		var all []string
		for v := range strings.SplitSeq(strings.TrimSuffix(*l, ","), ",") {
			if v != "" {
				all = append(all, strconv.Quote(v))
			}
		}
		return array(all)
	}
	panic("the model does not know " + args[0])
}

// cutLast takes the last element away; "" if there is none.
func cutLast(l *string) string {
	if *l == "" {
		return ""
	}
	rest := strings.TrimSuffix(*l, ",")
	i := strings.LastIndexByte(rest, ',') + 1
	*l = rest[:i]
	return "=" + rest[i:]
}

func (s *shelf) applySet(args call) string {
	k := &s.sets[at(args[1])]
	switch args[0] {
	case "SADD", "SREM":
		bit, was := uint8(1)<<at(args[2]), *k
		if *k |= bit; args[0] == "SREM" {
			*k &^= bit
		}
		return fmt.Sprint(":", count(was^*k))
	case "SMOVE":
		bit := uint8(1) << at(args[3])
		if *k&bit == 0 {
			return ":0"
		}
		*k &^= bit
		s.sets[at(args[2])] |= bit
		return ":1"
	case "SCARD":
		return fmt.Sprint(":", count(*k))
	case "SMEMBERS":
		return members(*k)
	case "SUNION", "SDIFF":
		return members(algebra(args[0], *k, s.sets[at(args[2])]))
	}
	*k = algebra(strings.TrimSuffix(args[0], "STORE"), s.sets[at(args[2])], s.sets[at(args[3])])
	return fmt.Sprint(":", count(*k))
}

func algebra(op string, a, b uint8) uint8 {
	switch op {
	case "SUNION":
		return a | b
	case "SINTER":
		return a & b
	}
	return a &^ b
}

func count(set uint8) (n int) {
	for ; set != 0; set &= set - 1 {
		n++
	}
	return n
}

func members(set uint8) string {
	var all []string
	for i := range 8 {
		if set>>i&1 != 0 {
			all = append(all, strconv.Quote(fmt.Sprint("m", i)))
		}
	}
	return array(all)
}

func (s *shelf) applyZSet(args call) string {
	switch args[0] {
	case "ZRANGE":
		return array(s.ranked())
	case "ZPOPMIN":
		all := s.ranked()
		if len(all) == 0 {
			return "[]"
		}
		s.zset[at(all[0][1:])] = ""
		return array(all[:2])
	case "ZADD":
		m := &s.zset[at(args[3])]
		old := *m
		*m = "=" + args[2]
		return created(old)
	case "ZINCRBY":
		m := &s.zset[at(args[3])]
		n, _ := strconv.Atoi(strings.TrimPrefix(*m, "="))
		*m = fmt.Sprint("=", n+1)
		return bulkOf(*m)
	case "ZREM":
		m := &s.zset[at(args[2])]
		old := *m
		*m = ""
		return deleted(old)
	}
	panic("the model does not know " + args[0])
}

// ranked lists members and scores by score.
func (s *shelf) ranked() (all []string) {
	order := []int{0, 1, 2, 3}
	score := func(i int) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(s.zset[i], "="))
		return n
	}
	slices.SortStableFunc(order, func(a, b int) int { return score(a) - score(b) })
	for _, i := range order {
		if v := s.zset[i]; v != "" {
			all = append(all, strconv.Quote(fmt.Sprint("m", i)), strconv.Quote(v[1:]))
		}
	}
	return all
}

func shelfModel() porcupine.Model {
	m := wholeModel()
	m.Init = func() any { return shelf{} }
	m.Step = func(state, in, out any) (bool, any) {
		s, r := state.(shelf), out.(result)
		reply := s.apply(in.(call))
		return r.unknown || r.reply == reply, s
	}
	m.DescribeState = func(state any) string { return fmt.Sprintf("%v", state) }
	return m
}

// shelfLoad: few clients with the commands of one type.
func shelfLoad(generate func(r *rand.Rand) call) *load {
	const clients = 5
	return &load{clients: clients, ops: 80 / clients, depth: 2, leaving: 60, model: shelfModel(), generate: generate}
}

// shelfLoads are the loads by what they are about.
var shelfLoads = map[string]func(r *rand.Rand) call{
	"hash": func(r *rand.Rand) call {
		field, value := fmt.Sprint("f", r.IntN(4)), strconv.Itoa(r.IntN(1000))
		return [...]call{
			{"HSET", "h0", field, value}, {"HSETNX", "h0", field, value}, {"HINCRBY", "h0", field, "1"}, {"HINCRBY", "h0", field, "1"},
			{"HDEL", "h0", field}, {"HGET", "h0", field}, {"HGETALL", "h0"}, {"HLEN", "h0"},
		}[r.IntN(8)]
	},
	"queue": func(r *rand.Rand) call {
		value := strconv.Itoa(r.IntN(1000))
		return [...]call{
			{"LPUSH", "l0", value}, {"LPUSH", "l0", value}, {"RPOP", "l0"}, {"LMOVE", "l0", "l1", "RIGHT", "LEFT"},
			{"LMOVE", "l1", "l0", "RIGHT", "LEFT"}, {"LRANGE", "l0", "0", "-1"}, {"LRANGE", "l1", "0", "-1"}, {"RPOP", "l1"},
		}[r.IntN(8)]
	},
	"sets": func(r *rand.Rand) call {
		member, key := fmt.Sprint("m", r.IntN(8)), fmt.Sprint("s", r.IntN(2))
		other := fmt.Sprint("s", 1-at(key))
		to := fmt.Sprint("s", 2+r.IntN(2))
		return [...]call{
			{"SADD", key, member}, {"SADD", key, member}, {"SREM", key, member}, {"SMOVE", key, other, member}, {"SMOVE", key, other, member},
			{"SUNIONSTORE", to, key, other}, {"SINTERSTORE", to, key, other}, {"SDIFFSTORE", to, key, other}, {"SUNIONSTORE", key, key, to},
			{"SMEMBERS", to}, {"SUNION", key, other}, {"SDIFF", key, other}, {"SCARD", to},
		}[r.IntN(13)]
	},
	"scores": func(r *rand.Rand) call {
		member, score := fmt.Sprint("m", r.IntN(4)), strconv.Itoa(1+r.IntN(9))
		return [...]call{
			{"ZADD", "z0", score, member}, {"ZADD", "z0", score, member}, {"ZINCRBY", "z0", "1", member}, {"ZREM", "z0", member},
			{"ZPOPMIN", "z0"}, {"ZRANGE", "z0", "0", "-1", "WITHSCORES"}, {"ZRANGE", "z0", "0", "-1", "WITHSCORES"},
		}[r.IntN(7)]
	},
}

// TestLinearValues: the same as TestLinearKeyspace for the elements of values,
// and for set algebra whose result is stored: its instant is that of the freeze,
// and nobody sees the destination before the result is in it.
func TestLinearValues(t *testing.T) {
	servers := map[string]string{
		"usual": startFirn(t, buildFirn(t), historyOptions(8)...),
		"aside": faultyAside(t, "", historyOptions(8)...),
	}
	for name, addr := range servers {
		for what, generate := range shelfLoads {
			t.Run(what+", "+name, func(t *testing.T) { requireLinear(t, shelfLoad(generate), addr, 2*time.Second) })
		}
	}
}
