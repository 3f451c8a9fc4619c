package commands

import "slices"

// A keySpec says where some of a command's keys stand: where the search for
// them begins, and how they follow from there. It is a key specification of
// Redis 7 (https://redis.io/docs/reference/key-specs). Without Index and
// Keyword, or without Range and Keynum, only code of its own can find the keys.
type keySpec struct {
	Notes     string   `json:"notes,omitempty"`
	Flags     []string `json:"flags,omitempty"`
	Index     int      `json:"index,omitempty"`     // begin at this argument
	Keyword   string   `json:"keyword,omitempty"`   // begin after this word,
	StartFrom int      `json:"startfrom,omitempty"` // sought from here; negative: backwards from the end
	Range     *[3]int  `json:"range,omitempty"`     // lastkey (relative to the first; negative: to the end), keystep, limit
	Keynum    *[3]int  `json:"keynum,omitempty"`    // keynumidx, firstkey (relative to the beginning), keystep
}

type keySpecs []keySpec

// A keyRef is the position of a key in a command line, and what is done to it.
type keyRef struct {
	at    int
	flags []string
}

// spec is the layout as a key specification.
func (k Keys) spec() keySpec {
	last := k.Last
	if last >= 0 {
		last -= k.First
	}
	return keySpec{Index: k.First, Range: &[3]int{last, k.Step, 0}}
}

func (s *keySpec) has(flag string) bool { return slices.Contains(s.Flags, flag) }

// realKeys says whether any of the specifications is about keys.
func (specs keySpecs) realKeys() bool {
	return slices.ContainsFunc(specs, func(s keySpec) bool { return !s.has("not_key") })
}

func (specs keySpecs) vary() bool {
	return slices.ContainsFunc(specs, func(s keySpec) bool { return s.has("variable_flags") })
}

// positions is a Keys.Find.
func (specs keySpecs) positions(args [][]byte) []int {
	refs, _ := specs.find(args)
	var at []int
	for _, r := range refs {
		at = append(at, r.at)
	}
	return at
}

// find returns all keys; false if the command line is wrong or the
// specifications don't suffice.
func (specs keySpecs) find(args [][]byte) ([]keyRef, bool) {
	var refs []keyRef
	for i := range specs {
		s := &specs[i]
		if s.has("not_key") {
			continue
		}
		begin, found := s.begin(args)
		if !found {
			return nil, false
		}
		if begin == 0 {
			continue
		}
		first, last, step, ok := s.extent(args, begin)
		if !ok || last >= len(args) || last < first || first >= len(args) {
			return nil, false
		}
		for at := first; at <= last; at += step {
			refs = append(refs, keyRef{at, s.Flags})
		}
		if s.has("incomplete") {
			return nil, false
		}
	}
	return refs, true
}

// begin is where the keys begin, 0 if they are absent; false if unknown.
func (s *keySpec) begin(args [][]byte) (int, bool) {
	switch {
	case s.Index > 0:
		return s.Index, true
	case s.Keyword == "":
		return 0, false
	}
	i, end, step := s.StartFrom, len(args)-1, 1
	if i <= 0 {
		i, end = len(args)+i, 1
	}
	if i > end {
		step = -1
	}
	for ; i != end && i >= 1 && i < len(args); i += step {
		if foldEqual(args[i], s.Keyword) {
			return i + 1, true
		}
	}
	return 0, true
}

// extent is the range of the keys that begin there; false if it can't be told.
func (s *keySpec) extent(args [][]byte, begin int) (first, last, step int, ok bool) {
	switch {
	case s.Range != nil:
		last, step, limit := s.Range[0], s.Range[1], s.Range[2]
		switch {
		case last >= 0:
			last += begin
		case limit == 0:
			last += len(args)
		default:
			last += begin + (len(args)-begin)/limit
		}
		return begin, last, step, true
	case s.Keynum != nil:
		at, first, step := begin+s.Keynum[0], begin+s.Keynum[1], s.Keynum[2]
		if at >= len(args) {
			return 0, 0, 0, false
		}
		n, ok := ParseInt(args[at])
		return first, first + int(n) - 1, step, ok && n >= 0 && n <= int64(len(args))
	}
	return 0, 0, 0, false
}

// keysOf finds the keys of a command line as COMMAND GETKEYS does.
func keysOf(r *Command, args [][]byte) []keyRef {
	p := r.page()
	if p.KeySpecs.realKeys() && !p.KeySpecs.vary() {
		if refs, ok := p.KeySpecs.find(args); ok {
			return refs
		}
	}
	if find := ownFinder(r.full); find != nil {
		return find(args)
	}
	return nil
}

// mayHaveKeys says whether command lines of the row can have keys.
func mayHaveKeys(r *Command) bool {
	return ownFinder(r.full) != nil || r.page().KeySpecs.realKeys()
}

