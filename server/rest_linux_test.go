package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestResting: a thread rests a part of the processor time that it has used, not
// of the time that has gone by, and the more the more tasks wait.
func TestResting(t *testing.T) {
	var now, used, slept int64
	r := &resting{monotonic: func() int64 { return now }, used: func() int64 { return used }, sleep: func(n int64) { slept += n; now += n }}
	pass := func(time, work int64, waiting int) int64 {
		now, used, slept = now+time, used+work, 0
		r.between(waiting)
		return slept
	}
	require.Equal(t, restStep/2, pass(restStep, restStep, restWait))
	require.Equal(t, restStep/2, pass(restStep, restStep, 1000), "never more than a half")
	require.Equal(t, restStep/restParts, pass(restStep, restStep, 1))
	require.Zero(t, pass(restStep, restStep, 0), "nobody waits")
	require.Zero(t, pass(restStep/2, restStep/2, restWait), "too early to look")
	require.Equal(t, restStep/2, pass(restStep/2, restStep/2, restWait), "both parts")
	require.Equal(t, restStep/20, pass(20*restStep, restStep/10, restWait), "kept from its core")
	require.Equal(t, restMost/2, pass(100*restStep, 100*restStep, restWait), "one long task")
}
