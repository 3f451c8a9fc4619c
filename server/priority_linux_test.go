package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWholeWorkers(t *testing.T) {
	for n, want := range map[int]int{1: 4, 2: 4, 3: 4, 4: 4, 5: 5, 6: 7, 7: 7, 8: 8, 12: 12, 96: 96} {
		require.Equal(t, want, wholeWorkers(n), "%d processors", n)
	}
}