// What is done to keys, for the finders that know it.
var (
	keyRead     = []string{"RO", "access"}
	keyRewrite  = []string{"RW", "access", "update"}
	keyReplace  = []string{"OW", "update"}
	keyTakeAway = []string{"RW", "access", "delete"}
)

// ownFinder returns the function that finds the keys of a command whose
// specifications don't tell all, or that is asked when they don't fit the line.
func ownFinder(name string) func(args [][]byte) []keyRef {
	switch name {
	case "set":
		return setKeys
	case "bitfield":
		return bitfieldKeys
	case "sort":
		return sortKeys
	case "sort_ro":
		return func([][]byte) []keyRef { return []keyRef{{1, keyRead}} }
	case "migrate":
		return migrateKeys
	case "georadius", "georadiusbymember":
		return georadiusKeys
	case "xread", "xreadgroup":
		return xreadKeys
	case "eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro", "blmpop", "bzmpop":
		return countedKeys(0, 2)
	case "lmpop", "zmpop", "sintercard", "zdiff", "zinter", "zintercard", "zunion":
		return countedKeys(0, 1)
	case "zdiffstore", "zinterstore", "zunionstore":
		return countedKeys(1, 2)
	}
	return nil
}

// countedKeys is for a number of keys at an argument and the keys behind it; a
// destination, if there is one, comes last.
func countedKeys(store, count int) func(args [][]byte) []keyRef {
	return func(args [][]byte) []keyRef {
		n := leadingInt(args[count])
		first := count + 1
		if n < 1 || n > len(args)-first {
			return nil
		}
		var refs []keyRef
		for i := range n {
			refs = append(refs, keyRef{at: first + i})
		}
		if store > 0 {
			refs = append(refs, keyRef{at: store})
		}
		return refs
	}
}

// leadingInt reads a number as C's atoi does: what stands after it is ignored.
// Numbers beyond any argument count are all alike.
func leadingInt(b []byte) int {
	for len(b) > 0 && isCSpace(b[0]) {
		b = b[1:]
	}
	if len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<40 {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}

func setKeys(args [][]byte) []keyRef {
	for _, arg := range args[3:] {
		if foldEqual(arg, "get") {
			return []keyRef{{1, keyRewrite}}
		}
	}
	return []keyRef{{1, keyReplace}}
}

// bitfieldKeys finds out whether there is more than GET.
func bitfieldKeys(args [][]byte) []keyRef {
	for i := 2; i < len(args); i++ {
		left := len(args) - i - 1
		switch {
		case foldEqual(args[i], "get") && left >= 2:
			i += 2
		case foldEqual(args[i], "overflow") && left >= 1:
			i++
		default:
			return []keyRef{{1, keyRewrite}}
		}
	}
	return []keyRef{{1, keyRead}}
}

// sortKeys takes the last STORE that isn't another option's value.
func sortKeys(args [][]byte) []keyRef {
	refs := []keyRef{{1, keyRead}}
	for i := 2; i < len(args); i++ {
		switch {
		case foldEqual(args[i], "limit"):
			i += 2
		case foldEqual(args[i], "get"), foldEqual(args[i], "by"):
			i++
		case foldEqual(args[i], "store") && i+1 < len(args):
			refs = append(refs[:1], keyRef{i + 1, keyReplace})
		}
	}
	return refs
}

func migrateKeys(args [][]byte) []keyRef {
	first, end := 3, 4
	for i := 6; i < len(args); i++ {
		if foldEqual(args[i], "keys") {
			first, end = i+1, len(args)
			if len(args[3]) > 0 {
				return nil // the line is wrong: keys at both places
			}
			break
		}
		switch {
		case foldEqual(args[i], "auth"):
			i++
		case foldEqual(args[i], "auth2"):
			i += 2
		}
	}
	var refs []keyRef
	for at := first; at < end; at++ {
		refs = append(refs, keyRef{at, keyTakeAway})
	}
	return refs
}

func georadiusKeys(args [][]byte) []keyRef {
	refs := []keyRef{{at: 1}}
	for i := 5; i+1 < len(args); i++ {
		if foldEqual(args[i], "store") || foldEqual(args[i], "storedist") {
			i++
			refs = append(refs[:1], keyRef{at: i})
		}
	}
	return refs
}

func xreadKeys(args [][]byte) []keyRef {
	for i := 1; i < len(args); i++ {
		switch {
		case foldEqual(args[i], "block"), foldEqual(args[i], "count"):
			i++
		case foldEqual(args[i], "group"):
			i += 2
		case foldEqual(args[i], "noack"):
		case foldEqual(args[i], "streams"):
			return firstHalf(i+1, len(args))
		default:
			return nil
		}
	}
	return nil
}

// firstHalf is for keys that are followed by as many other things.
func firstHalf(from, to int) (refs []keyRef) {
	if (to-from)%2 != 0 {
		return nil
	}
	for at := from; at < from+(to-from)/2; at++ {
		refs = append(refs, keyRef{at: at})
	}
	return refs
}
