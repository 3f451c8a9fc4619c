package commands

import (
	"math"

	"firn/mvcc"
)

var zsetCommands = []Command{
	{Name: "ZCARD", Arity: 2, Keys: oneKey, Run: OnView(zcard), Summary: "Get the number of members in a sorted set"},
	{Name: "ZSCORE", Arity: 3, Keys: oneKey, Member: 2, Run: OnView(zscore), Summary: "Get the score associated with the given member in a sorted set"},
	{Name: "ZMSCORE", Arity: -3, Keys: oneKey, Member: 2, Run: OnView(zmscore), Cost: membersCost, Summary: "Get the score associated with the given members in a sorted set"},
	{Name: "ZRANK", Arity: -3, Keys: oneKey, Member: 2, Run: OnView(zrank), Summary: "Determine the index of a member in a sorted set"},
	{Name: "ZREVRANK", Arity: -3, Keys: oneKey, Member: 2, Run: OnView(zrevrank), Summary: "Determine the index of a member in a sorted set, with scores ordered from high to low"},
	{Name: "ZCOUNT", Arity: 4, Keys: oneKey, Run: OnView(zcount), Summary: "Count the members in a sorted set with scores within the given values"},
	{Name: "ZLEXCOUNT", Arity: 4, Keys: oneKey, Run: OnView(zlexcount), Summary: "Count the number of members in a sorted set between a given lexicographical range"},
	{Name: "ZRANGE", Arity: -4, Keys: oneKey, Run: OnView(zrange), Cost: zrangeCost(zrangeForm{at: 1}), Summary: "Return a range of members in a sorted set"},
	{Name: "ZREVRANGE", Arity: -4, Keys: oneKey, Run: OnView(zrevrange), Cost: zrangeCost(revRange), Summary: "Return a range of members in a sorted set, by index, with scores ordered from high to low"},
	{Name: "ZRANGEBYSCORE", Arity: -4, Keys: oneKey, Run: OnView(zrangeByScore), Cost: zrangeCost(scoreRange), Summary: "Return a range of members in a sorted set, by score"},
	{Name: "ZREVRANGEBYSCORE", Arity: -4, Keys: oneKey, Run: OnView(zrevrangeByScore), Cost: zrangeCost(revScoreRange), Summary: "Return a range of members in a sorted set, by score, with scores ordered from high to low"},
	{Name: "ZRANGEBYLEX", Arity: -4, Keys: oneKey, Run: OnView(zrangeByLex), Cost: zrangeCost(lexRange), Summary: "Return a range of members in a sorted set, by lexicographical range"},
	{Name: "ZREVRANGEBYLEX", Arity: -4, Keys: oneKey, Run: OnView(zrevrangeByLex), Cost: zrangeCost(revLexRange), Summary: "Return a range of members in a sorted set, by lexicographical range, ordered from higher to lower strings."},
	{Name: "ZRANDMEMBER", Arity: -2, Keys: oneKey, Run: OnView(zrandmember), Cost: sampleCost, Summary: "Get one or multiple random elements from a sorted set"},
	{Name: "ZSCAN", Arity: -3, Keys: oneKey, Run: OnView(zscan), Cost: scanMembersCost, Summary: "Incrementally iterate sorted sets elements and associated scores"},

	{Name: "ZADD", Arity: -4, Keys: oneKey, Member: 3, Run: OnOwner(zadd), Cost: pairsCost, Flags: DenyOOM, Summary: "Add one or more members to a sorted set, or update its score if it already exists"},
	{Name: "ZINCRBY", Arity: 4, Keys: oneKey, Member: 3, Run: OnOwner(zincrby), Flags: DenyOOM, Summary: "Increment the score of a member in a sorted set"},
	{Name: "ZREM", Arity: -3, Keys: oneKey, Member: 2, Run: OnOwner(zrem), Cost: membersCost, Summary: "Remove one or more members from a sorted set"},
	{Name: "ZREMRANGEBYRANK", Arity: 4, Keys: oneKey, Run: OnOwner(zremrangeByRank), Cost: zremrangeCost(byRank), Summary: "Remove all members in a sorted set within the given indexes"},
	{Name: "ZREMRANGEBYSCORE", Arity: 4, Keys: oneKey, Run: OnOwner(zremrangeByScore), Cost: zremrangeCost(byScore), Summary: "Remove all members in a sorted set within the given scores"},
	{Name: "ZREMRANGEBYLEX", Arity: 4, Keys: oneKey, Run: OnOwner(zremrangeByLex), Cost: zremrangeCost(byLex), Summary: "Remove all members in a sorted set between the given lexicographical range"},
	{Name: "ZPOPMIN", Arity: -2, Keys: oneKey, Run: OnOwner(zpopmin), Cost: zpopCost, Summary: "Remove and return members with the lowest scores in a sorted set"},
	{Name: "ZPOPMAX", Arity: -2, Keys: oneKey, Run: OnOwner(zpopmax), Cost: zpopCost, Summary: "Remove and return members with the highest scores in a sorted set"},
	{Name: "ZMPOP", Arity: -4, Keys: numberedKeys(1), Run: OnOwner(zmpop), Cost: zmpopCost, Summary: "Remove and return members with scores in a sorted set"},
}

