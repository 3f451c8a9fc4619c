package commands

import (
	"cmp"
	"slices"

	"firn/mvcc"
)

// A geoFound is a place that a search has found. The member's bytes are the
// view's.
type geoFound struct {
	member []byte
	score  float64
	dist   float64 // from the center, in metres
}

// geoView is a search whose result is the reply.
func geoView(form *geoForm) OnView {
	return func(c *Call, v *mvcc.View) error {
		q, err := newGeoQuery(c, v, form)
		if err != nil {
			return err
		}
		q.reply(c, q.search(c, v))
		return nil
	}
}

// geoStore is a search whose result may be stored.
func geoStore(form *geoForm) OnStore {
	return func(c *Call, v *mvcc.View) (func(*mvcc.Tx) error, error) {
		q, err := newGeoQuery(c, v, form)
		if err != nil {
			return nil, err
		}
		found := q.search(c, v)
		if q.dest == nil {
			q.reply(c, found)
			return nil, nil
		}
		return q.store(c, v, found), nil
	}
}

// newGeoQuery looks the sorted set up and reads the command, unless the cost of
// it was asked for: then that has been done on this very view.
func newGeoQuery(c *Call, v *mvcc.View, form *geoForm) (q *geoQuery, err error) {
	zset, found, err := readZSet(v, c.Args[form.key])
	if err != nil {
		return nil, err
	}
	if c.geo != nil && !v.Frozen() {
		return c.geo, nil
	}
	q = &geoQuery{form: form, zset: zset, found: found}
	return q, q.parse(c)
}

const (
	geoPerUnit    = 4   // places that are looked at in a microsecond, at least
	geoSmall      = 800 // members of a sorted set that is searched at once
	geoAnyOverrun = 4   // places looked at for one that is found, when any will do
	geoRoom       = 32  // places that there is room for at first
)

// geoCost counts the members in the boxes to be searched.
func geoCost(form *geoForm) Cost {
	return func(c *Call, v *mvcc.View) int {
		e, ok := v.Peek(c.Args[form.key])
		if !ok || e.Type() != mvcc.ZSet || e.Count() <= geoSmall {
			return 0
		}
		q := &geoQuery{form: form, zset: e.ZSet(v.Now), found: true}
		if q.parse(c) != nil {
			return 0
		}
		q.plan()
		c.geo = q
		n := q.candidates
		if q.any {
			n = int(min(int64(n), q.count*geoAnyOverrun))
		}
		return n / geoPerUnit
	}
}

// A geoSpan is the members from a rank on whose scores are less than an end.
type geoSpan struct {
	rank int
	end  float64
}

// plan finds the spans of the sorted set to be searched, those with nothing in
// them left out.
func (q *geoQuery) plan() {
	boxes := q.shape.cover()
	q.spans = make([]geoSpan, 0, len(boxes))
	last := 0
	for i, b := range boxes {
		// When the shape is about as large as the world, a box may come twice.
		if b == (geoBox{}) || last > 0 && b == boxes[last] {
			continue
		}
		last = i
		from, to := b.scores()
		lo, hi := q.zset.RankOfScore(from, false), q.zset.RankOfScore(to, false)
		if lo < hi {
			q.spans = append(q.spans, geoSpan{lo, to})
			q.candidates += hi - lo
		}
	}
}

// search finds the places, in the order that is asked for.
func (q *geoQuery) search(c *Call, v *mvcc.View) []geoFound {
	if !q.found {
		return nil
	}
	if q.spans == nil {
		q.plan()
	}
	if q.candidates == 0 {
		return nil
	}
	s := geoScan{q: q, in: q.shape.search(), found: make([]geoFound, 0, min(q.candidates, geoRoom))}
	if v.Frozen() {
		s.call = c // the places may stay where they are for as long as it takes
	}
	for i := 0; i < len(q.spans) && !s.full(); i++ {
		s.span(q.spans[i])
	}
	return q.sorted(s.found)
}

// A geoScan collects places.
type geoScan struct {
	q     *geoQuery
	in    geoSearch
	call  *Call // to pause; nil: never
	seen  int
	found []geoFound
}

func (s *geoScan) full() bool { return s.q.any && int64(len(s.found)) >= s.q.count }

// span adds the places of a span that lie in the shape.
func (s *geoScan) span(span geoSpan) {
	s.q.zset.Ascend(span.rank, func(member []byte, score float64) bool {
		if score >= span.end {
			return false
		}
		s.seen++
		if s.call != nil {
			s.call.pauseAt(s.seen)
		}
		if d, ok := s.in.distance(geoPlace(score)); ok {
			s.found = append(s.found, geoFound{member, score, d})
		}
		return !s.full()
	})
}

// A geoRank stands for a place while they are sorted.
type geoRank struct {
	dist float64
	i    int // in the order in which they were found
}

func nearer(a, b *geoRank) int  { return cmp.Compare(a.dist, b.dist) }
func farther(a, b *geoRank) int { return cmp.Compare(b.dist, a.dist) }

// sorted orders the places, and leaves as many as are wanted.
func (q *geoQuery) sorted(found []geoFound) []geoFound {
	n := len(found)
	if q.count > 0 {
		n = int(min(int64(n), q.count))
	}
	if q.order == geoUnordered {
		return found[:n]
	}
	compare := nearer
	if q.order == geoFarthest {
		compare = farther
	}
	ranks := make([]geoRank, len(found))
	for i := range found {
		ranks[i] = geoRank{found[i].dist, i}
	}
	if n < len(found) {
		partialSort(ranks, 0, n, compare)
	} else if q.order == geoNearest {
		slices.SortFunc(ranks, func(a, b geoRank) int { return cmp.Or(cmp.Compare(a.dist, b.dist), a.i-b.i) })
	} else {
		slices.SortFunc(ranks, func(a, b geoRank) int { return cmp.Or(cmp.Compare(b.dist, a.dist), a.i-b.i) })
	}
	all := make([]geoFound, n)
	for i := range all {
		all[i] = found[ranks[i].i]
	}
	return all
}

func (q *geoQuery) reply(c *Call, found []geoFound) {
	extra := toInt(q.withDist) + toInt(q.withHash) + toInt(q.withCoord)
	c.Out.Array(len(found))
	for i := range found {
		f := &found[i]
		if extra > 0 {
			c.Out.Array(int(extra) + 1)
		}
		c.Out.Bulk(f.member)
		if q.withDist {
			c.replyDistance(f.dist / q.shape.unit)
		}
		if q.withHash {
			c.Out.Int(scoreInt(f.score))
		}
		if q.withCoord {
			c.replyPlace(geoPlace(f.score))
		}
		c.Out.Spill()
	}
}

// store makes a sorted set of the places.
func (q *geoQuery) store(c *Call, v *mvcc.View, found []geoFound) func(*mvcc.Tx) error {
	if len(found) == 0 {
		return deleteDest(c, q.dest)
	}
	w := mvcc.NewZSet(v.Space())
	for i := range found {
		score := found[i].score
		if q.storeDist {
			score = found[i].dist / q.shape.unit
		}
		w.Set(found[i].member, score+0) // as in storeAlgebra
		c.pauseAt(i)
	}
	if c.ByResult {
		tellZSet(c, q.dest, w.Value())
	}
	event, n := "georadiusstore", int64(len(found))
	if q.form.free() {
		event = "geosearchstore"
	}
	return func(tx *mvcc.Tx) error {
		tx.Expire(q.dest)
		tx.PutValue(q.dest, w, 0)
		tx.Changes += n - 1
		c.Notify('z', event, q.dest)
		c.Out.Int(n)
		return nil
	}
}
