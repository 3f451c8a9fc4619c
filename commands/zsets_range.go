package commands

import "firn/mvcc"

// A rangeKind says what the two ends of a range of a sorted set are.
type rangeKind byte

const (
	byAny rangeKind = iota // ranks, if no option says otherwise
	byRank
	byScore
	byLex
)

// A zspan is a part of a sorted set, given by ranks, scores or members. Whatever
// it is, it is turned into ranks, which the trees find and count without going
// through the elements.
type zspan struct {
	kind             rangeKind
	start, end       int64 // ranks, both inside; negative ones count from the end
	min, max         scoreBound
	lexMin, lexMax   lexBound
	reverse          bool // from the last element back
	offset, mostWant int64
}

// parse reads the two ends.
func (s *zspan) parse(min, max []byte) error {
	var ok, ok2 bool
	switch s.kind {
	case byScore:
		s.min, ok = parseScoreBound(min)
		s.max, ok2 = parseScoreBound(max)
		if !ok || !ok2 {
			return ErrScoreRange
		}
	case byLex:
		s.lexMin, ok = parseLexBound(min)
		s.lexMax, ok2 = parseLexBound(max)
		if !ok || !ok2 {
			return ErrLexRange
		}
	default:
		s.start, ok = ParseInt(min)
		s.end, ok2 = ParseInt(max)
		if !ok || !ok2 {
			return ErrNotInteger
		}
	}
	return nil
}

// ranks returns the ranks [lo, hi) that the span and its limit take in.
func (s *zspan) ranks(z *mvcc.ZSetValue) (lo, hi int) {
	switch s.kind {
	case byScore:
		lo = z.RankOfScore(s.min.score, s.min.open)
		hi = z.RankOfScore(s.max.score, !s.max.open)
	case byLex:
		lo = s.lexMin.rank(z, s.lexMin.open)
		hi = s.lexMax.rank(z, !s.lexMax.open)
	default:
		return s.byRank(z.Len())
	}
	if lo >= hi {
		return 0, 0
	}
	return s.limit(lo, hi)
}

// rank returns how many members are before the bound, or before and at it.
func (b *lexBound) rank(z *mvcc.ZSetValue, after bool) int {
	switch {
	case b.end < 0:
		return 0
	case b.end > 0:
		return z.Len()
	}
	return z.RankOfLex(b.member, after)
}

func (s *zspan) byRank(size int) (lo, hi int) {
	n := int64(size)
	start, end := s.start, s.end
	if start < 0 {
		start = max(start+n, 0)
	}
	if end < 0 {
		end += n
	}
	end = min(end, n-1)
	if start > end {
		return 0, 0
	}
	if s.reverse {
		start, end = n-1-end, n-1-start
	}
	return int(start), int(end) + 1
}

// limit is LIMIT: a negative offset leaves nothing, a negative count takes all.
func (s *zspan) limit(lo, hi int) (int, int) {
	n := int64(hi - lo)
	if s.offset < 0 || s.offset >= n {
		return 0, 0
	}
	n -= s.offset
	if s.mostWant >= 0 {
		n = min(n, s.mostWant)
	}
	if s.reverse {
		hi -= int(s.offset)
		return hi - int(n), hi
	}
	lo += int(s.offset)
	return lo, lo + int(n)
}

// A zrangeForm is what the name of a command says of a range already.
type zrangeForm struct {
	at      int // of the key
	kind    rangeKind
	reverse bool
	fixed   bool // REV can't be said
	store   bool // WITHSCORES can't be said
}

var (
	revRange      = zrangeForm{at: 1, kind: byRank, reverse: true, fixed: true}
	scoreRange    = zrangeForm{at: 1, kind: byScore, fixed: true}
	revScoreRange = zrangeForm{at: 1, kind: byScore, reverse: true, fixed: true}
	lexRange      = zrangeForm{at: 1, kind: byLex, fixed: true}
	revLexRange   = zrangeForm{at: 1, kind: byLex, reverse: true, fixed: true}
)

