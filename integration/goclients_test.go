//go:build clients

package integration

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"
)

// A goClient is a Go client library, reduced to what the check needs of it.
type goClient interface {
	// pipeline sends all commands at once and returns their replies in order
	// as text, or the first error.
	pipeline(commands ...[]string) ([]string, error)
	// scan walks the keyspace (SCAN) or the value of a key (HSCAN, SSCAN,
	// ZSCAN) with the library's own iterator. Of a hash or sorted set it
	// visits each member and then what belongs to it.
	scan(command, key string, count int, visit func(key string)) error
}

// FIRN_ADDR names the server, FIRN_KEYS how many keys stay. What is checked
// is told in clients/run.sh, which runs this.
func TestGoClients(t *testing.T) {
	addr := os.Getenv("FIRN_ADDR")
	require.NotEmpty(t, addr, "set FIRN_ADDR to the address of a server whose data may be lost")
	keys := 20_000
	if s := os.Getenv("FIRN_KEYS"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		keys = n
	}
	clients := map[string]func(*testing.T, string) goClient{
		"go-redis": openGoRedis, "rueidis": openRueidis, "redigo": openRedigo,
	}
	for name, open := range clients {
		t.Run(name, func(t *testing.T) {
			reader, writer := open(t, addr), open(t, addr)
			checkBasics(t, reader, "basics:"+name)
			checkCollections(t, reader, writer, "basics:"+name)
			loadKeys(t, reader, keys)
			stop := startWriter(t, writer, "go:"+name)
			checkScan(t, reader, keys)
			require.Positive(t, stop(), "nothing was written during the scan")
		})
	}
}

func checkBasics(t *testing.T, c goClient, key string) {
	value := "sn\xc3\xb6\r\n\x00 \xff"
	got, err := c.pipeline(
		[]string{"SET", key, value}, []string{"GET", key},
		[]string{"INCR", key + ":n"}, []string{"INCR", key + ":n"}, []string{"DEL", key, key + ":n"},
	)
	require.NoError(t, err)
	require.Equal(t, []string{"OK", value, "1", "2", "2"}, got)
	_, err = c.pipeline([]string{"GET"})
	require.ErrorContains(t, err, "wrong number of arguments")
}

// checkCollections fills one of each type and walks what can be walked, while
// other members come and go.
func checkCollections(t *testing.T, c, writer goClient, key string) {
	const members = 2000
	for _, kind := range []struct{ add, remove, scan string }{
		{"HSET", "HDEL", "HSCAN"}, {"SADD", "SREM", "SSCAN"}, {"ZADD", "ZREM", "ZSCAN"},
	} {
		key := key + kind.add
		add := func(i int, member string) []string {
			switch kind.add {
			case "HSET":
				return []string{"HSET", key, member, strconv.Itoa(i)}
			case "ZADD":
				return []string{"ZADD", key, strconv.Itoa(i), member}
			}
			return []string{"SADD", key, member}
		}
		var stay [][]string
		for i := range members {
			stay = append(stay, add(i, fmt.Sprint("m", i)))
		}
		_, err := c.pipeline(stay...)
		require.NoError(t, err)
		seen, visits := map[string]int{}, 0
		require.NoError(t, c.scan(kind.scan, key, 10, func(item string) {
			visits++
			if strings.HasPrefix(item, "m") {
				seen[item]++
			}
			_, err := writer.pipeline(
				add(0, fmt.Sprint("go", visits)), []string{kind.remove, key, fmt.Sprint("go", visits-20)})
			require.NoError(t, err)
		}))
		require.Len(t, seen, members, kind.scan)
		for member, n := range seen {
			require.Equal(t, 1, n, "%s: %s", kind.scan, member)
		}
		_, err = c.pipeline([]string{"DEL", key})
		require.NoError(t, err)
	}
	list, stream := key+"l", key+"x"
	got, err := c.pipeline(
		[]string{"RPUSH", list, "a", "", "c"}, []string{"LPOP", list, "1"}, []string{"LRANGE", list, "0", "-1"},
		[]string{"XADD", stream, "1-1", "f", "v"}, []string{"XRANGE", stream, "-", "+"}, []string{"DEL", list, stream},
	)
	require.NoError(t, err)
	require.Equal(t, []string{"3", "[a]", "[ c]", "1-1", "[[1-1 [f v]]]", "2"}, got)
}

func loadKeys(t *testing.T, c goClient, keys int) {
	if got, err := c.pipeline([]string{"MGET", "loaded"}); err == nil && got[0] == fmt.Sprintf("[%d]", keys) {
		return
	}
	const batch = 1000
	for i := 0; i < keys; i += batch {
		var commands [][]string
		for j := i; j < min(i+batch, keys); j++ {
			commands = append(commands, []string{"SET", fmt.Sprint("stay:", j), fmt.Sprint("value:", j)})
		}
		_, err := c.pipeline(commands...)
		require.NoError(t, err)
	}
	_, err := c.pipeline([]string{"SET", "loaded", strconv.Itoa(keys)})
	require.NoError(t, err)
}

// startWriter adds keys and deletes them again until the function that it
// returns is called, which says how many it wrote.
func startWriter(t *testing.T, c goClient, prefix string) (stop func() int) {
	var done atomic.Bool
	result := make(chan error)
	writes := 0
	go func() {
		var err error
		for ; err == nil && !done.Load(); writes++ {
			_, err = c.pipeline(
				[]string{"SET", fmt.Sprint(prefix, writes), "x"}, []string{"DEL", fmt.Sprint(prefix, writes-100)})
		}
		for i := writes - 100; err == nil && i < writes; i++ {
			_, err = c.pipeline([]string{"DEL", fmt.Sprint(prefix, i)})
		}
		result <- err
	}()
	return func() int {
		done.Store(true)
		require.NoError(t, <-result)
		return writes
	}
}

