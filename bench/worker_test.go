package main

import (
	"bufio"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeServer answers each line-triplet GET on one connection when told to: it reads a whole request before each token of release.
func fakeServer(t *testing.T, answer string, release <-chan struct{}) (addr string, received <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	got := make(chan struct{}, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		r := bufio.NewReader(c)
		for {
			for range 5 {
				if _, err := r.ReadString('\n'); err != nil {
					return
				}
			}
			got <- struct{}{}
			<-release
			if _, err := c.Write([]byte(answer)); err != nil {
				return
			}
		}
	}()
	return l.Addr().String(), got
}

func getLoad() load { return load{conns: 1, depth: 1, keys: 10, getSet: -1, seed: 1} }

func TestAnswerAfterTheWindowIsASlowAnswerButNoOperation(t *testing.T) {
	release := make(chan struct{})
	addr, received := fakeServer(t, "$1\r\nx\r\n", release)
	w := newWindow()
	w.open()
	g, err := startLoad(addr, getLoad(), w)
	require.NoError(t, err)
	<-received
	release <- struct{}{} // answered within
	<-received
	w.close()
	release <- struct{}{} // sent within, answered after
	<-received            // and one sent after, never answered
	require.NoError(t, g.finish())
	close(release)
	r, err := g.result(w)
	require.NoError(t, err)
	require.InDelta(t, 1, r.ops*w.length().Seconds(), 1e-6)
	require.EqualValues(t, 2, r.hist.Count())
}

func TestUnansweredRequestIsInTheWorst(t *testing.T) {
	addr, received := fakeServer(t, "", make(chan struct{}))
	w := newWindow()
	g, err := startLoad(addr, getLoad(), w)
	require.NoError(t, err)
	<-received
	w.open()
	for w.now()-w.from.Load() < 2*ms { // the wait to be seen is real time
		runtime.Gosched()
	}
	w.close()
	require.NoError(t, g.finish())
	r, err := g.result(w)
	require.NoError(t, err)
	require.GreaterOrEqual(t, r.worst, 2*time.Millisecond)
	require.Zero(t, r.ops)
}

func TestErrorRepliesFailALoad(t *testing.T) {
	release := make(chan struct{})
	addr, received := fakeServer(t, "-LOADING wait\r\n", release)
	w := newWindow()
	w.open()
	g, err := startLoad(addr, getLoad(), w)
	require.NoError(t, err)
	<-received
	release <- struct{}{}
	<-received
	w.close()
	require.NoError(t, g.finish())
	close(release)
	_, err = g.result(w)
	require.ErrorContains(t, err, "LOADING wait")
}

func TestALostConnectionEndsTheLoad(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var stop atomic.Bool
	k, err := newWorker(l.Addr().String(), newMixDriver(getLoad(), 0), newWindow(), &stop)
	require.NoError(t, err)
	defer k.conn.Close()
	c, err := l.Accept()
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.ErrorContains(t, k.run(), "load")
}
