package integration

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A variant is a way to run the same commands.
type variant struct {
	name string
	addr string
	deep int // commands sent with one write; 1: each waits for its reply
}

// variants starts the servers: by shards, event loops, threads of the pool and
// what runs aside.
func variants(t *testing.T) []variant {
	start := func(aside bool, shards, loops, heavy int) string {
		options := []string{"--shards", fmt.Sprint(shards), "--event-loops", fmt.Sprint(loops), "--heavy-threads", fmt.Sprint(heavy), "--enable-debug-command", "yes"}
		if aside {
			return faultyAside(t, "", options...)
		}
		return startFirn(t, buildFirn(t), options...)
	}
	return []variant{
		{"plain", start(false, 1, 1, 1), 1},
		{"16 shards", start(false, 16, 2, 2), 1},
		{"2 shards, pipelined", start(false, 2, 2, 1), 64},
		{"16 shards, pipelined", start(false, 16, 1, 2), 1000},
		{"all aside", start(true, 16, 1, 2), 1},
		{"1 shard, all aside, pipelined", start(true, 1, 2, 1), 64},
		{"2 shards, all aside, pipelined", start(true, 2, 1, 2), 7},
		{"all aside, sealed versions", startWith(t, buildFirn(t, "fault", "invariants"), []string{"FIRN_ASIDE=all"}, "--shards", "4", "--enable-debug-command", "yes"), 16},
	}
}

// patience is how long a sequence may take until what is still missing counts
// as lost, which it must not be in any variant.
const patience = 20 * time.Second

// replies runs the commands in an empty keyspace and returns their replies,
// without what depends on time and free order. After a reply that does not come
// there are no others.
func (v *variant) replies(commands [][]string, patience time.Duration) ([]string, error) {
	w, err := openWire(v.addr, 0)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if err := w.expect("+OK", "FLUSHALL"); err != nil {
		return nil, err
	}
	if err := w.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	var replies []string
	for batch := range slices.Chunk(commands, v.deep) {
		sent := make(chan error, 1)
		go func() { sent <- w.send(batch) }()
		for _, args := range batch {
			r, err := w.reply()
			if err != nil {
				return append(replies, "lost: "+err.Error()), nil
			}
			replies = append(replies, settled(args, r))
		}
		if err := <-sent; err != nil {
			return nil, err
		}
	}
	return replies, nil
}

// settled takes out of a reply what may differ.
func settled(args []string, reply string) string {
	switch args[0] {
	case "KEYS", "SCAN", "SSCAN", "HSCAN", "ZSCAN", "SMEMBERS", "SINTER", "SUNION", "SDIFF", "HKEYS", "HVALS", "HGETALL", "SORT", "SORT_RO", "KEYDB.NHGET":
		return sorted(reply)
	case "XPENDING":
		return idleTime.ReplaceAllString(reply, ":idle $1]")
	case "XINFO":
		return instants.ReplaceAllString(reply, "$1$2:varies")
	case "HTTL", "HPTTL", "HEXPIRETIME", "HPEXPIRETIME":
		return positive.ReplaceAllString(reply, ":later")
	case "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME":
		if len(reply) > 2 && reply[0] == ':' && reply[1] != '-' {
			return ":later"
		}
	}
	return reply
}

var (
	idleTime = regexp.MustCompile(`:\d+ (:\d+)\]`)                                              // and how often it was delivered
	instants = regexp.MustCompile(`:\d{13}\b|("idle" |"inactive" ):-?\d+|("lag" )(:-?\d+|nil)`) // Redis 7.0 counts what was trimmed as lag (K10)
	positive = regexp.MustCompile(`:[1-9]\d*`)
)

// hurry is the patience while a sequence is shrunk.
const hurry = time.Second

// disagree says in which reply the variants differ; -1: in none.
func disagree(a, b *variant, commands [][]string) (at int, ra, rb string, err error) {
	one, err := a.replies(commands, hurry)
	if err != nil {
		return 0, "", "", err
	}
	two, err := b.replies(commands, hurry)
	if err != nil {
		return 0, "", "", err
	}
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			return i, one[i], two[i], nil
		}
	}
	return -1, "", "", nil
}

// shrink leaves commands out as long as the variants disagree over the rest.
func shrink(a, b *variant, commands [][]string, until time.Time) [][]string {
	for size := len(commands) / 2; size > 0 && time.Now().Before(until); {
		smaller := false
		for from := 0; from+size <= len(commands) && time.Now().Before(until); {
			rest := slices.Concat(commands[:from], commands[from+size:])
			if at, _, _, err := disagree(a, b, rest); err == nil && at >= 0 {
				commands, smaller = rest[:at+1], true
			} else {
				from += size
			}
		}
		if !smaller || size > len(commands)/2 {
			size /= 2
		}
	}
	return commands
}

