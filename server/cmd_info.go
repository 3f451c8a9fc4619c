package server

import (
	"strconv"
	"strings"

	"firn/commands"
	"firn/mvcc"
	"firn/shard"
)

var infoCommands = []commands.Command{
	{Name: "INFO", Arity: -1, Run: onSession(info), Flags: commands.Loading, Summary: "Get information and statistics about the server"},
}

// An infoSection is one part of INFO.
type infoSection struct {
	name  string // as the client asks for it
	title string
	usual bool // shown when no section is named
	write func(*infoText, *Server)
}

// infoSections are in the order in which INFO prints them, which is Redis':
// redis-cli and others take the first line that begins like what they look for.
var infoSections = []infoSection{
	{"server", "Server", true, infoServer},
	{"clients", "Clients", true, infoClients},
	{"memory", "Memory", true, infoMemory},
	{"persistence", "Persistence", true, infoPersistence},
	{"stats", "Stats", true, infoStats},
	{"replication", "Replication", true, infoReplication},
	{"cpu", "CPU", true, infoCPU},
	{"modules", "Modules", true, func(*infoText, *Server) {}},
	{"commandstats", "Commandstats", false, infoCommandStats},
	{"errorstats", "Errorstats", true, infoErrorStats},
	{"latencystats", "Latencystats", false, infoLatencyStats},
	{"cluster", "Cluster", true, infoCluster},
	{"mvcc", "MVCC", true, infoMVCC},
	{"keyspace", "Keyspace", true, infoKeyspace},
}

func info(c *commands.Call, s *session) error {
	want := map[string]bool{}
	for _, a := range c.Args[1:] {
		want[strings.ToLower(string(a))] = true
	}
	all := want["all"] || want["everything"]
	usual := len(c.Args) == 1 || want["default"]
	want["modules"] = want["modules"] || want["module_list"]
	t := infoText{held: s.hold()}
	for _, sec := range infoSections {
		if all || usual && sec.usual || want[sec.name] {
			t.section(sec.title)
			sec.write(&t, s.srv)
		}
	}
	c.Out.Verbatim("txt", string(t.buf))
	return nil
}

// An infoText is the text of INFO while it grows.
type infoText struct {
	buf   []byte
	usage *mvcc.Usage // once measured
	held  *shard.Hold // of the session that asks
}

func (t *infoText) section(title string) {
	if len(t.buf) > 0 {
		t.buf = append(t.buf, "\r\n"...)
	}
	t.buf = append(t.buf, "# "+title+"\r\n"...)
}

func (t *infoText) str(name, value string) {
	t.buf = append(t.buf, name...)
	t.buf = append(t.buf, ':')
	t.buf = append(t.buf, value...)
	t.buf = append(t.buf, "\r\n"...)
}

func (t *infoText) int(name string, v int64) { t.str(name, strconv.FormatInt(v, 10)) }

// ints adds fields of one kind.
func (t *infoText) ints(fields ...infoInt) {
	for _, f := range fields {
		t.int(f.name, f.v)
	}
}

type infoInt struct {
	name string
	v    int64
}

// zeros adds fields of what this server does not have, or not yet.
func (t *infoText) zeros(names ...string) {
	for _, name := range names {
		t.int(name, 0)
	}
}

// fixed adds a number with two decimals.
func (t *infoText) fixed(name string, v float64, unit string) {
	t.str(name, strconv.FormatFloat(v, 'f', 2, 64)+unit)
}

// memory adds bytes, and behind them the same for humans.
func (t *infoText) memory(name string, bytes int64) {
	t.int(name, bytes)
	t.str(name+"_human", human(bytes))
}

// human writes bytes as Redis does: 1.50M.
func human(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + "B"
	}
	f := float64(n)
	for _, unit := range "KMGTP" {
		if f /= 1024; f < 1024 || unit == 'P' {
			return strconv.FormatFloat(f, 'f', 2, 64) + string(unit)
		}
	}
	return ""
}

// measured is the memory of all shards, measured at most once for one INFO.
func (t *infoText) measured(srv *Server) *mvcc.Usage {
	if t.usage == nil {
		u := srv.shards.Usage(t.held)
		t.usage = &u
	}
	return t.usage
}

// ratio is a/b, 0 for nothing.
func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
