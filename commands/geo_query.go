package commands

import "firn/mvcc"

// A geoForm says how one of the commands that search is written.
type geoForm struct {
	key      int  // the argument that is the sorted set's key
	options  int  // where the options begin
	coords   bool // GEORADIUS: longitude, latitude, radius and unit are fixed arguments
	member   bool // GEORADIUSBYMEMBER: member, radius and unit are
	readOnly bool // no STORE
	storing  bool // GEOSEARCHSTORE: the destination is the first argument
}

var (
	formRadius         = geoForm{key: 1, options: 6, coords: true}
	formRadiusRO       = geoForm{key: 1, options: 6, coords: true, readOnly: true}
	formRadiusMember   = geoForm{key: 1, options: 5, member: true}
	formRadiusMemberRO = geoForm{key: 1, options: 5, member: true, readOnly: true}
	formSearch         = geoForm{key: 1, options: 2}
	formSearchStore    = geoForm{key: 2, options: 3, storing: true}
)

// free says that center and shape are options.
func (f *geoForm) free() bool { return !f.coords && !f.member }

// geoOrder is the order of the places that are found.
type geoOrder int

const (
	geoUnordered geoOrder = iota
	geoNearest
	geoFarthest
)

// A geoQuery is what a search command asks for.
type geoQuery struct {
	form     *geoForm
	zset     mvcc.ZSetValue
	found    bool // the sorted set is there
	shape    geoShape
	centered bool // by FROMLONLAT
	byMember bool
	shaped   bool // by BYRADIUS or BYBOX

	withDist, withHash, withCoord bool
	order                         geoOrder
	count                         int64 // 0: all
	any                           bool  // any so many will do

	dest      []byte // nil: the places are the reply
	storeDist bool

	spans      []geoSpan // to be searched; nil: not known yet
	candidates int       // members in them
}

// parse reads a command, the sorted set being looked up already. The order of
// the checks is Redis'.
func (q *geoQuery) parse(c *Call) error {
	if err := q.fixed(c); err != nil {
		return err
	}
	for i := q.form.options; i < len(c.Args); {
		n, err := q.option(c, i)
		if err != nil {
			return err
		}
		i += n
	}
	if err := q.check(c); err != nil {
		return err
	}
	if q.count > 0 && q.order == geoUnordered && !q.any {
		q.order = geoNearest
	}
	return nil
}

// fixed reads what stands before the options.
func (q *geoQuery) fixed(c *Call) (err error) {
	switch f := q.form; {
	case f.storing:
		q.dest = c.Args[1]
	case f.coords:
		if q.shape.center, err = parsePlace(c.Args[2:]); err != nil {
			return err
		}
		return q.shape.parseRadius(c.Args[4:])
	case f.member && q.found:
		if err = q.from(c.Args[2]); err != nil {
			return err
		}
		return q.shape.parseRadius(c.Args[3:])
	}
	return nil
}

// from makes a member the center.
func (q *geoQuery) from(member []byte) error {
	score, ok := q.zset.Score(member)
	if !ok {
		return ErrGeoMember
	}
	q.shape.center = geoPlace(score)
	return nil
}

// option reads the option at argument i and returns how many arguments it takes.
func (q *geoQuery) option(c *Call, i int) (int, error) {
	more := len(c.Args) - i - 1
	switch {
	case c.Is(i, "WITHDIST"):
		q.withDist = true
	case c.Is(i, "WITHHASH"):
		q.withHash = true
	case c.Is(i, "WITHCOORD"):
		q.withCoord = true
	case c.Is(i, "ANY"):
		q.any = true
	case c.Is(i, "ASC"):
		q.order = geoNearest
	case c.Is(i, "DESC"):
		q.order = geoFarthest
	case c.Is(i, "COUNT") && more > 0:
		return 2, q.parseCount(c.Args[i+1])
	case q.form.free():
		return q.freeOption(c, i, more)
	case (c.Is(i, "STORE") || c.Is(i, "STOREDIST")) && more > 0 && !q.form.readOnly:
		q.dest, q.storeDist = c.Args[i+1], c.Is(i, "STOREDIST")
		return 2, nil
	default:
		return 0, ErrSyntax
	}
	return 1, nil
}

