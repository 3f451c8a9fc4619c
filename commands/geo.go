package commands

import (
	"math"
	"strconv"

	"firn/mvcc"
)

var geoCommands = []Command{
	{Name: "GEOADD", Arity: -5, Keys: oneKey, Run: OnOwner(geoadd), Cost: triplesCost, Flags: DenyOOM,
		Summary: "Add one or more geospatial items in the geospatial index represented using a sorted set"},
	{Name: "GEOPOS", Arity: -2, Keys: oneKey, Run: OnView(geopos), Cost: membersCost,
		Summary: "Returns longitude and latitude of members of a geospatial index"},
	{Name: "GEOHASH", Arity: -2, Keys: oneKey, Run: OnView(geohash), Cost: membersCost,
		Summary: "Returns members of a geospatial index as standard geohash strings"},
	{Name: "GEODIST", Arity: -4, Keys: oneKey, Run: OnView(geodist),
		Summary: "Returns the distance between two members of a geospatial index"},
	{Name: "GEOSEARCH", Arity: -7, Keys: oneKey, Run: geoView(&formSearch), Cost: geoCost(&formSearch),
		Summary: "Query a sorted set representing a geospatial index to fetch members inside an area of a box or a circle."},
	{Name: "GEOSEARCHSTORE", Arity: -8, Keys: twoKeys, Dest: oneKey, Run: geoStore(&formSearchStore), Cost: geoCost(&formSearchStore), Flags: DenyOOM,
		Summary: "Query a sorted set representing a geospatial index to fetch members inside an area of a box or a circle, and store the result in another key."},
	{Name: "GEORADIUS", Arity: -6, Keys: Keys{Find: geoStoreKeys}, Dest: Keys{Find: geoDest}, Run: geoStore(&formRadius), Cost: geoCost(&formRadius), Flags: DenyOOM,
		Summary: "Query a sorted set representing a geospatial index to fetch members matching a given maximum distance from a point"},
	{Name: "GEORADIUS_RO", Arity: -6, Keys: oneKey, Run: geoView(&formRadiusRO), Cost: geoCost(&formRadiusRO),
		Summary: "A read-only variant for GEORADIUS"},
	{Name: "GEORADIUSBYMEMBER", Arity: -5, Keys: Keys{Find: geoStoreKeys}, Dest: Keys{Find: geoDest}, Run: geoStore(&formRadiusMember), Cost: geoCost(&formRadiusMember), Flags: DenyOOM,
		Summary: "Query a sorted set representing a geospatial index to fetch members matching a given maximum distance from a member"},
	{Name: "GEORADIUSBYMEMBER_RO", Arity: -5, Keys: oneKey, Run: geoView(&formRadiusMemberRO), Cost: geoCost(&formRadiusMemberRO),
		Summary: "A read-only variant for GEORADIUSBYMEMBER"},
}

func triplesCost(c *Call, _ *mvcc.View) int { return len(c.Args) / 3 }

// geoadd is ZADD of the places' scores, and that is also its effect.
func geoadd(c *Call, tx *mvcc.Tx) error {
	o := zaddOptions{pairs: 2}
	for o.pairs < len(c.Args) && (c.Is(o.pairs, "NX") || c.Is(o.pairs, "XX") || c.Is(o.pairs, "CH")) {
		o.take(c, o.pairs)
		o.pairs++
	}
	items := c.Args[o.pairs:]
	if len(items)%3 != 0 || len(items) == 0 || o.nx && o.xx {
		return ErrSyntax
	}
	var room [8]uint64
	scores := room[:0]
	for i := 0; i < len(items); i += 3 {
		p, err := parsePlace(items[i:])
		if err != nil {
			return err
		}
		scores = append(scores, geoWorld.encode(p, geoMaxStep).bits)
	}
	e, found := tx.Lookup(c.Args[1])
	if found && e.Type() != mvcc.ZSet {
		return ErrWrongType
	}
	var sum zaddSum
	if found || !o.xx {
		sum = o.applyPlaces(c, tx, items, scores)
	}
	if tx.Changes > 0 {
		o.tellPlaces(c, items, scores)
	}
	o.reply(c, &sum)
	return nil
}

