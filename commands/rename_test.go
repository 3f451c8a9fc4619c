package commands

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRename(t *testing.T) {
	table := NewTable(Families()...)
	get := table.Lookup([]byte("get"))
	require.Equal(t, ErrRenameUnknown, table.Rename("nosuch", "x"))
	require.Equal(t, ErrRenameTaken, table.Rename("GET", "set"))
	require.Same(t, get, table.Lookup([]byte("GET")))

	secret := strings.Repeat("b840fc02d524045429941cc15f59e41cb7be6c52", 2)
	require.NoError(t, table.Rename("Get", secret))
	require.Nil(t, table.Lookup([]byte("get")))
	require.Same(t, get, table.Lookup([]byte(strings.ToUpper(secret))))
	require.NoError(t, table.Rename(secret, "Fetch"))
	require.Same(t, get, table.Lookup([]byte("fetch")))

	require.NoError(t, table.Rename("flushall", ""))
	require.Nil(t, table.Lookup([]byte("flushall")))
	require.Nil(t, table.Lookup([]byte(strings.Repeat("x", 5000))))
}
