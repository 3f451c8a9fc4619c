package commands

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// bigSin is the series of the sine to 200 bits.
func bigSin(x *big.Float) *big.Float {
	sum, term := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200).Set(x)
	square := new(big.Float).SetPrec(200).Mul(x, x)
	for k := int64(1); k < 120; k += 2 {
		sum.Add(sum, term)
		term.Mul(term, square)
		term.Quo(term, big.NewFloat(float64(-(k+1)*(k+2))))
	}
	return sum
}

// ulps is how many units of got's last place it is off.
func ulps(got float64, want *big.Float) float64 {
	d, _ := new(big.Float).SetPrec(200).Sub(want, big.NewFloat(got)).Float64()
	return math.Abs(d) / (math.Nextafter(math.Abs(got), math.Inf(1)) - math.Abs(got))
}

func TestTrigonometry(t *testing.T) {
	const nearest = 0.5 + 1.0/256
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	halfPi200, _, err := big.ParseFloat("1.5707963267948966192313216916397514420985846996875529104874722961539082", 10, 200, big.ToNearestEven)
	require.NoError(t, err)
	for range 3000 {
		x := (r.Float64()*2 - 1) * math.Pi * math.Pow(2, -float64(r.IntN(20)))
		require.LessOrEqual(t, ulps(sine(x), bigSin(new(big.Float).SetPrec(200).SetFloat64(x))), nearest, x)
		y := x / 2.1
		require.LessOrEqual(t, ulps(cosine(y), bigSin(new(big.Float).SetPrec(200).Sub(halfPi200, big.NewFloat(y)))), nearest, y)
		a := math.Abs(x) / 3.5
		s := sine(a)
		// The sine of the arc is off by no more than the cosine lets it.
		off, _ := new(big.Float).SetPrec(200).Sub(bigSin(new(big.Float).SetPrec(200).SetFloat64(arcsine(s))), big.NewFloat(s)).Float64()
		unit := math.Nextafter(arcsine(s), 4) - arcsine(s)
		require.LessOrEqual(t, math.Abs(off)/math.Cos(a), nearest*unit, s)
	}
	require.Equal(t, 0.0, arcsine(0))
	require.Equal(t, math.Pi/2, arcsine(1))
	require.Equal(t, math.Pi/6, arcsine(0.5))
	require.Equal(t, 1.2246467991473532e-16, sine(math.Pi))
}

// TestGeoBoxes wants each place to lie in its box, and the box's neighbours to
// lie around it.
func TestGeoBoxes(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	for range 2000 {
		p := geoPoint{(r.Float64()*2 - 1) * geoLonMax, (r.Float64()*2 - 1) * geoLatMax}
		step := uint(1 + r.IntN(geoMaxStep))
		b := geoWorld.encode(p, step)
		a := b.area()
		require.True(t, a.has(p))
		from, to := b.scores()
		score := float64(geoWorld.encode(p, geoMaxStep).bits)
		require.True(t, from <= score && score < to)
		require.Equal(t, b, b.move(1, 0).move(-1, 0))
		require.Equal(t, b, b.move(0, -1).move(0, 1))
		if e := b.move(1, 1).area(); e.minLon > -geoLonMax && e.minLat > -geoLatMax {
			require.InDelta(t, a.maxLon, e.minLon, 1e-9)
			require.InDelta(t, a.maxLat, e.minLat, 1e-9)
		}
		at := geoPlace(score)
		require.InDelta(t, p.lon, at.lon, 1e-5)
		require.InDelta(t, p.lat, at.lat, 1e-5)
	}
}

// TestPartialSort wants the places to have what a whole sort has there.
func TestPartialSort(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	for range 2000 {
		all := make([]int, 1+r.IntN(300))
		for i := range all {
			all[i] = r.IntN(1 + r.IntN(400))
		}
		from := r.IntN(len(all))
		to := from + 1 + r.IntN(len(all)-from)
		want := slices.Clone(all)
		slices.Sort(want)
		partialSort(all, from, to, func(a, b *int) int { return *a - *b })
		require.Equal(t, want[from:to], all[from:to])
		slices.Sort(all)
		require.Equal(t, want, all)
	}
}

// TestGeoDuel sends random searches to redis-server and to the rows. The places
// lie close together, and some on one another.
func TestGeoDuel(t *testing.T) {
	redis := startRedis(t, findRedis(t))
	r := rand.New(rand.NewPCG(testSeed(t), 1))
	h := newHarness(4, 1)
	for round := range 40 {
		g := geoTalk{Rand: r, center: geoPoint{r.Float64()*360 - 180, r.Float64()*170 - 85}, spread: math.Pow(10, -float64(r.IntN(5))) * 20}
		key := fmt.Sprintf("{t}%d", round)
		for i := range 1 + r.IntN(300) {
			lon, lat := g.place()
			duelLine(t, redis, h, []string{"GEOADD", key, lon, lat, strconv.Itoa(i)})
		}
		for range 60 {
			duelLine(t, redis, h, g.search(key))
			a, b := strconv.Itoa(r.IntN(300)), strconv.Itoa(r.IntN(300))
			duelLine(t, redis, h, []string{"GEODIST", key, a, b, "km"})
			duelLine(t, redis, h, []string{"GEOPOS", key, a, b})
			duelLine(t, redis, h, []string{"GEOHASH", key, a, b})
		}
	}
	require.NoError(t, h.verify())
}

type geoTalk struct {
	*rand.Rand
	center geoPoint
	spread float64 // degrees
}

func (g *geoTalk) place() (lon, lat string) {
	// On a coarse grid some places are the same.
	at := func(center, limit float64) string {
		x := center + math.Round((g.Float64()-0.5)*30)/30*g.spread
		return strconv.FormatFloat(min(max(x, -limit), limit), 'f', 6, 64)
	}
	return at(g.center.lon, geoLonMax), at(g.center.lat, 85)
}

func (g *geoTalk) search(key string) []string {
	lon, lat := g.place()
	line := []string{"GEOSEARCH", key, "FROMLONLAT", lon, lat, "WITHDIST", "WITHCOORD", "WITHHASH"}
	size := func() string { return strconv.FormatFloat(g.Float64()*g.spread*150, 'f', 3, 64) }
	if g.IntN(2) == 0 {
		line = append(line, "BYRADIUS", size(), "km")
	} else {
		line = append(line, "BYBOX", size(), size(), "mi")
	}
	line = append(line, [][]string{{}, {"ASC"}, {"DESC"}}[g.IntN(3)]...)
	switch g.IntN(3) {
	case 0:
		line = append(line, "COUNT", strconv.Itoa(1+g.IntN(50)))
	case 1:
		line = append(line, "COUNT", strconv.Itoa(1+g.IntN(50)), "ANY")
	}
	return line
}

func BenchmarkGeoSearch(b *testing.B) {
	h := bareHarness(1, 1)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 10_000 {
		_, err := h.Do("main", commandLine("GEOADD", "g", fmt.Sprint(r.Float64()), fmt.Sprint(r.Float64()), strconv.Itoa(i)))
		require.NoError(b, err)
	}
	s := h.session("main")
	line := commandLine("GEOSEARCH", "g", "FROMLONLAT", "0.5", "0.5", "BYRADIUS", "10", "km", "ASC", "WITHDIST")
	row := h.table.Lookup(line[0])
	b.ReportAllocs()
	for b.Loop() {
		s.call.Begin(row, line)
		s.view.LiveView(h.space, 0, h.now)
		_ = RunView(&s.call, &s.view)
		s.out.Reset()
	}
}
