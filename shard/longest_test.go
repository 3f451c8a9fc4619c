package shard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLongest(t *testing.T) {
	var l Longest
	require.Zero(t, l.Take())
	for _, d := range []time.Duration{3, 7, 5} {
		l.note(d)
	}
	require.EqualValues(t, 7, l.Take())
	require.Zero(t, l.Take(), "taken")
}

// TestFreezeIsTimed: taking the shards is part of a freeze.
func TestFreezeIsTimed(t *testing.T) {
	s, at := newHarness(t, 4), time.Unix(0, 0)
	s.monotonic = func() time.Time {
		at = at.Add(time.Second)
		return at
	}
	cut := s.NewCut(0, 0)
	cut.All()
	cut.Release()
	require.Equal(t, time.Second, s.Stats().LongestFreeze.Take())
}
