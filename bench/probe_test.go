package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = int64(time.Millisecond)

func TestScheduleKeepsCountingThroughAStall(t *testing.T) {
	s := &schedule{start: ms, every: ms}
	for now := ms; now <= 100*ms; now += ms { // the server is silent for 100 ms
		require.Equal(t, 1, s.take(now))
	}
	require.EqualValues(t, 100, s.outstanding())
	s.answer(101*ms, 100)
	require.EqualValues(t, 100, s.fromDue.Count())
	require.Equal(t, 100*time.Millisecond, s.fromDue.Max())
	require.InDelta(t, float64(50*ms), float64(s.fromDue.Quantile(.5)), float64(3*ms), "half the requests fell into the stall's second half")
	require.Zero(t, s.outstanding())
}

func TestScheduleCountsFromWhenARequestWasDue(t *testing.T) {
	s := &schedule{start: ms, every: ms}
	require.Zero(t, s.take(ms-1))
	require.Equal(t, 1, s.take(ms))
	s.answer(ms+1000, 1)
	require.Equal(t, 10, s.take(11*ms), "the probe itself was held up, and makes up for it")
	s.answer(11*ms+1000, 10)
	r := s.result()
	require.EqualValues(t, 11, r.Asked)
	require.Equal(t, time.Duration(9*ms+1000), r.Max)
	require.Equal(t, time.Microsecond, r.SentMax)
	require.Equal(t, time.Duration(9*ms), r.LateMax)
	require.Equal(t, 12*ms, s.nextDue())
}

func TestScheduleIsBounded(t *testing.T) {
	s := &schedule{every: 1}
	require.Equal(t, maxOutstanding, s.take(10*maxOutstanding))
	require.Zero(t, s.take(10*maxOutstanding))
	s.answer(10*maxOutstanding, 5)
	require.Equal(t, 5, s.take(10*maxOutstanding))
}
