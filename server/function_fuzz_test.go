package server

import (
	"testing"

	"firn/persistence/rdb"
	"firn/server/script"

	"github.com/stretchr/testify/require"
)

// FuzzFunctionPayload: whatever stands before a correct footer, it is restored
// or refused with one error.
func FuzzFunctionPayload(f *testing.F) {
	var w rdb.Encoder
	code := "#!lua name=a\nredis.register_function('f', function() return 1 end)"
	w.Byte(opFunction2)
	w.String([]byte(code))
	f.Add(w.Take())
	w.Byte(opFunction)
	for _, s := range []string{"a", "LUA"} {
		w.String([]byte(s))
	}
	w.Len(1)
	w.String([]byte("text"))
	w.String([]byte("redis.register_function('f', function() return 1 end)"))
	f.Add(w.Take())
	f.Add([]byte{opFunction2, 0xC3, 1, 0xBF, 0xFF, 0})
	f.Add([]byte{opFunction2, 0x80, 0xFF, 0xFF, 0xFF, 0xFF})
	f.Fuzz(func(t *testing.T, body []byte) {
		var fs functions
		host := func() script.Host { return &loadHost{srv: &Server{}, until: 1 << 62} }
		found, err := fs.read(body, host, 1<<20)
		if err == nil {
			libraries, _ := found.Len()
			require.Equal(t, len(body) == 0, libraries == 0)
		}
	})
}

// Both forms of a library are read.
func TestFunctionPayloadForms(t *testing.T) {
	text := "redis.register_function('f', function() return 1 end)"
	var w rdb.Encoder
	w.Byte(opFunction)
	w.String([]byte("old"))
	w.String([]byte("LUA"))
	w.Len(1)
	w.String([]byte("what it is"))
	w.String([]byte(text))
	w.Byte(opFunction2)
	w.String([]byte("#!lua name=new\nredis.register_function('g', function() return 1 end)"))
	var fs functions
	srv := serve(t)
	found, err := fs.read(w.Take(), func() script.Host { return &loadHost{srv: srv.Server, until: 1 << 62} }, 1<<20)
	require.NoError(t, err)
	require.Equal(t, "#!LUA name=old\n"+text, found.Library("old").Code)
	require.NotNil(t, found.Find("g"))
}
