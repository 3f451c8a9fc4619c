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
		s.waited(20 * time.Microsecond)
	}
	require.Equal(t, spinMax, s)
	s.waited(time.Millisecond)
	require.Less(t, s, spinMax)
	require.Positive(t, s, "one long wait is not the end of a burst")
	for range 4 {
		s.waited(time.Millisecond)
	}
	require.Zero(t, s)
	s.waited(20 * time.Microsecond)
	require.Equal(t, spinMin, s)
}