func (q *geoQuery) parseCount(arg []byte) error {
	n, ok := ParseInt(arg)
	switch {
	case !ok:
		return ErrNotInteger
	case n <= 0:
		return ErrGeoCount
	}
	q.count = n
	return nil
}

// freeOption reads an option of GEOSEARCH and GEOSEARCHSTORE.
func (q *geoQuery) freeOption(c *Call, i, more int) (n int, err error) {
	args, s := c.Args[i+1:], &q.shape
	switch {
	case c.Is(i, "STOREDIST") && q.form.storing:
		q.storeDist = true
		return 1, nil
	case c.Is(i, "FROMMEMBER") && more >= 1 && !q.centered:
		q.byMember = true
		if q.found {
			err = q.from(args[0])
		}
		return 2, err
	case c.Is(i, "FROMLONLAT") && more >= 2 && !q.byMember:
		q.centered = true
		s.center, err = parsePlace(args)
		return 3, err
	case c.Is(i, "BYRADIUS") && more >= 2 && !s.box:
		q.shaped = true
		return 3, s.parseRadius(args)
	case c.Is(i, "BYBOX") && more >= 3 && (s.box || !q.shaped):
		q.shaped, s.box = true, true
		return 4, s.parseBox(args)
	}
	return 0, ErrSyntax
}

func (q *geoQuery) check(c *Call) error {
	switch {
	case q.dest != nil && (q.withDist || q.withHash || q.withCoord):
		if q.form.storing {
			return ErrGeoWith("GEOSEARCHSTORE")
		}
		return ErrGeoWith("STORE option in GEORADIUS")
	case q.form.free() && !q.byMember && !q.centered:
		return ErrGeoFrom(c.Args[0])
	case q.form.free() && !q.shaped:
		return ErrGeoBy(c.Args[0])
	case q.any && q.count == 0:
		return ErrGeoAny
	}
	return nil
}

// parsePlace reads a longitude and a latitude.
func parsePlace(args [][]byte) (p geoPoint, err error) {
	var ok bool
	if p.lon, ok = parseScore(args[0]); !ok {
		return p, ErrNotFloat
	}
	if p.lat, ok = parseScore(args[1]); !ok {
		return p, ErrNotFloat
	}
	if !geoWorld.has(p) {
		return p, ErrGeoPlace(p.lon, p.lat)
	}
	return p, nil
}

// parseRadius reads a radius and its unit.
func (s *geoShape) parseRadius(args [][]byte) error {
	r, ok := parseScore(args[0])
	switch {
	case !ok:
		return ErrGeoRadius
	case r < 0:
		return ErrGeoNegative
	}
	s.radius = r
	return s.parseUnit(args[1])
}

// parseBox reads a width, a height and their unit.
func (s *geoShape) parseBox(args [][]byte) error {
	w, ok := parseScore(args[0])
	if !ok {
		return ErrGeoWidth
	}
	h, ok := parseScore(args[1])
	switch {
	case !ok:
		return ErrGeoHeight
	case h < 0 || w < 0:
		return ErrGeoNegativeBox
	}
	s.width, s.height = w, h
	return s.parseUnit(args[2])
}

func (s *geoShape) parseUnit(arg []byte) (err error) {
	s.unit, err = parseUnit(arg)
	return err
}

// parseUnit reads a unit of length, in metres.
func parseUnit(arg []byte) (float64, error) {
	switch {
	case foldEqual(arg, "m"):
		return 1, nil
	case foldEqual(arg, "km"):
		return 1000, nil
	case foldEqual(arg, "ft"):
		return 0.3048, nil
	case foldEqual(arg, "mi"):
		return 1609.34, nil
	}
	return 0, ErrGeoUnit
}

// geoStoreKeys are the keys of GEORADIUS and GEORADIUSBYMEMBER. Of several
// destinations the last is written to; Redis names the others as well.
func geoStoreKeys(args [][]byte) []int {
	if len(args) < 2 {
		return nil
	}
	at := []int{1}
	for i := 5; i+1 < len(args); i++ {
		if foldEqual(args[i], "STORE") || foldEqual(args[i], "STOREDIST") {
			i++
			at = append(at, i)
		}
	}
	return at
}

func geoDest(args [][]byte) []int {
	at := geoStoreKeys(args)
	if len(at) < 2 {
		return nil
	}
	return at[len(at)-1:]
}
