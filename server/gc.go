package server

import (
	"runtime/debug"
	"sync/atomic"
)

// How the garbage collector is set. There is almost nothing to mark, because
// index and records hold no pointers, so collecting often is cheap and keeps the
// resident memory near the live data. But a cycle has a fixed price as well
// (stopping the world twice, starting the workers), and with a few megabytes
// alive a small percentage would mean a cycle every few hundred kilobytes. So
// the room between two collections is a share of the live heap, with a floor
// that shrinks as the heap grows. Measured: commands allocate some 40 bytes
// each, so a million of them a second make two or three collections.
const (
	gcShareOfLive = 8         // per cent
	gcFloor       = 16 << 20  // bytes of room for an empty heap
	gcFloorEnd    = 128 << 20 // live bytes from which the share alone counts
	gcLeast       = 4 << 20   // the runtime never collects below this times the percentage
	gcMaxPercent  = 400       // so that this is 16 MiB
)

// gcRoom is how many bytes may be allocated between two collections.
func gcRoom(live int64) int64 {
	room := live * gcShareOfLive / 100
	if live < gcFloorEnd {
		floor := gcFloor - (gcFloor-gcFloorEnd/100*gcShareOfLive)*live/gcFloorEnd
		room = max(room, floor)
	}
	return room
}

// gcPercent is the GOGC for a live heap.
func gcPercent(live int64) int {
	live = max(live, 1)
	return int(min((gcRoom(live)*100+live/2)/live, gcMaxPercent))
}

// percentTo is the GOGC at which a heap of which so much was alive at the last
// collection is collected next when it has grown to the goal.
func percentTo(goal, live int64) int {
	live = max(live, 1)
	return int(min((goal-live)*100/live, goal*100/gcLeast))
}

// goalFor is the goal with which a collection begins no sooner than at so many
// bytes. It begins where the runtime thinks that it will end at the goal, but not
// before 45/64 of the way from what was alive (gcControllerState.trigger of
// runtime/mgcpacer.go).
func goalFor(begin, live int64) int64 { return live + (begin-live)*64/45 }

// grownMost is the part of what was alive by which the data may grow before it
// is marked again. As nobody knows where between begin and goal a collection
// begins, there may be garbage of up to 0.42 of that beside the room.
const grownMost = 3

// gcForcedFrom is the live heap from which a collection is begun when much of it
// was deleted, and the memory given back to the system: an idle server would keep
// it for minutes.
const gcForcedFrom = 64 << 20

// The runtime keeps a tenth of the heap's goal in free pages, for ever. That is
// given back when the data has stood still for a while: used memory that has
// moved by less than a thirty-second of itself, with few writes, is still. (A
// server that evicts at its limit has used memory that doesn't move; it would
// fault the pages in again at once.)
const (
	stillTicks = 5       // ticks of 100 ms
	slackFrom  = 4 << 20 // bytes of garbage and free pages that are worth a collection
	slackShare = 32      // the same, as a part of the heap
	stillMost  = 200     // writes in a tick
)

// A collector keeps the collector's percentage in step with the heap.
type collector struct {
	percent int
	cycles  int64
	used    int64 // used memory at about the last collection
	raised  int64 // used memory for which the percentage is meant
	last    int64 // used memory at the last tick
	still   int   // ticks since used memory has moved
	next    int   // still at which to look again
	stillAt int64 // where it stands

	// releasing says that memory is being given back. A thread that does it can't be
	// stopped by the runtime, and setting the percentage stops the world: clients
	// waited for it, 70 to 120 ms.
	releasing atomic.Bool

	writes int64 // until the last tick
	busy   bool  // many in the last tick
}

// follow is told from time to time the heap, what the data takes of it (used
// memory, here, with what is dead in the segments), and how many writes there
// have been. It adapts the percentage after a collection, and while the data
// grows: what is known to be alive is no reason for a collection, which would
// only mark it, and keep a loop from its processor for a while.
//
// Giving memory back can be tens of milliseconds of kernel time: release runs it
// where it is in nobody's way.
func (c *collector) follow(h heapSize, used, writes int64, release func(f func())) {
	c.busy, c.writes = writes-c.writes > stillMost, writes
	pace := min(max(used-c.last, 0), gcFloor)
	if c.last == 0 {
		pace = 0
	}
	c.last = used
	if c.releasing.Load() {
		return
	}
	if h.collected == c.cycles && c.percent != 0 {
		if max(h.live, c.raised) > gcForcedFrom && used < c.raised/4*3 || c.idle(h, used) {
			c.used, c.raised = used, used
			// The sweep must be done when the room for the next collection is
			// used up: with the percentage of the heap that was, the first
			// allocation of a loop would have to sweep all of it.
			c.set(gcPercent(used))
			c.releasing.Store(true)
			release(func() {
				debug.FreeOSMemory()
				c.releasing.Store(false)
			})
		} else {
			c.grow(h, used, pace)
		}
		return
	}
	c.cycles, c.used, c.raised = h.collected, used, used
	if p := gcPercent(h.live); c.percent == 0 || p > c.percent*9/8 || p < c.percent*7/8 {
		c.set(p)
	}
}

// grow puts the next collection off, so that it does not begin before there is
// garbage, for data that grows by so much a tick. What follow is told is up to a
// tick old, and it is told again after another.
func (c *collector) grow(h heapSize, used, pace int64) {
	live := h.live + used - c.used
	if pace == 0 || used-c.used > max(h.live/grownMost, gcFloorEnd/2) {
		return
	}
	if p := percentTo(goalFor(live+gcRoom(live)/2+3*pace, h.live), h.live); p > c.percent {
		c.raised = used
		c.set(p)
	}
}

func (c *collector) set(percent int) {
	c.percent = percent
	debug.SetGCPercent(percent)
}

// idle says, when the data has come to a stand, whether it left so much behind
// that it is worth a collection. The longer it stands the longer the wait for
// another one, because a load of readers leaves garbage all the time.
func (c *collector) idle(h heapSize, used int64) bool {
	if d := used - c.stillAt; c.busy || d > used/slackShare || -d > used/slackShare {
		c.still, c.next, c.stillAt = 0, stillTicks, used
		return false
	}
	if c.still++; c.still < c.next {
		return false
	}
	if h.free+h.objects-(h.live+used-c.used) <= max(slackFrom, h.live/slackShare) {
		c.next = c.still + stillTicks
		return false
	}
	c.next = c.still + max(stillTicks, c.still/3)
	return true
}
