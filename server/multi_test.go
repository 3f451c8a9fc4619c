package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"firn/shard"

	"github.com/stretchr/testify/require"
)

// play sends lines, each with the reply that it must get behind " -> ".
func (c *testClient) play(lines string) {
	c.t.Helper()
	for _, line := range strings.Split(lines, "\n") {
		line, want, _ := strings.Cut(strings.TrimLeft(line, "\t"), " -> ")
		if line != "" {
			require.Equal(c.t, want, strings.ReplaceAll(c.do(line), "\r\n", " "), line)
		}
	}
}

func TestTransaction(t *testing.T) {
	c := serve(t).dial()
	c.play(`
		EXEC -> -ERR EXEC without MULTI
		DISCARD -> -ERR DISCARD without MULTI
		MULTI -> +OK
		SET a 1 -> +QUEUED
		INCR a -> +QUEUED
		LPUSH a x -> +QUEUED
		MULTI -> -ERR MULTI calls can not be nested
		WATCH a -> -ERR WATCH inside MULTI is not allowed
		PING -> +QUEUED
		DBSIZE -> +QUEUED
		KEYS * -> +QUEUED
		CLIENT GETNAME -> +QUEUED
		EXEC -> *7 +OK :2 -WRONGTYPE Operation against a key holding the wrong kind of value +PONG :1 *1 $1 a $-1
		MULTI -> +OK
		EXEC -> *0
		MULTI -> +OK
		SET a 7 -> +QUEUED
		DISCARD -> +OK
		GET a -> $1 2
		MULTI -> +OK
		SELECT 3 -> +QUEUED
		SET b 1 -> +QUEUED
		SELECT 99 -> +QUEUED
		EXEC -> *3 +OK +OK -ERR DB index is out of range
		GET b -> $1 1
		MULTI -> +OK
		FLUSHALL -> +QUEUED
		INFO keyspace -> +QUEUED
		EXEC -> *2 +OK $12 # Keyspace` + " ")
}

// What is refused while commands are queued makes EXEC refuse them all.
func TestTransactionAborts(t *testing.T) {
	s := serve(t)
	c := s.dial()
	for _, bad := range []string{"NOSUCH x", "GET", "SHUTDOWN", "CONFIG NOSUCH"} {
		c.play(`
			MULTI -> +OK
			SET a 1 -> +QUEUED`)
		require.Equal(t, "-", c.do(bad)[:1], bad)
		c.play(`
			SET a 2 -> +QUEUED
			EXEC -> -EXECABORT Transaction discarded because of previous errors.
			GET a -> $-1`)
	}
	c.play(`
		MULTI -> +OK
		EXEC x -> -EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command
		EXEC -> -ERR EXEC without MULTI
		MULTI -> +OK
		SHUTDOWN NOSAVE -> -ERR Command not allowed inside a transaction
		DISCARD -> +OK
		MULTI -> +OK
		SET a 1 -> +QUEUED
		RESET -> +RESET
		EXEC -> -ERR EXEC without MULTI
		MULTI -> +OK
		QUIT -> +OK`)
	c.closed()
}

func TestWatch(t *testing.T) {
	s := serve(t)
	c, other := s.dial(), s.dial()
	// Each line is done by the other client between WATCH and MULTI.
	for line, kept := range map[string]bool{
		"SET k 2": false, "APPEND k x": false, "DEL k": false, "EXPIRE k 100": false, "RENAME k l": false, "RENAME o k": false,
		"COPY o k REPLACE": false, "FLUSHALL": false, "FLUSHDB": false, "SWAPDB 0 1": false, "MOVE k 1": false, "SADD s a b": true, "SADD s c": false, "SREM s z": true,
		"SORT s ALPHA STORE k": false, "SET o 2": true, "GET k": true, "DEL none": true, "HSET none a b": false, "PERSIST k": true,
		"SPOP s": false, "LPUSH k x": true, "SETNX k 5": true, "TOUCH k": true, "OBJECT FREQ k": true,
	} {
		require.Equal(t, "+OK", other.do("FLUSHALL"))
		require.Equal(t, "+OK", other.do("MSET k 1 o 1"))
		require.Equal(t, ":2", other.do("SADD s a b"))
		c.play("WATCH k s none k -> +OK")
		other.do(line)
		c.play(`
			MULTI -> +OK
			PING -> +QUEUED`)
		want := "*-1"
		if kept {
			want = "*1\r\n+PONG"
		}
		require.Equal(t, want, c.do("EXEC"), line)
	}
	require.Zero(t, s.marks())
}

