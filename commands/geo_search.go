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
	at     geoPoint
	dist   float64 // from the center, in metres
	score  float64
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

func newGeoQuery(c *Call, v *mvcc.View, form *geoForm) (*geoQuery, error) {
	q := &geoQuery{form: form}
	var err error
	if q.zset, q.found, err = readZSet(v, c.Args[form.key]); err != nil {
		return nil, err
	}
	return q, q.parse(c)
}

const (
	geoPerUnit    = 4   // places that are looked at in a microsecond, at least
	geoSmall      = 800 // members of a sorted set that is searched at once
	geoAnyOverrun = 4   // places looked at for one that is found, when any will do
)

// geoCost counts the members in the boxes to be searched.
func geoCost(form *geoForm) Cost {
	return func(c *Call, v *mvcc.View) int {
		q := geoQuery{form: form}
		e, ok := v.Peek(c.Args[form.key])
		if !ok || e.Type() != mvcc.ZSet || e.Count() <= geoSmall {
			return 0
		}
		q.zset, q.found = e.ZSet(v.Now), true
		if q.parse(c) != nil {
			return 0
		}
		n := 0
		cover := q.shape.cover()
		cover.each(func(b geoBox) bool {
			from, to := b.scores()
			n += q.zset.RankOfScore(to, false) - q.zset.RankOfScore(from, false)
			return true
		})
		if q.any {
			n = int(min(int64(n), q.count*geoAnyOverrun))
		}
		return n / geoPerUnit
	}
}

// search finds the places, in the order that is asked for.
func (q *geoQuery) search(c *Call, v *mvcc.View) []geoFound {
	if !q.found {
		return nil
	}
	s := geoScan{q: q, in: q.shape.search()}
	if v.Frozen() {
		s.call = c // the places may stay where they are for as long as it takes
	}
	cover := q.shape.cover()
	cover.each(func(b geoBox) bool {
		if s.full() {
			return false
		}
		s.box(b)
		return true
	})
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

// box adds the places of a box that lie in the shape.
func (s *geoScan) box(b geoBox) {
	from, to := b.scores()
	z := &s.q.zset
	z.Ascend(z.RankOfScore(from, false), func(member []byte, score float64) bool {
		if score >= to {
			return false
		}
		s.seen++
		if s.call != nil {
			s.call.pauseAt(s.seen)
		}
		at := geoPlace(score)
		if d, ok := s.in.distance(at); ok {
			s.found = append(s.found, geoFound{member, at, d, score})
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
			c.replyPlace(f.at)
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
		w.Set(found[i].member, score)
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
