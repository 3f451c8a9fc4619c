package commands

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"firn/mvcc"
)

var zsetopCommands = []Command{
	{Name: "ZUNION", Arity: -3, Keys: numberedKeys(1), Run: OnView(zunion), Cost: zalgebraCost(1), Summary: "Add multiple sorted sets"},
	{Name: "ZINTER", Arity: -3, Keys: numberedKeys(1), Run: OnView(zinter), Cost: zalgebraCost(1), Summary: "Intersect multiple sorted sets"},
	{Name: "ZINTERCARD", Arity: -3, Keys: numberedKeys(1), Run: OnView(zintercard), Cost: zalgebraCost(1), Summary: "Intersect multiple sorted sets and return the cardinality of the result"},
	{Name: "ZDIFF", Arity: -3, Keys: numberedKeys(1), Run: OnView(zdiff), Cost: zalgebraCost(1), Summary: "Subtract multiple sorted sets"},

	{Name: "ZUNIONSTORE", Arity: -4, Keys: numberedKeys(2, 1), Dest: oneKey, Run: OnStore(zunionstore), Cost: zalgebraCost(2), Flags: DenyOOM, Summary: "Add multiple sorted sets and store the resulting sorted set in a new key"},
	{Name: "ZINTERSTORE", Arity: -4, Keys: numberedKeys(2, 1), Dest: oneKey, Run: OnStore(zinterstore), Cost: zalgebraCost(2), Flags: DenyOOM, Summary: "Intersect multiple sorted sets and store the resulting sorted set in a new key"},
	{Name: "ZDIFFSTORE", Arity: -4, Keys: numberedKeys(2, 1), Dest: oneKey, Run: OnStore(zdiffstore), Cost: zalgebraCost(2), Flags: DenyOOM, Summary: "Subtract multiple sorted sets and store the resulting sorted set in a new key"},
	{Name: "ZRANGESTORE", Arity: -5, Keys: twoKeys, Dest: oneKey, Run: OnStore(zrangestore), Cost: zrangestoreCost, Flags: DenyOOM, Summary: "Store a range of members from sorted set into another key"},
}

// numberedKeys are the keys whose number is the argument at, before them, and
// those at the other places, which are before it.
func numberedKeys(at int, others ...int) Keys {
	return Keys{Find: func(args [][]byte) []int {
		if at >= len(args) {
			return nil
		}
		all := slices.Clone(others)
		n := keyNumber(args, at)
		for i := range n {
			all = append(all, at+1+i)
		}
		return all
	}}
}

// keyNumber reads the number of keys that follow it; 0 if it is none, or they
// don't.
func keyNumber(args [][]byte, at int) int {
	n, ok := ParseInt(args[at])
	if !ok || n < 1 || n > int64(len(args)-at-1) {
		return 0
	}
	return int(n)
}

// A setOp is one of the three operations of set algebra.
type setOp byte

const (
	opUnion setOp = iota
	opInter
	opDiff
)

// A zalgebra is a parsed ZUNION or one of its kin.
type zalgebra struct {
	op         setOp
	card       bool // ZINTERCARD
	store      bool
	aggregate  func(a, b float64) float64
	withScores bool
	limit      int64 // of ZINTERCARD; 0: none
	sources    []zsource
}

// A zsource is one input: a sorted set, or a set, whose scores are all 1. Both
// empty, the key was not there.
type zsource struct {
	zset   *mvcc.ZSetValue
	set    *mvcc.SetValue
	size   int
	weight float64
}

// parse reads the command whose number of keys is argument at. Inputs are looked
// up before what follows them is read, as in Redis.
func (a *zalgebra) parse(c *Call, v *mvcc.View, at int) error {
	n, ok := ParseInt(c.Args[at])
	switch {
	case !ok:
		return ErrNotInteger
	case n < 1:
		return ErrNoInputKeys(c.Row.full)
	case n > int64(len(c.Args)-at-1):
		return ErrSyntax
	}
	a.aggregate = sumScores
	a.sources = make([]zsource, n)
	for i := range a.sources {
		s := &a.sources[i]
		if err := s.open(v, c.Args[at+1+i]); err != nil {
			return err
		}
		if s.expires() {
			c.ByResult = true // elsewhere its members may still be there
		}
	}
	for i := at + 1 + int(n); i < len(c.Args); {
		taken, err := a.option(c, i)
		if err != nil {
			return err
		}
		i += taken
	}
	return nil
}

func (s *zsource) open(v *mvcc.View, key []byte) error {
	s.weight = 1
	e, ok := v.Get(key)
	if !ok {
		return nil
	}
	switch e.Type() {
	case mvcc.ZSet:
		z := e.ZSet(v.Now)
		s.zset, s.size = &z, z.Len()
	case mvcc.Set:
		set := e.Set(v.Now)
		s.set, s.size = &set, set.Len()
	default:
		return ErrWrongType
	}
	return nil
}

// expires says whether members of the input expire.
func (s *zsource) expires() bool {
	return s.zset != nil && s.zset.HasExpiries() || s.set != nil && s.set.HasExpiries()
}