// marks is how many places of the keyspace are marked.
func (s *testServer) marks() (n int) {
	s.shards.Reach((*shard.Hold).WantAll, func() {
		for _, st := range s.shards.Space.Stores {
			n += st.Marks()
		}
	})
	return n
}

func TestWatchEnds(t *testing.T) {
	s := serve(t)
	c, other := s.dial(), s.dial()
	for _, end := range []string{"UNWATCH", "MULTI|EXEC", "MULTI|DISCARD", "RESET", "MULTI|NOSUCH|EXEC"} {
		require.Equal(t, "+OK", c.do("WATCH k l"))
		require.Equal(t, 2, s.marks())
		for _, line := range strings.Split(end, "|") {
			c.do(line)
		}
		require.Zero(t, s.marks(), end)
		other.do("SET k 1")
		c.play(`
			MULTI -> +OK
			PING -> +QUEUED
			EXEC -> *1 +PONG`)
	}
	require.Equal(t, "+OK", c.do("WATCH k l"))
	c.Close()
	eventually(t, func() bool { return s.marks() == 0 }, "the client is gone, its marks are not")
}

// A key that expires between WATCH and EXEC has changed, whether or not it was
// removed; one that had expired at WATCH has not.
func TestWatchAndExpiry(t *testing.T) {
	s := serve(t)
	c := s.dial()
	s.shards.SetActiveExpire(false)
	for _, look := range []string{"PING", "GET k", "DEL k"} {
		c.play("SET k v PX 300 -> +OK\nWATCH k -> +OK") // long enough to be there for the WATCH on a busy machine
		eventually(t, func() bool { return c.do("TTL k") == ":-2" || c.do("EXISTS k") == ":0" }, "it does not expire")
		c.do(look)
		c.play(`
			MULTI -> +OK
			PING -> +QUEUED
			EXEC -> *-1`)
	}
	// Here db 1 gets a key that has expired; in db 0 there is none.
	c.play("SELECT 1 -> +OK\nSET k v PX 30 -> +OK\nSELECT 0 -> +OK\nWATCH k -> +OK")
	expired := time.Now().Add(40 * time.Millisecond)
	eventually(t, func() bool { return time.Now().After(expired) }, "")
	c.play(`
		SWAPDB 0 1 -> +OK
		MULTI -> +OK
		PING -> +QUEUED
		EXEC -> *1 +PONG`)
}

// WATCH of many keys holds nobody up, nor does their end.
func TestWatchManyKeys(t *testing.T) {
	s := serve(t)
	c, other := s.dial(), s.dial()
	line := "WATCH"
	for i := range 5000 {
		line += fmt.Sprint(" key:", i, " key:", i/2)
	}
	for _, changed := range []string{"none", "key:4999"} {
		require.Equal(t, "+OK", c.do(line))
		require.Equal(t, "+OK", c.do("WATCH key:1 one"))
		require.Equal(t, 5001, s.marks())
		other.do("SET " + changed + " v")
		want := "*1 +PONG"
		if changed != "none" {
			want = "*-1"
		}
		c.play("MULTI -> +OK\nPING -> +QUEUED\nEXEC -> " + want)
		require.Zero(t, s.marks())
	}
	require.Equal(t, "+OK", c.do(line))
	require.Equal(t, "+OK", c.do("UNWATCH"))
	require.Zero(t, s.marks())
	c.send(line)
	c.Close()
	eventually(t, func() bool { return s.marks() == 0 }, "the client is gone, its marks are not")
}

func TestTransactionUnderAnotherName(t *testing.T) {
	c := serve(t, "--rename-command", "EXEC", "run", "--rename-command", "MULTI", "begin").dial()
	c.play(`
		BEGIN -> +OK
		SET a 1 -> +QUEUED
		RUN x -> -EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command
		BEGIN -> +OK
		SET a 1 -> +QUEUED
		RUN -> *1 +OK`)
}
