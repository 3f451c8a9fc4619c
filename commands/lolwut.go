package commands

import (
	"math"
	"strings"
)

// RedisVersion is the version that clients are told where Redis tells its own:
// some ask for it before they use what Redis 7.2 brought.
const RedisVersion = "7.2.4"

// lolwutCommands are for fun.
var lolwutCommands = []Command{
	{Name: "LOLWUT", Arity: -1, Run: OnConn(lolwut), Summary: "Display some computer art and the Redis version"},
}

// lolwut draws what the asked version of Redis drew; the present one draws
// nothing.
func lolwut(c *Call) error {
	args, version := c.Args[1:], uint32(0)
	if len(args) >= 2 && foldEqual(args[0], "version") {
		v, ok := ParseInt(args[1])
		if !ok {
			return ErrNotInteger
		}
		args, version = args[2:], uint32(v)
	}
	art, err := "", error(nil)
	switch version {
	case 5:
		art, err = lolwut5(c.Rand, args)
	case 6:
		art, err = lolwut6(c.Rand, args)
	}
	if err != nil {
		return err
	}
	c.Out.Verbatim("txt", art+"Redis ver. "+RedisVersion+"\n")
	return nil
}

// sizes reads the optional numbers of a drawing; those that are missing keep
// their value, and all are brought into [1, limits].
func sizes(args [][]byte, defaults, limits []int) ([]int, error) {
	all := append([]int(nil), defaults...)
	for i := range min(len(args), len(all)) {
		n, ok := ParseInt(args[i])
		if !ok {
			return nil, ErrNotInteger
		}
		all[i] = int(min(max(n, 1), int64(limits[i])))
	}
	return all, nil
}

// lolwut5 draws after Georg Nees' "Schotter": squares that lose their order
// from the third row on.
func lolwut5(chance func() uint64, args [][]byte) (string, error) {
	n, err := sizes(args, []int{66, 8, 12}, []int{1000, 200, 200})
	if err != nil {
		return "", err
	}
	c := drawSchotter(chance, n[0], n[1], n[2])
	return c.braille() + "\nGeorg Nees - schotter, plotter on paper, 1968. ", nil
}

// maxDots bounds a canvas where Redis would take up to 800 MB for one.
const maxDots = 8 << 20

// drawSchotter computes with floats of C's precision: what isn't random is the
// drawing of Redis.
func drawSchotter(chance func() uint64, columns, perRow, perColumn int) *canvas {
	width, padding := columns*2, 0
	if width > 4 {
		padding = 2
	}
	side := float32(width-padding*2) / float32(perRow)
	height := int(side*float32(perColumn)) + padding*2
	c := newCanvas(width, min(height, maxDots/width), 0)
	spread := func(y int) float32 {
		r := float32(chance()>>11) / (1 << 53) / float32(perColumn) * float32(y)
		if chance()%2 == 1 {
			return -r
		}
		return r
	}
	for y := range perColumn {
		for x := range perRow {
			sx := int(float32(x)*side + side/2 + float32(padding))
			sy := int(float32(y)*side + side/2 + float32(padding))
			var angle float32
			if y > 1 {
				angle = spread(y)
				sx += int(spread(y) * side / 3)
				sy += int(spread(y) * side / 3)
			}
			c.square(sx, sy, side, angle)
		}
	}
	return c
}

// lolwut6 draws a skyline like the background of an 8 bit game.
func lolwut6(chance func() uint64, args [][]byte) (string, error) {
	n, err := sizes(args, []int{80, 20}, []int{1000, 1000})
	if err != nil {
		return "", err
	}
	c := newCanvas(n[0], n[1], 3)
	drawSkyline(chance, c)
	return c.grey() + "\nDedicated to the 8 bit game developers of past and present.\n" +
		"Original 8 bit image from Plaguemon by hikikomori. ", nil
}

// A skyscraper stands on the lower edge of a canvas. The nearest ones, of color
// 0, have windows.
type skyscraper struct{ left, width, height, color int }

// drawSkyline draws from back to front: the lighter grey, the darker one, and
// the black skyscrapers with their windows.
func drawSkyline(chance func() uint64, c *canvas) {
	roll := func(n int) int { return int(chance() % uint64(n)) }
	for color := 2; color >= 0; color-- {
		for left := -10; left < c.width; {
			left += roll(8)
			s := skyscraper{left: left, color: color}
			switch color {
			case 2:
				s.width, s.height = 10+roll(9), c.height/2+roll(c.height)/2
				left += s.width / 2
			case 1:
				s.width, s.height = 10+roll(9), c.height/2+roll(c.height)/3
				left += s.width + 1
			case 0:
				s.width, s.height = 5+roll(14), c.height/3+roll(c.height)/2
				if s.width%4 != 0 {
					s.width += s.width % 3
				}
				left += s.width + 5
			}
			s.draw(roll, c)
		}
	}
}

