package commands

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// incrByFloat is what the command does with a value and an increment.
func incrByFloat(value, incr string) (string, Error) {
	v, ok := ParseFloat80([]byte(value))
	if !ok {
		return "", ErrNotFloat
	}
	i, ok := ParseFloat80([]byte(incr))
	if !ok {
		return "", ErrNotFloat
	}
	sum, ok := v.Add(i)
	if !ok {
		return "", ErrNaNOrInf
	}
	return string(sum.Append(nil)), ""
}

// float80Cases: SET k value; INCRBYFLOAT k incr. The answers are
// redis-server 7.0.15's, which TestNumbersDuel asks again.
var float80Cases = []struct {
	value, incr, want string
	err               Error
}{
	{"1000", "0.1", "1000.09999999999999998", ""}, // J3
	{"5.0e3", "200", "5200", ""},                  // J4
	{" 11", "1", "", ErrNotFloat},                 // J4
	{"0", "nan", "", ErrNotFloat},                 // J1, J4
	{"0.1", "0.2", "0.3", ""},
	{"3", "-3", "0", ""},
	{"-0", "-0", "0", ""},
	{"-1e-30", "0", "0", ""},
	{"17179869184", "1", "17179869185", ""},
	{"9223372036854775807", "1", "9223372036854775808", ""},
	{"18446744073709551615", "2", "18446744073709551616", ""}, // a tie of 64 bits, to even
	{"1e18", "0.5", "1000000000000000000.5", ""},
	{"0x10", "0x1.8p1", "19", ""},
	{"inf", "1", "", ErrNaNOrInf},
	{"inf", "-inf", "", ErrNaNOrInf},
	{"1e4932", "1e4932", "", ErrNaNOrInf},
	{"1e4933", "1", "", ErrNotFloat},
	{"1e999999999999", "1", "", ErrNotFloat},
	{"1e-999999999999", "1", "", ErrNotFloat},
	{"1e-4950", "1", "1", ""},
	{"1e-4951", "1", "", ErrNotFloat},
	{"0x1p-16445", "1", "1", ""},
	{"0x1p-16446", "1", "", ErrNotFloat},
	{"0x1.0000000000000000000001p-16446", "1", "1", ""},
	{"0x1p16384", "0", "", ErrNotFloat},
	{"0x1.ffffffffffffffffp16383", "0", "", ErrNotFloat}, // rounds up out of range
}

func TestFloat80(t *testing.T) {
	for _, c := range float80Cases {
		got, err := incrByFloat(c.value, c.incr)
		require.Equal(t, c.err, err, "%s + %s", c.value, c.incr)
		require.Equal(t, c.want, got, "%s + %s", c.value, c.incr)
	}
}

func TestFloat80Refuses(t *testing.T) {
	for _, in := range refusedFloats {
		_, ok := ParseFloat80([]byte(in))
		require.False(t, ok, in)
	}
	digits := strings.Repeat("0", float80MaxLen)
	_, ok := ParseFloat80([]byte(digits))
	require.True(t, ok)
	_, ok = ParseFloat80([]byte(digits + "0"))
	require.False(t, ok, "longer than Redis reads")
}

func TestFloat80ZeroValue(t *testing.T) {
	var zero Float80
	require.Equal(t, "0", string(zero.Append(nil)))
	require.False(t, zero.IsInf())
	one, ok := ParseFloat80([]byte("1"))
	require.True(t, ok)
	sum, ok := zero.Add(one)
	require.True(t, ok)
	require.Equal(t, "x1", string(sum.Append([]byte("x"))), "appends")
	inf, ok := ParseFloat80([]byte("-inf"))
	require.True(t, ok)
	require.True(t, inf.IsInf())
	require.Equal(t, "-inf", string(inf.Append(nil)))
}