// option reads the option at argument i and returns how many arguments it has
// with its own.
func (a *zalgebra) option(c *Call, i int) (taken int, err error) {
	folds, rest := a.op != opDiff && !a.card, len(c.Args)-i
	switch {
	case folds && rest > len(a.sources) && c.Is(i, "WEIGHTS"):
		return 1 + len(a.sources), a.parseWeights(c.Args[i+1:])
	case folds && rest >= 2 && c.Is(i, "AGGREGATE"):
		return 2, a.parseAggregate(c, i+1)
	case !a.store && !a.card && c.Is(i, "WITHSCORES"):
		a.withScores = true
		return 1, nil
	case a.card && rest >= 2 && c.Is(i, "LIMIT"):
		n, ok := ParseInt(c.Args[i+1])
		if !ok || n < 0 {
			return 0, ErrLimitNegative
		}
		a.limit = n
		return 2, nil
	}
	return 0, ErrSyntax
}

func (a *zalgebra) parseWeights(args [][]byte) error {
	for i := range a.sources {
		w, ok := parseScore(args[i])
		if !ok {
			return ErrWeight
		}
		a.sources[i].weight = w
	}
	return nil
}

func (a *zalgebra) parseAggregate(c *Call, i int) error {
	switch {
	case c.Is(i, "SUM"):
		a.aggregate = sumScores
	case c.Is(i, "MIN"):
		a.aggregate = minScore
	case c.Is(i, "MAX"):
		a.aggregate = maxScore
	default:
		return ErrSyntax
	}
	return nil
}

// sumScores makes of inf and -inf 0, as Redis does (reports J7).
func sumScores(a, b float64) float64 {
	if sum := a + b; !math.IsNaN(sum) {
		return sum
	}
	return 0
}

func minScore(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

func maxScore(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

// run yields the result in the order of positions. Scores are folded in Redis'
// order of the inputs, from the smallest to the largest: with infinities it
// matters (reports J8).
func (a *zalgebra) run(c *Call, yield func(member []byte, score float64) bool) {
	if a.op != opDiff {
		slices.SortStableFunc(a.sources, func(x, y zsource) int { return cmp.Compare(x.size, y.size) })
	}
	m := zmerge{c: c, zalgebra: a, yield: yield}
	m.open()
	switch a.op {
	case opUnion:
		m.union()
	case opInter:
		m.inter()
	case opDiff:
		m.diff()
	}
}

// A scored is an element of a result that is kept; its member lies in the
// arena that the elements share.
type scored struct {
	score    float64
	from, to uint32
	chunk    uint32
}

// A zresult keeps the result of an operation until it can be sorted.
type zresult struct {
	all    []scored
	chunks [][]byte
}

// resultChunk is the size of the pieces that members are kept in.
const resultChunk = 1 << 20

func (r *zresult) add(member []byte, score float64) {
	last := len(r.chunks) - 1
	if last < 0 || cap(r.chunks[last])-len(r.chunks[last]) < len(member) {
		size := resultChunk
		if last < 0 {
			size = 1 << 10
		}
		r.chunks = append(r.chunks, make([]byte, 0, max(size, len(member))))
		last++
	}
	from := len(r.chunks[last])
	r.chunks[last] = append(r.chunks[last], member...)
	r.all = append(r.all, scored{score, uint32(from), uint32(from + len(member)), uint32(last)})
}

func (r *zresult) member(s *scored) []byte { return r.chunks[s.chunk][s.from:s.to] }

// sort orders the elements as a sorted set does.
func (r *zresult) sort(c *Call) {
	compared := 0
	slices.SortFunc(r.all, func(x, y scored) int {
		c.pauseAt(compared)
		compared++
		switch {
		case x.score < y.score:
			return -1
		case x.score > y.score:
			return 1
		}
		return bytes.Compare(r.member(&x), r.member(&y))
	})
}

func zunion(c *Call, v *mvcc.View) error { return replyAlgebra(c, v, opUnion) }

func zinter(c *Call, v *mvcc.View) error { return replyAlgebra(c, v, opInter) }

func zdiff(c *Call, v *mvcc.View) error { return replyAlgebra(c, v, opDiff) }

func replyAlgebra(c *Call, v *mvcc.View, op setOp) error {
	a := zalgebra{op: op}
	if err := a.parse(c, v, 1); err != nil {
		return err
	}
	var r zresult
	a.run(c, func(member []byte, score float64) bool {
		r.add(member, score)
		return true
	})
	r.sort(c)
	c.beginScored(len(r.all), a.withScores)
	i := 0
	for j := range r.all {
		c.replyScored(r.member(&r.all[j]), r.all[j].score, a.withScores)
		c.listed(&i)
	}
	return nil
}

func zintercard(c *Call, v *mvcc.View) error {
	a := zalgebra{op: opInter, card: true}
	if err := a.parse(c, v, 1); err != nil {
		return err
	}
	n := int64(0)
	a.run(c, func([]byte, float64) bool {
		n++
		return n != a.limit
	})
	c.Out.Int(n)
	return nil
}

// zalgebraCost counts the elements of all inputs.
func zalgebraCost(at int) Cost {
	return func(c *Call, v *mvcc.View) int {
		n := keyNumber(c.Args, at)
		total := n
		for _, key := range c.Args[at+1 : at+1+n] {
			if e, ok := v.Peek(key); ok && (e.Type() == mvcc.ZSet || e.Type() == mvcc.Set) {
				total += e.Count()
			}
		}
		return total
	}
}