// A difference is a sequence that two variants answer differently.
type difference struct {
	a, b     *variant
	commands [][]string
	round    int
}

func (d *difference) Error() string {
	s := shrink(d.a, d.b, d.commands, time.Now().Add(20*time.Second))
	at, ra, rb, err := disagree(d.a, d.b, s)
	var text strings.Builder
	fmt.Fprintf(&text, "round %d: %q and %q disagree (now at %d, %v):\n", d.round, d.a.name, d.b.name, at, err)
	for _, args := range s {
		fmt.Fprintf(&text, "  %.300q\n", args)
	}
	fmt.Fprintf(&text, "%.400s\n%.400s", ra, rb)
	return text.String()
}

// compare runs sequence after sequence on all variants until the time is over
// or two disagree, and says how many commands it ran on each.
func compare(all []variant, g *generator, d time.Duration) (ran int, err error) {
	for round, end := 0, time.Now().Add(d); time.Now().Before(end); round++ {
		commands := g.sequence(200)
		replies := make([][]string, len(all))
		err := together(len(all), func(i int) (err error) {
			replies[i], err = all[i].replies(commands, patience)
			return err
		})
		if err != nil {
			return ran, err
		}
		for i := range all {
			if !slices.Equal(replies[0], replies[i]) || len(replies[i]) != len(commands) {
				return ran, &difference{&all[0], &all[i], commands, round}
			}
		}
		ran += len(commands)
	}
	return ran, nil
}

// TestMetamorphic: the replies to a sequence of commands don't depend on how
// many shards, loops or threads there are, on what runs aside, or on how the
// commands are sent.
func TestMetamorphic(t *testing.T) {
	all := variants(t)
	g := &generator{Rand: newRand(testSeed(t), 0), forms: readForms(t, all[0].addr)}
	ran, err := compare(all, g, budget(t, 12*time.Second))
	t.Logf("%d commands of %d forms", ran, len(g.forms))
	require.NoError(t, err)
	require.Greater(t, ran, 500)
	for _, v := range all {
		requireAtRest(t, v.addr)
	}
}

// TestMetamorphicFindsFaults: servers that make mistakes which one client alone
// can see must be found out.
func TestMetamorphicFindsFaults(t *testing.T) {
	debug := []string{"--enable-debug-command", "yes"}
	plain := variant{"plain", startFirn(t, buildFirn(t), debug...), 1}
	for _, fault := range []string{"reply-first", "stale-version"} {
		t.Run(fault, func(t *testing.T) {
			faulty := variant{fault, faultyAside(t, fault, debug...), 64}
			g := &generator{Rand: newRand(testSeed(t), 0), forms: readForms(t, plain.addr)}
			ran, err := compare([]variant{plain, faulty}, g, 20*time.Second)
			var d *difference
			require.ErrorAs(t, err, &d, "nobody noticed in %d commands", ran)
			t.Logf("found after %d commands", ran)
		})
	}
}

// TestMetamorphicAgainstRedis: redis-server 7.0 answers the same. Left out is
// what says the version, that Redis shares small integers until they are copied,
// which OBJECT REFCOUNT shows, that SORT changes a sorted set's encoding, how
// the error about a script is worded, and distances that are stored.
func TestMetamorphicAgainstRedis(t *testing.T) {
	program := os.Getenv("REDIS_SERVER")
	if program == "" {
		var err error
		if program, err = exec.LookPath("redis-server"); err != nil {
			t.Skip("no redis-server: set REDIS_SERVER to run the duel")
		}
	}
	debug := []string{"--enable-debug-command", "yes"}
	all := []variant{
		{"redis", startWith(t, program, nil, debug...), 64},
		{"firn", startFirn(t, buildFirn(t), debug...), 1},
		{"all aside, pipelined", faultyAside(t, "", debug...), 64},
	}
	w, err := openWire(all[0].addr, 0)
	require.NoError(t, err)
	defer w.Close()
	if info, err := w.do("INFO", "server"); err != nil || !strings.Contains(info, "redis_version:7.0.") {
		t.Skipf("the duel is with Redis 7.0 (%v)", err)
	}
	left := []string{"lolwut", "object|refcount", "sort", "sort_ro", "eval", "eval_ro", "script|load"}
	forms := slices.DeleteFunc(readForms(t, all[0].addr), func(f form) bool { return slices.Contains(left, f.Name) })
	has := readForms(t, all[1].addr)
	forms = slices.DeleteFunc(forms, func(f form) bool {
		return !slices.ContainsFunc(has, func(o form) bool { return o.Name == f.Name })
	})
	g := &generator{Rand: newRand(testSeed(t), 0), forms: forms, noLex: true, noDistances: true}
	ran, err := compare(all, g, budget(t, 8*time.Second))
	t.Logf("%d commands of %d forms", ran, len(g.forms))
	require.NoError(t, err)
	require.Greater(t, ran, 500)
}