// A zrangeCall is a parsed ZRANGE or one of its kin.
type zrangeCall struct {
	zspan
	withScores bool
}

func parseZrange(c *Call, f zrangeForm) (r zrangeCall, err error) {
	r.kind, r.reverse, r.mostWant = f.kind, f.reverse, -1
	for i := f.at + 3; i < len(c.Args); i++ {
		switch {
		case !f.store && c.Is(i, "WITHSCORES"):
			r.withScores = true
		case c.Is(i, "LIMIT") && i+2 < len(c.Args):
			if err := r.parseLimit(c.Args[i+1], c.Args[i+2]); err != nil {
				return r, err
			}
			i += 2
		case !f.fixed && !r.reverse && c.Is(i, "REV"):
			r.reverse = true
		case r.kind == byAny && c.Is(i, "BYLEX"):
			r.kind = byLex
		case r.kind == byAny && c.Is(i, "BYSCORE"):
			r.kind = byScore
		default:
			return r, ErrSyntax
		}
	}
	switch {
	case r.kind <= byRank && r.mostWant != -1:
		return r, ErrRangeLimit
	case r.kind == byLex && r.withScores:
		return r, ErrRangeScores
	}
	from, to := c.Args[f.at+1], c.Args[f.at+2]
	if r.reverse && r.kind > byRank {
		from, to = to, from
	}
	return r, r.parse(from, to)
}

func (s *zspan) parseLimit(offset, count []byte) error {
	var ok, ok2 bool
	s.offset, ok = ParseInt(offset)
	s.mostWant, ok2 = ParseInt(count)
	if !ok || !ok2 {
		return ErrNotInteger
	}
	return nil
}

func zrange(c *Call, v *mvcc.View) error           { return replySpan(c, v, zrangeForm{at: 1}) }
func zrevrange(c *Call, v *mvcc.View) error        { return replySpan(c, v, revRange) }
func zrangeByScore(c *Call, v *mvcc.View) error    { return replySpan(c, v, scoreRange) }
func zrevrangeByScore(c *Call, v *mvcc.View) error { return replySpan(c, v, revScoreRange) }
func zrangeByLex(c *Call, v *mvcc.View) error      { return replySpan(c, v, lexRange) }
func zrevrangeByLex(c *Call, v *mvcc.View) error   { return replySpan(c, v, revLexRange) }

func replySpan(c *Call, v *mvcc.View, f zrangeForm) error {
	r, err := parseZrange(c, f)
	if err != nil {
		return err
	}
	z, ok, err := readZSet(v, c.Args[f.at])
	if err != nil {
		return err
	}
	lo, hi := 0, 0
	if ok {
		lo, hi = r.ranks(&z)
	}
	c.beginScored(countRanks(&z, lo, hi), r.withScores)
	i := 0
	eachRank(&z, lo, hi, r.reverse, func(member []byte, score float64) {
		c.replyScored(member, score, r.withScores)
		c.listed(&i)
	})
	return nil
}

// eachRank yields the elements of the ranks [lo, hi), but for those that have
// expired.
func eachRank(z *mvcc.ZSetValue, lo, hi int, reverse bool, yield func(member []byte, score float64)) {
	if lo >= hi {
		return
	}
	if z.HasExpiries() {
		eachLiveRank(z, lo, hi, reverse, yield)
		return
	}
	n := hi - lo
	each := func(member []byte, score float64) bool {
		yield(member, score)
		n--
		return n > 0
	}
	if reverse {
		z.Descend(hi-1, each)
	} else {
		z.Ascend(lo, each)
	}
}

// eachLiveRank looks every rank up, because a walk passes over expired members
// without telling how many they were.
func eachLiveRank(z *mvcc.ZSetValue, lo, hi int, reverse bool, yield func(member []byte, score float64)) {
	for i := lo; i < hi; i++ {
		at := i
		if reverse {
			at = hi - 1 - (i - lo)
		}
		member, score := z.At(at)
		if _, live := z.Score(member); live {
			yield(member, score)
		}
	}
}