// zsetOf is the sorted set of an entry that was looked up.
func zsetOf(v *mvcc.View, e *mvcc.Entry) (mvcc.ZSetValue, error) {
	if e.Type() != mvcc.ZSet {
		return mvcc.ZSetValue{}, ErrWrongType
	}
	return e.ZSet(v.Now), nil
}

// readZSet looks up the sorted set at a key as a read of it.
func readZSet(v *mvcc.View, key []byte) (z mvcc.ZSetValue, ok bool, err error) {
	e, ok := v.Get(key)
	if !ok {
		return z, false, nil
	}
	z, err = zsetOf(v, &e)
	return z, err == nil, err
}

// lookupZSet looks up the sorted set at a key that is about to be written.
func lookupZSet(tx *mvcc.Tx, key []byte) (z mvcc.ZSetValue, ok bool, err error) {
	e, ok := tx.Lookup(key)
	if !ok {
		return z, false, nil
	}
	z, err = zsetOf(&tx.View, &e)
	return z, err == nil, err
}

func zcard(c *Call, v *mvcc.View) error {
	z, ok, err := readZSet(v, c.Args[1])
	if err != nil {
		return err
	}
	n := 0
	if ok {
		n = z.Len()
	}
	c.Out.Int(int64(n))
	return nil
}

func zscore(c *Call, v *mvcc.View) error {
	z, ok, err := readZSet(v, c.Args[1])
	if err != nil {
		return err
	}
	c.replyScore(&z, ok, c.Args[2])
	return nil
}

// replyScore appends the score of a member; null if it, or the sorted set, is
// not there.
func (c *Call) replyScore(z *mvcc.ZSetValue, ok bool, member []byte) {
	if ok {
		if score, ok := z.Score(member); ok {
			c.Out.Double(score)
			return
		}
	}
	c.Out.Null()
}

func zmscore(c *Call, v *mvcc.View) error {
	z, ok, err := readZSet(v, c.Args[1])
	if err != nil {
		return err
	}
	c.Out.Array(len(c.Args) - 2)
	for i, member := range c.Args[2:] {
		c.pauseAt(i)
		c.replyScore(&z, ok, member)
		c.Out.Spill()
	}
	return nil
}

func zrank(c *Call, v *mvcc.View) error { return replyRank(c, v, false) }

func zrevrank(c *Call, v *mvcc.View) error { return replyRank(c, v, true) }

// replyRank is ZRANK and ZREVRANK, with the WITHSCORE of Redis 7.2.
func replyRank(c *Call, v *mvcc.View, reverse bool) error {
	withScore := len(c.Args) == 4
	switch {
	case len(c.Args) > 4:
		return ErrArity(c.Row.full)
	case withScore && !c.Is(3, "WITHSCORE"):
		return ErrSyntax
	}
	z, ok, err := readZSet(v, c.Args[1])
	if err != nil {
		return err
	}
	rank := 0
	if ok {
		rank, ok = z.Rank(c.Args[2])
	}
	switch {
	case !ok && withScore:
		c.Out.NullArray()
		return nil
	case !ok:
		c.Out.Null()
		return nil
	case reverse:
		rank = z.Len() - 1 - rank
	}
	if withScore {
		c.Out.Array(2)
	}
	c.Out.Int(int64(rank))
	if withScore {
		c.replyScore(&z, true, c.Args[2])
	}
	return nil
}

// zaddOptions are what stands before the scores in ZADD.
type zaddOptions struct {
	nx, xx, gt, lt bool
	ch, incr       bool
	pairs          int  // where the scores and members begin
	packed         bool // the sorted set keeps -0 as 0, as Redis' compact ones do
}

// parse reads the options and leaves pairs where they end.
func (o *zaddOptions) parse(c *Call) error {
	i := 2
	for i < len(c.Args) && o.take(c, i) {
		i++
	}
	o.pairs = i
	n := len(c.Args) - i
	switch {
	case n == 0 || n%2 != 0:
		return ErrSyntax
	case o.nx && o.xx:
		return ErrZaddNXAndXX
	case o.gt && o.nx || o.lt && o.nx || o.gt && o.lt:
		return ErrZaddGTLT
	case o.incr && n > 2:
		return ErrZaddIncr
	}
	return nil
}

// take says whether argument i is an option, and notes it.
func (o *zaddOptions) take(c *Call, i int) bool {
	switch {
	case c.Is(i, "NX"):
		o.nx = true
	case c.Is(i, "XX"):
		o.xx = true
	case c.Is(i, "GT"):
		o.gt = true
	case c.Is(i, "LT"):
		o.lt = true
	case c.Is(i, "CH"):
		o.ch = true
	case c.Is(i, "INCR"):
		o.incr = true
	default:
		return false
	}
	return true
}