func (s *skyscraper) draw(roll func(int) int, c *canvas) {
	ground := c.height - 1
	top := ground - s.height + 1
	for y := ground; y >= top; y-- {
		for x := s.left; x < s.left+s.width; x++ {
			if y == top && (x <= s.left+1 || x >= s.left+s.width-2) {
				continue // the roof is narrower
			}
			color := s.color
			if s.window(x, y, top, ground) {
				color = 1 + roll(2)
				if (x-s.left-1)%2 == 1 {
					color = c.at(x-1, y) // the other half of the window
				}
			}
			c.set(x, y, color)
		}
	}
}

// window says whether a window is there: two wide and one high, since a
// terminal's characters are higher than wide, and away from the edges.
func (s *skyscraper) window(x, y, top, ground int) bool {
	if s.color != 0 || x <= s.left+1 || x >= s.left+s.width-2 || y <= top+1 || y >= ground-1 {
		return false
	}
	return (x-s.left-1)/2%2 == 1 && (y-top-1)%2 == 1
}

// A canvas is a field of dots with a few colors. Its left upper corner is 0,0.
type canvas struct {
	width, height int
	dots          []byte
}

func newCanvas(width, height, color int) *canvas {
	c := &canvas{width, height, make([]byte, width*height)}
	for i := range c.dots {
		c.dots[i] = byte(color)
	}
	return c
}

func (c *canvas) inside(x, y int) bool { return x >= 0 && x < c.width && y >= 0 && y < c.height }

// set colors a dot. Dots outside are nowhere.
func (c *canvas) set(x, y, color int) {
	if c.inside(x, y) {
		c.dots[x+y*c.width] = byte(color)
	}
}

// at returns the color of a dot, 0 outside.
func (c *canvas) at(x, y int) int {
	if !c.inside(x, y) {
		return 0
	}
	return int(c.dots[x+y*c.width])
}

// line draws with Bresenham's algorithm.
func (c *canvas) line(x1, y1, x2, y2 int) {
	dx, sx := distance(x1, x2)
	dy, sy := distance(y1, y2)
	off := dx - dy
	for {
		c.set(x1, y1, 1)
		if x1 == x2 && y1 == y2 {
			return
		}
		e := off * 2
		if e > -dy {
			off -= dy
			x1 += sx
		}
		if e < dx {
			off += dx
			y1 += sy
		}
	}
}

// distance returns how far it is, and the step of one in that direction.
func distance(from, to int) (far, step int) {
	if from < to {
		return to - from, 1
	}
	return from - to, -1
}

// square draws a square around its center, turned by an angle in radians: its
// corners are four points of the circle around it, whose diameter is the
// square's diagonal.
func (c *canvas) square(x, y int, side, angle float32) {
	radius := math.Round(float64(float32(float64(side) / 1.4142135623)))
	at := float32(math.Pi/4 + float64(angle))
	var px, py [4]int
	for i := range px {
		sin, cos := math.Sincos(float64(at))
		px[i] = int(math.Round(sin*radius + float64(x)))
		py[i] = int(math.Round(cos*radius + float64(y)))
		at = float32(float64(at) + math.Pi/2)
	}
	for i := range px {
		next := (i + 1) % len(px)
		c.line(px[i], py[i], px[next], py[next])
	}
}

// braille renders two times four dots as one character of the block that begins
// at U+2800, where a bit stands for each dot.
func (c *canvas) braille() string {
	var b strings.Builder
	bits := [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}
	for y := 0; y < c.height; y += 4 {
		for x := 0; x < c.width; x += 2 {
			char := rune(0x2800)
			for i, d := range bits {
				if c.at(x+d[0], y+d[1]) != 0 {
					char |= 1 << i
				}
			}
			b.WriteRune(char)
		}
		if y != c.height-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// grey renders a dot as a space in one of a terminal's four greys.
func (c *canvas) grey() string {
	colors := [4]string{"0;30;40", "0;90;100", "0;37;47", "0;97;107"}
	var b strings.Builder
	for y := range c.height {
		for x := range c.width {
			b.WriteString("\x1b[" + colors[c.at(x, y)] + "m \x1b[0m")
		}
		if y != c.height-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