func (o *zaddOptions) applyPlaces(c *Call, tx *mvcc.Tx, items [][]byte, scores []uint64) (sum zaddSum) {
	w := tx.WriteZSet(c.Args[1])
	defer w.Close()
	for i, score := range scores {
		c.pauseAt(i)
		member := items[3*i+2]
		if _, wanted, _ := o.decide(w, member, float64(score)); !wanted {
			continue
		}
		added, changed := w.Set(member, float64(score))
		sum.added += toInt(added)
		sum.changed += toInt(changed && !added)
	}
	return sum
}

func (o *zaddOptions) tellPlaces(c *Call, items [][]byte, scores []uint64) {
	args := make([][]byte, 0, o.pairs+2*len(scores))
	args = append(append(args, []byte("ZADD")), c.Args[1:o.pairs]...)
	for i, score := range scores {
		args = append(args, AppendInt(nil, int64(score)), items[3*i+2])
	}
	c.Propagate(args...)
}

// eachPlace replies an array with an element for each member that is asked for,
// which may be missing.
func (c *Call) eachPlace(v *mvcc.View, reply func(c *Call, p geoPoint, ok bool)) error {
	z, found, err := readZSet(v, c.Args[1])
	if err != nil {
		return err
	}
	c.Out.Array(len(c.Args) - 2)
	for i, member := range c.Args[2:] {
		c.pauseAt(i)
		score, ok := 0.0, false
		if found {
			score, ok = z.Score(member)
		}
		reply(c, geoPlace(score), ok)
		c.Out.Spill()
	}
	return nil
}

func geopos(c *Call, v *mvcc.View) error {
	return c.eachPlace(v, func(c *Call, p geoPoint, ok bool) {
		if !ok {
			c.Out.NullArray()
			return
		}
		c.replyPlace(p)
	})
}

func geohash(c *Call, v *mvcc.View) error {
	return c.eachPlace(v, func(c *Call, p geoPoint, ok bool) {
		if !ok {
			c.Out.Null()
			return
		}
		text := geoText(p)
		c.Out.Bulk(text[:])
	})
}

func geodist(c *Call, v *mvcc.View) error {
	unit := 1.0
	switch n := len(c.Args); {
	case n > 5:
		return ErrSyntax
	case n == 5:
		var err error
		if unit, err = parseUnit(c.Args[4]); err != nil {
			return err
		}
	}
	z, ok, err := readZSet(v, c.Args[1])
	if err != nil {
		return err
	}
	var a, b float64
	if ok {
		a, ok = z.Score(c.Args[2])
	}
	if ok {
		b, ok = z.Score(c.Args[3])
	}
	if !ok {
		c.Out.Null()
		return nil
	}
	from := originAt(geoPlace(a))
	c.replyDistance(from.distance(geoPlace(b)) / unit)
	return nil
}

// replyPlace appends a longitude and a latitude.
func (c *Call) replyPlace(p geoPoint) {
	c.Out.Array(2)
	c.Out.human(p.lon)
	c.Out.human(p.lat)
}

// human appends a double with up to 17 digits after the point, and never an
// exponent. RESP2 gets a string.
func (r *Reply) human(f float64) {
	var room [64]byte
	b := strconv.AppendFloat(room[:0], f, 'f', 17, 64)
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	if b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	if string(b) == "-0" {
		b = b[1:]
	}
	if r.proto != RESP3 {
		r.Bulk(b)
		return
	}
	r.buf = append(append(r.buf, ','), b...)
	r.crlf()
}

// replyDistance appends a distance as a string with four digits after the point.
func (c *Call) replyDistance(d float64) {
	const digits, scale = 4, 10_000
	v := scoreInt(math.RoundToEven(d * scale))
	var room [32]byte
	b := AppendInt(room[:0], v)
	for len(b) < digits+1 || b[0] == '-' && len(b) < digits+2 {
		at := int(toInt(b[0] == '-'))
		b = append(b[:at], append([]byte{'0'}, b[at:]...)...)
	}
	point := len(b) - digits
	b = append(b, 0)
	copy(b[point+1:], b[point:])
	b[point] = '.'
	c.Out.Bulk(b)
}
