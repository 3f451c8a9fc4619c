package server

import (
	"testing"

	"firn/commands"

	"github.com/stretchr/testify/require"
)

// TestRowsAgreeWithReference: a row with an arity or a flag that isn't Redis'
// is a bug.
func TestRowsAgreeWithReference(t *testing.T) {
	table := commands.NewTable(append(commands.Families(), families()...)...)
	require.Empty(t, table.Contradictions())
}
