package commands

import "math"

// A geoShape is what is searched: a circle, or a rectangle whose sides follow
// the meridians and parallels.
type geoShape struct {
	center        geoPoint
	box           bool
	radius        float64 // of a circle; this and the next in units
	width, height float64 // of a box
	unit          float64 // in metres
}

// A geoSearch knows the shape's measures in metres.
type geoSearch struct {
	origin        geoOrigin
	box           bool
	radius        float64
	near, far     float64 // haversines that are surely inside and outside, of the radius or of half the width
	width, height float64
	band, reach   float64 // degrees from the center's latitude, and from its longitude, that are surely outside
}

func (s *geoShape) search() geoSearch {
	g := geoSearch{
		origin: originAt(s.center), box: s.box,
		radius: s.radius * s.unit, width: s.width * s.unit, height: s.height * s.unit,
	}
	up, aside := g.radius, g.radius
	if s.box {
		up, aside = g.height/2, g.width/2
	}
	g.near, g.far = haversineOf(aside)/geoMore, haversineOf(aside)*geoMore
	g.band = up / earthRadius / radians * geoMore
	g.reach = s.lonReach(up/earthRadius, aside/earthRadius)
	return g
}

// geoMore makes a limit a little wider than it was worked out, so that rounding
// does no harm.
const geoMore = 1 + 1e-9

// lonReach is how many degrees of longitude the shape, which goes so far up and
// aside (in radians), reaches: infinitely many if it reaches over a pole.
func (s *geoShape) lonReach(up, aside float64) float64 {
	lat := math.Abs(s.center.lat) * radians
	half, narrow := aside, math.Cos(lat) // where a circle touches a meridian
	if s.box {
		half, narrow = aside/2, math.Cos(lat+up) // its side that is nearer to a pole
	}
	if lat+up >= math.Pi/2 || half >= math.Pi/2 || math.Sin(half) >= narrow {
		return math.Inf(1)
	}
	reach := math.Asin(math.Sin(half)/narrow) / radians * geoMore
	if s.box {
		return 2 * reach
	}
	return reach
}

// distance returns how far a place is from the center; false if it is outside
// of the shape.
func (g *geoSearch) distance(p geoPoint) (float64, bool) {
	if math.Abs(p.lat-g.origin.lat) > g.band {
		return 0, false
	}
	aside := math.Abs(p.lon - g.origin.lon)
	if aside > g.reach && 2*geoLonMax-aside > g.reach {
		return 0, false
	}
	if !g.box {
		d, near := g.origin.distanceWithin(p, g.far)
		return d, near && d <= g.radius
	}
	return g.inBox(p)
}

// inBox is distance for a box. What lies on the center's parallel, in the
// triangle of the two, has only cosines of one latitude.
func (g *geoSearch) inBox(p geoPoint) (float64, bool) {
	o := &g.origin
	if latDistance(p.lat, o.lat) > g.height/2 {
		return 0, false
	}
	v := sine((float64(p.lon*radians) - o.lonR) / 2)
	if v == 0 {
		return latDistance(o.lat, p.lat), true
	}
	lat := float64(p.lat * radians)
	cos := cosine(lat)
	side := float64(cos * cos * v * v)
	if side > g.far || side > g.near && arcOf(side) > g.width/2 {
		return 0, false
	}
	u := sine((lat - o.latR) / 2)
	return arcOf(float64(u*u) + float64(o.cosLat*cos*v*v)), true
}

// bounds returns the area that the shape lies in.
func (s *geoShape) bounds() geoArea {
	height, width := s.unit*s.radius, s.unit*s.radius
	if s.box {
		height, width = s.unit*(s.height/2), s.unit*(s.width/2)
	}
	lat := height / earthRadius / radians
	// Nearer to the pole a meter is more degrees.
	edge := s.center.lat + lat
	if s.center.lat < 0 {
		edge = s.center.lat - lat
	}
	lon := width / earthRadius / math.Cos(edge*radians) / radians
	return geoArea{s.center.lon - lon, s.center.lat - lat, s.center.lon + lon, s.center.lat + lat}
}

// reach is the distance from the center to the farthest point, in metres.
func (s *geoShape) reach() float64 {
	if !s.box {
		return s.radius * s.unit
	}
	w, h := s.width/2, s.height/2
	return math.Sqrt(float64(w*w)+float64(h*h)) * s.unit
}

// steps estimates the bits of a box that is as big as the shape.
func (s *geoShape) steps() uint {
	reach := s.reach()
	if reach == 0 {
		return geoMaxStep
	}
	n := 1
	for ; reach < mercatorMax; reach *= 2 {
		n++
	}
	n -= 2 // so that the box and its neighbours do cover it
	switch lat := math.Abs(s.center.lat); {
	case lat > 80:
		n -= 2
	case lat > 66:
		n--
	}
	return uint(min(max(n, 1), geoMaxStep))
}

// geoCover is a box and its neighbours, in the order in which they are searched.
type geoCover [9]geoBox

// geoAround are the neighbours' directions, east and north.
var geoAround = [9][2]int{{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}

func coverAround(center geoPoint, step uint) (c geoCover) {
	box := geoWorld.encode(center, step)
	for i, d := range geoAround {
		c[i] = box.move(d[0], d[1])
	}
	return c
}

// cover returns the boxes to search for the shape.
func (s *geoShape) cover() geoCover {
	step, bounds := s.steps(), s.bounds()
	c := coverAround(s.center, step)
	if step > 1 && !c.holds(&bounds) {
		step--
		c = coverAround(s.center, step)
	}
	if step >= 2 {
		c.prune(&bounds)
	}
	return c
}

// holds says whether the bounds lie in the boxes.
func (c *geoCover) holds(bounds *geoArea) bool {
	// In this form infinite bounds, whose longitudes are NaN, do lie in them.
	return !(c[1].area().maxLat < bounds.maxLat || c[2].area().minLat > bounds.minLat ||
		c[3].area().maxLon < bounds.maxLon || c[4].area().minLon > bounds.minLon)
}

// prune takes the neighbours out on whose side the center's box is enough.
func (c *geoCover) prune(bounds *geoArea) {
	mid := c[0].area()
	for i, d := range geoAround {
		east, north := d[0], d[1]
		if north < 0 && mid.minLat < bounds.minLat || north > 0 && mid.maxLat > bounds.maxLat ||
			east < 0 && mid.minLon < bounds.minLon || east > 0 && mid.maxLon > bounds.maxLon {
			c[i] = geoBox{}
		}
	}
}
