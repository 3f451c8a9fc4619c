package commands

import "math"

// A geohash interleaves the bits of a latitude and a longitude, each as a
// fraction of its range; the more bits, the smaller the box that it names. The
// score of a place is its geohash of 52 bits (of 53 at the eastern and northern
// edge). As in Redis, latitudes end where the square map of EPSG:3857 does.
const (
	geoLonMax  = 180.0
	geoLatMax  = 85.05112878
	geoMaxStep = 26 // bits of each coordinate in a score

	geoLatBits = 0x5555555555555555
	geoLonBits = 0xaaaaaaaaaaaaaaaa

	earthRadius = 6372797.560856 // metres: Earth's quadratic mean radius
	mercatorMax = 20037726.37    // metres: half of the equator on the map
	radians     = float64(math.Pi) / 180
)

// A geoPoint is a place in degrees.
type geoPoint struct{ lon, lat float64 }

// A geoBox is a geohash of step bits for each coordinate; the zero value is no
// box.
type geoBox struct {
	bits uint64
	step uint
}

// An area is what a box covers.
type geoArea struct{ minLon, minLat, maxLon, maxLat float64 }

// geoWorld is all that can be indexed.
var geoWorld = geoArea{-geoLonMax, -geoLatMax, geoLonMax, geoLatMax}

func (a *geoArea) has(p geoPoint) bool {
	return p.lon >= a.minLon && p.lon <= a.maxLon && p.lat >= a.minLat && p.lat <= a.maxLat
}

// encode returns the box of the place, which must be in the area.
func (a *geoArea) encode(p geoPoint, step uint) geoBox {
	scale := float64(uint64(1) << step)
	lat := (p.lat - a.minLat) / (a.maxLat - a.minLat) * scale
	lon := (p.lon - a.minLon) / (a.maxLon - a.minLon) * scale
	return geoBox{spreadBits(uint64(lat)) | spreadBits(uint64(lon))<<1, step}
}

// area returns what the box covers of the world.
func (b geoBox) area() geoArea {
	lat, lon := uint32(gatherBits(b.bits)), uint32(gatherBits(b.bits>>1))
	part := 1 / float64(uint64(1)<<b.step)
	const width, height = 2 * geoLonMax, 2 * geoLatMax
	return geoArea{
		minLon: float64(float64(lon)*part*width) - geoLonMax, maxLon: float64(float64(lon+1)*part*width) - geoLonMax,
		minLat: float64(float64(lat)*part*height) - geoLatMax, maxLat: float64(float64(lat+1)*part*height) - geoLatMax,
	}
}

// geoPlace is the place of a score: the middle of its box. Any score has one.
func geoPlace(score float64) geoPoint {
	a := geoBox{scoreBits(score), geoMaxStep}.area()
	return geoPoint{
		lon: min(max((a.minLon+a.maxLon)/2, -geoLonMax), geoLonMax),
		lat: min(max((a.minLat+a.maxLat)/2, -geoLatMax), geoLatMax),
	}
}

// scoreBits converts a score that need not be a geohash as the reference does
// on x86.
func scoreBits(score float64) uint64 {
	const half = 1 << 63
	switch {
	case score >= 2*half:
		return 0
	case score >= half:
		return uint64(int64(score-half)) + half
	}
	return uint64(scoreInt(score))
}

// scoreInt converts a score to an integer, out of range to the lowest.
func scoreInt(score float64) int64 {
	if score >= -(1<<63) && score < 1<<63 {
		return int64(score)
	}
	return math.MinInt64
}

// scores returns the range of scores [from, to) that lie in the box.
func (b geoBox) scores() (from, to float64) {
	shift := 2*geoMaxStep - 2*b.step
	return float64(b.bits << shift), float64((b.bits + 1) << shift)
}

// move returns the box that lies so many boxes to the east and to the north:
// -1, 0 or 1. The world goes round in both directions.
func (b geoBox) move(east, north int) geoBox {
	used := uint64(1)<<(2*b.step) - 1
	lon := stepBits(b.bits&geoLonBits, geoLonBits&used, geoLatBits&used, east)
	lat := stepBits(b.bits&geoLatBits, geoLatBits&used, geoLonBits&used, north)
	return geoBox{lon | lat, b.step}
}

// stepBits adds d to the number that has the bits own: the others in between are
// set, or clear, to pass the carry on. At the world's very edge the number is one
// too large, which stays if d is 0.
func stepBits(v, own, others uint64, d int) uint64 {
	switch {
	case d > 0:
		return (v + others + 1) & own
	case d < 0:
		return ((v | others) - (others + 1)) & own
	}
	return v
}

// spreadBits moves bit i of the low half to bit 2i.
func spreadBits(x uint64) uint64 {
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	return (x | x<<1) & geoLatBits
}

// gatherBits moves bit 2i to bit i.
func gatherBits(x uint64) uint64 {
	x &= geoLatBits
	x = (x | x>>1) & 0x3333333333333333
	x = (x | x>>2) & 0x0f0f0f0f0f0f0f0f
	x = (x | x>>4) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return (x | x>>16) & 0x00000000ffffffff
}

// geoText is the customary geohash of a place: eleven letters of five bits, of
// which the last has nothing left to say.
func geoText(p geoPoint) (text [11]byte) {
	const letters = "0123456789bcdefghjkmnpqrstuvwxyz"
	globe := geoArea{-geoLonMax, -90, geoLonMax, 90}
	bits := globe.encode(p, geoMaxStep).bits
	for i := range text[:10] {
		text[i] = letters[bits>>(52-5*(i+1))&31]
	}
	text[10] = letters[0]
	return text
}

// A geoOrigin is a place that distances are measured from, in radians.
type geoOrigin struct {
	geoPoint
	lonR, latR, cosLat float64
}

func originAt(p geoPoint) geoOrigin {
	lat := p.lat * radians
	return geoOrigin{p, p.lon * radians, lat, cosine(lat)}
}

// distance is the length in metres of the great circle to a place, by the
// haversine formula. The conversions keep products from being fused with sums.
func (o *geoOrigin) distance(p geoPoint) float64 {
	d, _ := o.distanceWithin(p, math.Inf(1))
	return d
}

// distanceWithin is distance, or false if the haversine is greater than far.
func (o *geoOrigin) distanceWithin(p geoPoint, far float64) (float64, bool) {
	v := sine((float64(p.lon*radians) - o.lonR) / 2)
	if v == 0 {
		return latDistance(o.lat, p.lat), true
	}
	lat := float64(p.lat * radians)
	u := sine((lat - o.latR) / 2)
	a := float64(u*u) + float64(o.cosLat*cosine(lat)*v*v)
	if a > far {
		return 0, false
	}
	return arcOf(a), true
}

// arcOf returns the distance in metres with that haversine.
func arcOf(haversine float64) float64 { return 2 * earthRadius * arcsine(math.Sqrt(haversine)) }

// haversineOf is about the haversine of a distance in metres.
func haversineOf(d float64) float64 {
	half := d / (2 * earthRadius)
	if half >= math.Pi/2 {
		return math.Inf(1)
	}
	return math.Pow(sine(half), 2)
}

// latDistance is the distance in metres of two places on a meridian.
func latDistance(a, b float64) float64 {
	return earthRadius * math.Abs(float64(b*radians)-float64(a*radians))
}