// TestNumbersDuel puts random numbers to redis-server and to us, which must
// answer with the same bytes: INCRBYFLOAT for long doubles, ZSCORE for doubles,
// INCRBY for integers.
func TestNumbersDuel(t *testing.T) {
	redis := startNumberDuel(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, c := range float80Cases {
		redis.do("SET", "k", c.value)
		require.Equal(t, bulkOrError(c.want, c.err), redis.do("INCRBYFLOAT", "k", c.incr), "%s + %s", c.value, c.incr)
	}
	for range 600 {
		value, incr := randomNumber(rng), randomNumber(rng)
		redis.do("SET", "k", value)
		require.Equal(t, bulkOrError(incrByFloat(value, incr)), redis.do("INCRBYFLOAT", "k", incr),
			"SET k %q; INCRBYFLOAT k %q", value, incr)

		redis.do("DEL", "z")
		redis.do("ZADD", "z", value, "m")
		require.Equal(t, ourScore(value), redis.do("ZSCORE", "z", "m"), "ZADD z %q m", value)

		redis.do("SET", "k", "0")
		_, isInt := ParseInt([]byte(value))
		require.Equal(t, !isInt, redis.do("INCRBY", "k", value) == "-"+string(ErrNotInteger), "INCRBY k %q", value)
	}
}

func ourScore(value string) string {
	f, ok := ParseFloat([]byte(value))
	if !ok {
		return "$-1"
	}
	return bulkOrError(string(AppendDouble(nil, f)), "")
}

func bulkOrError(text string, err Error) string {
	if err != "" {
		return "-" + string(err)
	}
	return "$" + strconv.Itoa(len(text)) + " " + text
}

// randomNumber is mostly a number, of any size and spelling, and at times
// something close to one.
func randomNumber(rng *rand.Rand) string {
	digits := func(n int) string {
		b := make([]byte, 1+rng.IntN(n))
		for i := range b {
			b[i] = byte('0' + rng.IntN(10))
		}
		return string(b)
	}
	sign := []string{"", "", "-", "+"}[rng.IntN(4)]
	switch rng.IntN(12) {
	case 0:
		return sign + digits(25)
	case 1:
		return sign + digits(3) + "e" + []string{"", "-", "+"}[rng.IntN(3)] + digits(4)
	case 2:
		return sign + digits(30) + "." + digits(30) + "E" + strconv.Itoa(rng.IntN(80)-40)
	case 3:
		return fmt.Sprintf("%s0x%x.%xp%d", sign, rng.Uint64(), rng.Uint64(), rng.IntN(200)-100)
	case 4:
		return fmt.Sprintf("%s0X%X", sign, rng.Uint64()>>rng.IntN(64))
	case 5:
		// Halfway between two neighbours of 64 bits: one digit decides.
		return fmt.Sprintf("%s%d.5%s", sign, rng.Uint64()|1<<63, []string{"", "0001", "e0"}[rng.IntN(3)])
	case 6:
		near := []string{"inf", "-inf", "nan", "Infinity", "", " 1", "1 ", ".", "1e", "0x", "-0", "1e-4940", "1e4932", "1e-320", "1.8e308"}
		return near[rng.IntN(len(near))]
	case 7:
		return sign + "0." + strings.Repeat("0", rng.IntN(18)) + digits(5) + strings.Repeat("5", rng.IntN(3))
	default:
		return sign + digits(8) + "." + digits(12)
	}
}

// numberDuel is one connection to a redis-server of our own.
type numberDuel struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func startNumberDuel(t *testing.T) *numberDuel {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server in PATH")
	}
	socket := filepath.Join(t.TempDir(), "redis.sock")
	cmd := exec.Command(path, "--port", "0", "--unixsocket", socket, "--save", "",
		"--zset-max-listpack-entries", "0") // a listpack would turn -0 into 0
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	awaitReady(t, out)
	conn, err := net.Dial("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	d := &numberDuel{t: t, conn: conn, in: bufio.NewReader(conn)}
	if info := d.do("INFO", "server"); !strings.Contains(info, "redis_version:7.0.15\r\n") {
		t.Skip("the redis-server in PATH is not 7.0.15")
	}
	return d
}

// awaitReady reads the server's log until it accepts connections, and keeps
// reading so that the server never blocks on it.
func awaitReady(t *testing.T, log io.Reader) {
	t.Helper()
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return
		}
	}
	t.Fatal("redis-server ended before it was ready")
}

// do sends a command and returns its reply: the line, and after a space the
// bulk, if it is one.
func (d *numberDuel) do(args ...string) string {
	d.t.Helper()
	var r Reply
	r.Array(len(args))
	for _, arg := range args {
		r.BulkString(arg)
	}
	_, err := d.conn.Write(r.Bytes())
	require.NoError(d.t, err)
	line, err := d.in.ReadString('\n')
	require.NoError(d.t, err)
	line = strings.TrimSuffix(line, "\r\n")
	n, err := strconv.Atoi(line[1:])
	if line[0] != '$' || err != nil || n < 0 {
		return line
	}
	bulk := make([]byte, n+2)
	_, err = io.ReadFull(d.in, bulk)
	require.NoError(d.t, err)
	return line + " " + string(bulk[:n])
}
