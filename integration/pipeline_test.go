package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPipelinesOfBigReplies: every command of a long pipeline is answered,
// however much the replies are and however late the client begins to read. (The
// session stops at a megabyte of unread replies, and must go on.)
func TestPipelinesOfBigReplies(t *testing.T) {
	addr := startFirn(t, buildFirn(t))
	for _, size := range []int{1000, 10_000, 60_000, 100_000, 300_000} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d bytes, late %v", size, late), func(t *testing.T) {
				w, err := openWire(addr, 0)
				require.NoError(t, err)
				defer w.Close()
				require.NoError(t, w.SetDeadline(time.Now().Add(20*time.Second)))
				require.NoError(t, w.expect("+OK", "SET", "key", strings.Repeat("v", size)))
				n := 20_000_000 / size
				sent := make(chan error, 1)
				go func() {
					commands := make([][]string, n)
					for i := range commands {
						commands[i] = []string{"GET", "key"}
					}
					sent <- w.send(commands)
				}()
				if late {
					require.NoError(t, <-sent) // the commands are few enough for the buffers
				}
				for i := range n {
					reply, err := w.reply()
					require.NoError(t, err, "reply %d of %d", i, n)
					require.Len(t, reply, size+2)
				}
				if !late {
					require.NoError(t, <-sent)
				}
				require.NoError(t, w.expect("+PONG", "PING"))
			})
		}
	}
}
