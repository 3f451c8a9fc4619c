package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A loop that is kept busy spins until its next event; one that is asked now
// and then does not spin at all.
func TestSpinFollowsWaits(t *testing.T) {
	var s spin
	for range 10 {
		s.waited(20*time.Microsecond, spinMax)
	}
	require.Equal(t, spinMax, s)
	s.waited(time.Millisecond, spinMax)
	require.Less(t, s, spinMax)
	require.Positive(t, s, "one long wait is not the end of a burst")
	for range 4 {
		s.waited(time.Millisecond, spinMax)
	}
	require.Zero(t, s)
	s.waited(20*time.Microsecond, spinMax)
	require.Equal(t, spinMin, s)
}

// Loops that fill all cores would keep their clients from answering.
func TestSpinLeavesACore(t *testing.T) {
	var s spin
	s.waited(20*time.Microsecond, spinLimit(1, 1))
	require.Zero(t, s)
	s.waited(20*time.Microsecond, spinLimit(1, 2))
	require.Positive(t, s)
}