// scores parses all scores, into room.
func (o *zaddOptions) scores(c *Call, room []float64) ([]float64, error) {
	for i := o.pairs; i < len(c.Args); i += 2 {
		score, ok := parseScore(c.Args[i])
		if !ok {
			return nil, ErrNotFloat
		}
		room = append(room, score)
	}
	return room, nil
}

func zadd(c *Call, tx *mvcc.Tx) error { return zaddWith(c, tx, zaddOptions{}) }

// zincrby takes ZADD's options where the increment should stand, as in Redis:
// they leave it without one, which is a syntax error.
func zincrby(c *Call, tx *mvcc.Tx) error { return zaddWith(c, tx, zaddOptions{incr: true}) }

func zaddWith(c *Call, tx *mvcc.Tx, o zaddOptions) error {
	if err := o.parse(c); err != nil {
		return err
	}
	var room [8]float64
	scores, err := o.scores(c, room[:0])
	if err != nil {
		return err
	}
	e, found := tx.Lookup(c.Args[1])
	if found && e.Type() != mvcc.ZSet {
		return ErrWrongType
	}
	o.packed = !found || e.EncodingName() == "listpack"
	sum := zaddSum{}
	if found || !o.xx {
		w := openZSet(tx, c.Args[1], &e, found)
		if sum, err = o.apply(c, w, scores); err != nil {
			return err
		}
	}
	o.reply(c, &sum)
	return nil
}

// A zaddSum is what a ZADD has done.
type zaddSum struct {
	added, changed int64
	processed      bool    // the last member was not passed over
	score          float64 // of the last member
}

// openZSet opens the sorted set that Lookup has found, or begins one.
func openZSet(tx *mvcc.Tx, key []byte, e *mvcc.Entry, found bool) *mvcc.ZSetWriter {
	if found {
		return tx.EditZSet(key, e)
	}
	return tx.WriteZSet(key)
}

func (o *zaddOptions) apply(c *Call, w *mvcc.ZSetWriter, scores []float64) (sum zaddSum, err error) {
	defer w.Close()
	for i, score := range scores {
		c.pauseAt(i)
		member := c.Args[o.pairs+2*i+1]
		if sum.score, sum.processed, err = o.decide(w, member, score); err != nil {
			return sum, err
		}
		if !sum.processed {
			continue
		}
		if score = sum.score; o.packed {
			score += 0
		}
		added, changed := w.Set(member, score)
		sum.added += toInt(added)
		sum.changed += toInt(changed && !added)
	}
	return sum, nil
}

// decide returns the score that the member must get, or false if it is to be
// passed over.
func (o *zaddOptions) decide(w *mvcc.ZSetWriter, member []byte, score float64) (float64, bool, error) {
	if !o.nx && !o.xx && !o.gt && !o.lt && !o.incr {
		return score, true, nil
	}
	old, found := w.Score(member)
	if !found {
		return score, !o.xx, nil
	}
	if o.nx {
		return 0, false, nil
	}
	if o.incr {
		if score += old; math.IsNaN(score) {
			return 0, false, ErrScoreNaN
		}
	}
	passed := o.gt && score <= old || o.lt && score >= old
	return score, !passed, nil
}

func (o *zaddOptions) reply(c *Call, sum *zaddSum) {
	if sum.added+sum.changed > 0 {
		event := "zadd"
		if o.incr {
			event = "zincr"
		}
		c.Notify('z', event, c.Args[1])
	}
	switch {
	case o.incr && !sum.processed:
		c.Out.Null()
	case o.incr:
		c.Out.Double(sum.score)
	case o.ch:
		c.Out.Int(sum.added + sum.changed)
	default:
		c.Out.Int(sum.added)
	}
}

func zrem(c *Call, tx *mvcc.Tx) error {
	_, ok, err := lookupZSet(tx, c.Args[1])
	if err != nil {
		return err
	}
	n := int64(0)
	if ok {
		n = removeMembers(c, tx)
	}
	c.Out.Int(n)
	return nil
}

func removeMembers(c *Call, tx *mvcc.Tx) (n int64) {
	w := tx.WriteZSet(c.Args[1])
	for i, member := range c.Args[2:] {
		c.pauseAt(i)
		if w.Remove(member) {
			n++
		}
		if w.Len() == 0 {
			break
		}
	}
	left := w.Len()
	w.Close()
	if n > 0 {
		c.notifyRemoval("zrem", c.Args[1], left)
	}
	return n
}

// notifyRemoval tells of members taken out of a sorted set, of which some are
// left, or none.
func (c *Call) notifyRemoval(event string, key []byte, left int) {
	c.Notify('z', event, key)
	if left == 0 {
		c.Notify('g', "del", key)
	}
}
