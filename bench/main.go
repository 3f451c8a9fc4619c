// Command bench runs the experiments of this project against several servers in turn and prints one table an experiment, with
// ratios. `go run ./bench -servers firn,redis -run e2` is a whole comparison; README.md lists the experiments and flags.
//
// It speaks RESP itself and imports nothing of the server, so whatever answers the protocol stands beside it on equal terms.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		exit(probeMain(os.Args[2:], os.Stdin, os.Stdout))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	err := run(ctx, os.Args[1:], os.Stdout, newProgress(os.Stderr))
	stop()
	exit(err)
}

func exit(err error) {
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// options are the parsed flags.
type options struct {
	targets []target
	run     []string
	scale   float64
	rounds  int
	json    string
	window  time.Duration // measured part of a load row
	idle    time.Duration // probe of the idle server
	e1      []string      // types of E1
	settle  time.Duration // before memory is read
	probe   bool
	seed    uint64
	rows    []scanRow
	firn    string
}

func parseOptions(args []string) (options, error) {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	var o options
	servers := fs.String("servers", "firn,redis", "servers in turn: firn, redis, name=host:port, name=cmd:/path/to/binary --args ({port} and {dir} are replaced)")
	list := fs.String("run", "throughput,types,pubsub,weigh,e1,e2,e3,e4,e5", "experiments: throughput,types,pubsub,weigh,e1,e2,e3,e4,e5")
	big := fs.String("e1", "hash,set,sorted set,list,stream,string", "types of E1's big value: hash, set, sorted set, list, stream, string")
	rows := fs.String("e2", quickRows, "rows of E2: scanners x COUNT, 0 for none, keys for a KEYS loop, or all")
	window := fs.Float64("seconds", 5, "seconds measured in each load row")
	idle := fs.Float64("idle", 4, "seconds for which the idle server is probed")
	settle := fs.Float64("settle", 2, "seconds to wait before memory is read")
	fs.Float64Var(&o.scale, "scale", 1, "fraction of the full size: keys, and maxmemory in E5")
	fs.IntVar(&o.rounds, "rounds", 1, "repeat in turns A B A B and take medians")
	fs.StringVar(&o.json, "json", "", "file for every raw figure")
	fs.BoolVar(&o.probe, "probe", true, "run the probe beside each row")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of all random choices")
	fs.StringVar(&o.firn, "firn", "", "firn binary to use; built from this module when empty")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	o.window, o.idle, o.settle = asDuration(*window), asDuration(*idle), asDuration(*settle)
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if o.scale <= 0 || o.rounds < 1 || o.window <= 0 {
		return o, errors.New("-scale, -rounds and -seconds must be positive")
	}
	var err error
	if o.targets, err = parseTargets(*servers); err != nil {
		return o, err
	}
	if o.rows, err = parseRows(*rows); err != nil {
		return o, err
	}
	o.e1 = strings.Split(*big, ",")
	o.run = strings.Split(*list, ",")
	for _, name := range o.run {
		if _, ok := findExperiment(name); !ok {
			return o, fmt.Errorf("-run: no experiment %q", name)
		}
	}
	return o, nil
}

func asDuration(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// scaled is n at the chosen scale.
func (o options) scaled(n int) int { return max(int(float64(n)*o.scale), 100) }

// A report is the JSON file.
type report struct {
	Started  time.Time                    `json:"started"`
	Took     float64                      `json:"took_seconds"`
	Args     []string                     `json:"args"`
	Seed     uint64                       `json:"seed"`
	Scale    float64                      `json:"scale"`
	Rounds   int                          `json:"rounds"`
	Host     hostFacts                    `json:"host"`
	Baseline string                       `json:"ratios_to"`
	Servers  map[string]map[string]string `json:"servers"` // INFO server of each
	Tables   []*Table                     `json:"tables"`
}

// run is the program: parse, run each experiment, print its table when it is done, write the JSON file.
func run(ctx context.Context, args []string, out io.Writer, p *progress) error {
	opt, err := parseOptions(args)
	if err != nil {
		return err
	}
	debug.SetGCPercent(400)
	b := &bench{ctx: ctx, opt: opt, progress: p, facts: map[string]map[string]string{}}
	dir, err := os.MkdirTemp("", "firn-bench-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := b.prepare(dir); err != nil {
		return err
	}
	r := &report{
		Started: time.Now().UTC(), Args: args, Seed: opt.seed, Scale: opt.scale, Rounds: opt.rounds,
		Host: readHost(), Baseline: baseline(b.names()), Servers: b.facts,
	}
	runErr := b.runAll(r, out)
	p.clear()
	r.Took = time.Since(r.Started).Seconds()
	fmt.Fprint(out, r.footer())
	return errors.Join(runErr, r.write(opt.json))
}

func (r *report) footer() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, scale %g, medians of %d rounds, %.0f s; %d cores (%s), %d MiB, Linux %s, %s\n",
		r.Seed, r.Scale, r.Rounds, r.Took, r.Host.Cores, r.Host.CPU, r.Host.MemoryMB, r.Host.Kernel, r.Host.Go)
	for name, f := range r.Servers {
		fmt.Fprintf(&b, "%s: redis_version %s", name, f["redis_version"])
		for _, own := range []string{"firn_version", "valkey_version", "dragonfly_version"} {
			if f[own] != "" {
				fmt.Fprintf(&b, ", %s %s", own, f[own])
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (r *report) write(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
