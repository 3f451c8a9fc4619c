package script

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A table with a large key is no large table.
func TestLargeKeysAreCheap(t *testing.T) {
	st := NewState()
	start := time.Now()
	got := runHere(t, st, `local t = {} for i = 1, 100 do t[i * 700000] = i end
local n, sum = 0, 0 for k, v in pairs(t) do n = n + 1 sum = sum + k / v end return n, sum, t[700000], #t`)
	require.Equal(t, "true|100|70000000|1|0", got)
	require.Less(t, time.Since(start), 2*time.Second, "it was 17 seconds")
}

// A table may have more elements than its array.
func TestManyElements(t *testing.T) {
	if testing.Short() {
		t.Skip("fills tables of 600,000 elements")
	}
	st := NewState()
	for body, want := range map[string]string{
		`local t = {} for i = 1, 600000 do t[#t + 1] = i end return #t, t[524287], t[524288], t[600000], table.getn(t), t[600001]`: "true|600000|524287|524288|600000|600000|nil",
		`local t = {} for i = 1, 600000 do table.insert(t, i) end table.insert(t, 1, "first") table.insert(t, 600000, "late")
			return #t, t[1], t[2], t[524288], t[524289], t[600000], t[600002]`: "true|600002|'first'|1|524287|524288|'late'|600000",
		`local t = {} for i = 1, 600000 do t[i] = i end local a, b, c = table.remove(t), table.remove(t, 1), table.remove(t, 524287)
			return a, b, c, #t, t[1], t[524287], t[599997], t[599998]`: "true|600000|1|524288|599997|2|524289|599999|nil",
		`local t = {} for i = 1, 600000 do t[i] = 600000 - i end table.sort(t) return #t, t[1], t[524287], t[524288], t[600000]`:                                            "true|600000|0|524286|524287|599999",
		`local t = {} for i = 1, 600000 do t[i] = 1 end local n = 0 for _ in ipairs(t) do n = n + 1 end return n, #table.concat(t), select("#", unpack(t, 524280, 524290))`: "true|600000|600000|11",
		`local t = {} for i = 1, 600000 do t[i] = i end for i = 600000, 200001, -1 do t[i] = nil end return #t`:                                                             "true|200000",
		`local t = {} for i = 1, 600000 do t[i] = i end local u = cjson.decode(cjson.encode(t)) local v = cmsgpack.unpack(cmsgpack.pack(t))
			return #u, u[600000], #v, v[600000], next({}, nil)`: "true|600000|600000|600000|600000|nil",
	} {
		require.Equal(t, want, runHere(t, st, body), body)
	}
}
