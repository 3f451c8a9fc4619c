package server

import "strconv"

// A letter is something that sessions of one home get unasked: a message of a
// channel, or a line for those who monitor. Its bytes are never changed.
type letter struct {
	parts int    // elements of the push; 0: the bytes as they are
	head  []byte // what is short and copied
	body  []byte // what is shared by all who get it if it is long (commands.Reply.Keep)
	to    []*session
}

// size is about what it takes to deliver the letter, in bytes.
func (l *letter) size() int { return len(l.head) + len(l.body) + len(l.to)*deliverySize }

// deliverySize is about the price of one delivery, in bytes.
const deliverySize = 64

// busyFrom is from how many bytes of letters on a home is behind: sessions of
// other homes that publish more wait until it has read them.
const busyFrom = 4 << 20

func appendBulk[T string | []byte](to []byte, s T) []byte {
	to = append(to, '$')
	to = strconv.AppendInt(to, int64(len(s)), 10)
	to = append(to, "\r\n"...)
	to = append(to, s...)
	return append(to, "\r\n"...)
}

// letters are those that a home has not read yet. Whoever has it guards it.
type letters struct {
	queue []letter
	size  int
}

func (ls *letters) put(l letter) {
	ls.queue = append(ls.queue, l)
	ls.size += l.size()
}

func (ls *letters) take() []letter {
	q := ls.queue
	*ls = letters{}
	return q
}

// deliver gives the letters to their sessions, at whose home it runs, and calls
// fresh with each that had none in this turn. Unless a command is running, much
// is sent at once: buffers that had grown to 64 messages of 4 KiB, for each of 50
// subscribers, were given up and made again in every turn.
func deliver(all []letter, running bool, fresh func(*session)) {
	for i := range all {
		for _, s := range all[i].to {
			if s.tell(&all[i]) {
				fresh(s)
			}
			if !running && s.out.Len() >= sendFrom {
				s.sendTold()
			}
		}
	}
}

// sharedFrom is from how many bytes on the text of a message is shared by those
// who have not read what came before it. It costs as much as copying, and 50
// subscribers that are slow keep it once. (For those who are not, copying up to
// 16 KiB takes less: 1.6 µs a message of 4 KiB, against 2.05.)
const sharedFrom = 1 << 10

// sendFrom is how many bytes of letters are sent before the end of the turn.
const sendFrom = 64 << 10

// tell appends a letter to the session's replies, and says whether that is its
// first in this turn. While a command of the session runs aside its reply is on
// its way, in pieces maybe, and the letters wait.
func (s *session) tell(l *letter) (first bool) {
	if s.closed || s.closing || s.info.killed.Load() || l.parts == 0 && !s.info.monitor.Load() {
		return false
	}
	if s.flow != nil {
		s.kept = append(s.kept, *l)
		s.keptSize += len(l.head) + len(l.body)
	} else {
		s.say(l)
	}
	first = !s.told
	s.told = true
	return first
}

func (s *session) say(l *letter) {
	before := s.out.Len() - len(s.out.Bytes())
	if l.parts > 0 {
		s.out.Push(l.parts)
	}
	s.out.Raw(l.head)
	if s.queued > 0 {
		s.out.KeepFrom(sharedFrom, l.body)
	} else {
		s.out.Keep(l.body)
	}
	s.foreign += s.out.Len() - len(s.out.Bytes()) - before
}

// sayKept appends what came while a command ran aside.
func (s *session) sayKept() {
	for i := range s.kept {
		s.say(&s.kept[i])
	}
	s.kept, s.keptSize = nil, 0
}

// wasTold sends what the session was told in this turn. One that its client does
// not read goes to the queue without another try.
func (s *session) wasTold() {
	s.told = false
	if s.closed {
		return
	}
	s.call.Now = s.home.clock() / 1000
	s.checkOutput()
	if !s.closed {
		s.sendTold()
		if !s.closed {
			s.info.updateOutput(s)
		}
	}
}

func (s *session) sendTold() {
	if s.queued > 0 {
		s.collect()
	} else {
		s.peer.flush()
	}
}
