package server

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStreamedReplyIsWhole: blocks of a reply that were written are filled again,
// and none that the client has not taken. The socket holds little, so that most of
// the reply waits for the reader, who is slow.
func TestStreamedReplyIsWhole(t *testing.T) {
	const keys = 150_000
	path := socketPath(t)
	serveWith(t, "--port", "0", "--unixsocket", path, "--save", "", "--enable-debug-command", "yes")
	nc, err := net.Dial("unix", path)
	require.NoError(t, err)
	c := client(t, nc)
	require.Equal(t, "+OK", c.do(fmt.Sprintf("DEBUG POPULATE %d some-longer-name 4", keys)))
	for round := range 3 {
		c.send("KEYS *", "ECHO end")
		seen := make([]bool, keys)
		require.Equal(t, fmt.Sprintf("*%d\r\n", keys), c.line())
		for range keys {
			var size, i int
			_, err := fmt.Sscanf(c.line()+c.line(), "$%d\r\nsome-longer-name:%d\r\n", &size, &i)
			require.NoError(t, err, "round %d", round)
			require.Equal(t, len(fmt.Sprintf("some-longer-name:%d", i)), size)
			require.False(t, seen[i], "key %d came twice", i)
			seen[i] = true
		}
		require.Equal(t, "$3\r\nend", c.reply())
	}
}

func (c *testClient) line() string {
	line, err := c.r.ReadString('\n')
	require.NoError(c.t, err)
	return line
}

// TestFlowHandsBlocksBack: a block comes back when all of it was written, and not
// before.
func TestFlowHandsBlocksBack(t *testing.T) {
	first, second := make([]byte, 10), make([]byte, 10)
	f := &flow{blocks: []block{{first, 10}, {second, 20}}}
	f.drained(0)
	require.Nil(t, f.written(), "it has not come to the session yet")
	f.delivered = 20
	f.drained(11)
	require.Nil(t, f.written())
	f.drained(10)
	require.Same(t, &first[0], &f.written()[0])
	require.Nil(t, f.written())
	f.drained(0)
	require.Same(t, &second[0], &f.written()[0])
	require.Empty(t, f.blocks)
}
