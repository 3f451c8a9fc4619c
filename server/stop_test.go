package server

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestShutdownUnderLoad: the end comes within a second, whatever runs (O2).
func TestShutdownUnderLoad(t *testing.T) {
	s := serve(t)
	c := s.dial()
	for i := range 20 {
		line := []string{"MSET"}
		for j := range 5000 {
			line = append(line, "key:"+strconv.Itoa(i*5000+j), "value")
		}
		require.Equal(t, "+OK", c.do(strings.Join(line, " ")))
	}
	for range 300 {
		s.dial().do("PING")
	}
	for range 20 {
		s.dial().send("KEYS *a*b*c*d*e*f*g*h*i*j*nomatch")
		s.dial().send("KEYS *") // and never reads
	}
	begun := time.Now()
	s.Shutdown()
	<-s.Stopped()
	require.Less(t, time.Since(begun), time.Second)
}

// TestPasswordTakenAway: sessions that were let in stay so when the password
// changes, and those that were not are when there is none any more.
func TestPasswordTakenAway(t *testing.T) {
	s := serve(t, "--requirepass", "one")
	in, out := s.dial(), s.dial()
	require.Equal(t, "+OK", in.do("AUTH one"))
	require.Contains(t, out.do("GET k"), "NOAUTH")
	require.Equal(t, "+OK", in.do("CONFIG SET requirepass two"))
	require.Equal(t, "+PONG", in.do("PING"))
	require.Contains(t, out.do("AUTH one"), "WRONGPASS")
	require.Equal(t, "+OK", in.do(`CONFIG SET requirepass ""`))
	require.Equal(t, "+PONG", out.do("PING"))
}