func checkScan(t *testing.T, c goClient, keys int) {
	count := 10
	if keys > 100_000 {
		count = 1000
	}
	seen := make([]int, keys)
	err := c.scan("SCAN", "", count, func(key string) {
		if n, ok := strings.CutPrefix(key, "stay:"); ok {
			i, err := strconv.Atoi(n)
			require.NoError(t, err)
			seen[i]++
		}
	})
	require.NoError(t, err)
	missing, twice := 0, 0
	for _, n := range seen {
		if n == 0 {
			missing++
		} else if n > 1 {
			twice++
		}
	}
	require.Zero(t, missing, "keys that stayed and did not come")
	require.Zero(t, twice, "keys that came more than once")
}

type goRedis struct{ *goredis.Client }

func openGoRedis(t *testing.T, addr string) goClient {
	c := goredis.NewClient(&goredis.Options{Addr: addr})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return goRedis{c}
}

func (c goRedis) pipeline(commands ...[]string) ([]string, error) {
	ctx := context.Background()
	p := c.Pipeline()
	for _, args := range commands {
		p.Do(ctx, anys(args)...)
	}
	cmds, err := p.Exec(ctx)
	if err != nil {
		return nil, err
	}
	var replies []string
	for _, cmd := range cmds {
		replies = append(replies, fmt.Sprint(cmd.(*goredis.Cmd).Val()))
	}
	return replies, nil
}

func (c goRedis) scan(command, key string, count int, visit func(string)) error {
	ctx := context.Background()
	var page *goredis.ScanCmd
	switch command {
	case "HSCAN":
		page = c.HScan(ctx, key, 0, "", int64(count))
	case "SSCAN":
		page = c.SScan(ctx, key, 0, "", int64(count))
	case "ZSCAN":
		page = c.ZScan(ctx, key, 0, "", int64(count))
	default:
		page = c.Scan(ctx, 0, "", int64(count))
	}
	it := page.Iterator()
	for it.Next(ctx) {
		visit(it.Val())
	}
	return it.Err()
}

type rueidisClient struct{ rueidis.Client }

// Its cache needs CLIENT TRACKING, so it is off.
func openRueidis(t *testing.T, addr string) goClient {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return rueidisClient{c}
}

func (c rueidisClient) pipeline(commands ...[]string) ([]string, error) {
	var batch rueidis.Commands
	for _, args := range commands {
		batch = append(batch, c.B().Arbitrary(args...).Build())
	}
	var replies []string
	for _, r := range c.DoMulti(context.Background(), batch...) {
		v, err := r.ToAny()
		if err != nil {
			return nil, err
		}
		replies = append(replies, fmt.Sprint(v))
	}
	return replies, nil
}

func (c rueidisClient) scan(command, key string, count int, visit func(string)) error {
	s := rueidis.NewScanner(func(cursor uint64) (rueidis.ScanEntry, error) {
		return c.Do(context.Background(), c.page(command, key, cursor, int64(count))).AsScanEntry()
	})
	for key := range s.Iter() {
		visit(key)
	}
	return s.Err()
}

func (c rueidisClient) page(command, key string, cursor uint64, count int64) rueidis.Completed {
	switch command {
	case "HSCAN":
		return c.B().Hscan().Key(key).Cursor(cursor).Count(count).Build()
	case "SSCAN":
		return c.B().Sscan().Key(key).Cursor(cursor).Count(count).Build()
	case "ZSCAN":
		return c.B().Zscan().Key(key).Cursor(cursor).Count(count).Build()
	}
	return c.B().Scan().Cursor(cursor).Count(count).Build()
}

type redigoConn struct{ redis.Conn }

func openRedigo(t *testing.T, addr string) goClient {
	c, err := redis.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return redigoConn{c}
}

func (c redigoConn) pipeline(commands ...[]string) ([]string, error) {
	for _, args := range commands {
		if err := c.Send(args[0], anys(args[1:])...); err != nil {
			return nil, err
		}
	}
	if err := c.Flush(); err != nil {
		return nil, err
	}
	var replies []string
	for range commands {
		reply, err := c.Receive()
		if err != nil {
			return nil, err
		}
		replies = append(replies, redigoText(reply))
	}
	return replies, nil
}

// redigoText prints as fmt does for the other two, which have strings for
// redigo's bytes.
func redigoText(reply any) string {
	switch reply := reply.(type) {
	case []byte:
		return string(reply)
	case []any:
		var all []string
		for _, r := range reply {
			all = append(all, redigoText(r))
		}
		return fmt.Sprint(all)
	}
	return fmt.Sprint(reply)
}

// redigo has no iterator: this is the loop of its documentation.
func (c redigoConn) scan(command, key string, count int, visit func(string)) error {
	cursor := "0"
	for {
		args := redis.Args{}
		if command != "SCAN" {
			args = args.Add(key)
		}
		page, err := redis.Values(c.Do(command, args.Add(cursor, "COUNT", count)...))
		if err != nil {
			return err
		}
		var keys []string
		if _, err := redis.Scan(page, &cursor, &keys); err != nil {
			return err
		}
		for _, key := range keys {
			visit(key)
		}
		if cursor == "0" {
			return nil
		}
	}
}

func anys(args []string) []any {
	all := make([]any, len(args))
	for i, a := range args {
		all[i] = a
	}
	return all
}