// countRanks is how many elements eachRank yields.
func countRanks(z *mvcc.ZSetValue, lo, hi int) (n int) {
	if lo >= hi || !z.HasExpiries() {
		return hi - lo
	}
	eachLiveRank(z, lo, hi, false, func([]byte, float64) { n++ })
	return n
}

// beginScored begins a reply of n members. With scores, RESP2 gets one flat
// array and RESP3 an array of pairs.
func (c *Call) beginScored(n int, scores bool) {
	if scores && c.Out.Proto() == RESP2 {
		n *= 2
	}
	c.Out.Array(n)
}

// replyScored appends an element of such a reply.
func (c *Call) replyScored(member []byte, score float64, scores bool) {
	if scores && c.Out.Proto() == RESP3 {
		c.Out.Array(2)
	}
	c.Out.Bulk(member)
	if scores {
		c.Out.Double(score)
	}
}

// scoredPerUnit is about how many elements of a range are replied in the time
// of a unit of Cost.
const scoredPerUnit = 8

// zrangeCost is about the number of elements that the range has.
func zrangeCost(f zrangeForm) Cost {
	return func(c *Call, v *mvcc.View) int {
		return spanCost(v, c.Args[f.at], func() (s zspan, ok bool) {
			r, err := parseZrange(c, f)
			return r.zspan, err == nil
		}) / scoredPerUnit
	}
}

// spanCost counts the elements of a span; of a small sorted set it doesn't
// matter.
func spanCost(v *mvcc.View, key []byte, parse func() (zspan, bool)) int {
	e, ok := v.Peek(key)
	if !ok || e.Type() != mvcc.ZSet || e.Count() < pauseEvery {
		return 0
	}
	s, ok := parse()
	if !ok {
		return 0
	}
	z := e.ZSet(v.Now)
	lo, hi := s.ranks(&z)
	return hi - lo
}

func zcount(c *Call, v *mvcc.View) error { return countSpan(c, v, byScore) }

func zlexcount(c *Call, v *mvcc.View) error { return countSpan(c, v, byLex) }

func countSpan(c *Call, v *mvcc.View, kind rangeKind) error {
	s, err := parseSpan(c, kind)
	if err != nil {
		return err
	}
	z, ok, err := readZSet(v, c.Args[1])
	if err != nil {
		return err
	}
	lo, hi := 0, 0
	if ok {
		lo, hi = s.ranks(&z)
	}
	c.Out.Int(int64(hi - lo))
	return nil
}

// parseSpan reads the ends that follow the key.
func parseSpan(c *Call, kind rangeKind) (zspan, error) {
	s := zspan{kind: kind, mostWant: -1}
	return s, s.parse(c.Args[2], c.Args[3])
}

func zremrangeByRank(c *Call, tx *mvcc.Tx) error {
	return removeSpan(c, tx, byRank, "zremrangebyrank")
}

func zremrangeByScore(c *Call, tx *mvcc.Tx) error {
	return removeSpan(c, tx, byScore, "zremrangebyscore")
}

func zremrangeByLex(c *Call, tx *mvcc.Tx) error {
	return removeSpan(c, tx, byLex, "zremrangebylex")
}

func removeSpan(c *Call, tx *mvcc.Tx, kind rangeKind, event string) error {
	s, err := parseSpan(c, kind)
	if err != nil {
		return err
	}
	_, ok, err := lookupZSet(tx, c.Args[1])
	if err != nil {
		return err
	}
	n := 0
	if ok {
		w := tx.WriteZSet(c.Args[1])
		z := w.Value()
		lo, hi := s.ranks(&z)
		n = hi - lo
		left := w.Len() - n
		removeRanks(c, tx, w, c.Args[1], lo, hi)
		if n > 0 {
			c.notifyRemoval(event, c.Args[1], left)
		}
	}
	c.Out.Int(int64(n))
	return nil
}

func zremrangeCost(kind rangeKind) Cost {
	return func(c *Call, v *mvcc.View) int {
		return spanCost(v, c.Args[1], func() (zspan, bool) {
			s, err := parseSpan(c, kind)
			return s, err == nil
		})
	}
}
