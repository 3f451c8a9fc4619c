package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary stand in for the program when it starts probes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		exit(probeMain(os.Args[2:], os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func TestEverythingRunsAgainstRedis(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	file := filepath.Join(t.TempDir(), "out.json")
	var out strings.Builder
	args := "-servers redis,again=cmd:redis-server -run e1,e2,e3,e4,e5,throughput,types,pubsub,weigh -scale 0.002 -seconds 0.1 -idle 0.1 -settle 0.01 -e2 3x100,keys -json " + file
	require.NoError(t, run(context.Background(), strings.Fields(args), &out, &progress{}))

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var r report
	require.NoError(t, json.Unmarshal(text, &r))
	require.Len(t, r.Tables, 9)
	for _, table := range r.Tables {
		require.Empty(t, table.Failed, table.Name)
		for _, l := range table.Lines {
			require.Len(t, l.Samples["redis"], 1, "%s %s %s", table.Name, l.Row, l.Metric)
			require.Len(t, l.Samples["again"], 1, "%s %s %s", table.Name, l.Row, l.Metric)
			if strings.HasSuffix(l.Metric, "wrong") || strings.HasPrefix(l.Metric, "keys missed") || l.Metric == "keys twice" {
				require.Zero(t, l.Samples["redis"][0], "%s %s", l.Row, l.Metric)
			}
		}
	}
	require.Contains(t, out.String(), "again/redis")
	require.Contains(t, out.String(), "a checked pass under load")
	require.Contains(t, r.Servers["redis"], "redis_version")
}

func TestUnknownCommandsAreNotAvailable(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	var out strings.Builder
	args := strings.Fields("-run e3,e4 -scale 0.001 -idle 0.05 -settle 0.01 -servers")
	args = append(args, "bare=cmd:redis-server --port {port} --dir {dir} --rename-command MULTI M --rename-command SADD S --rename-command BGSAVE B")
	require.NoError(t, run(context.Background(), args, &out, &progress{}))
	for _, row := range []string{"MULTI, SADD each, EXEC", "SDIFF", bgsaveRow} {
		require.Regexp(t, row+` +n/a \(unknown command\)`, out.String())
	}
}

func TestOptions(t *testing.T) {
	o, err := parseOptions(strings.Fields("-servers redis,x=127.0.0.1:7000 -run e2 -e2 10x1000,keys -scale 0.5"))
	require.NoError(t, err)
	require.Equal(t, []target{{name: "redis", cmd: []string{"redis-server"}}, {name: "x", addr: "127.0.0.1:7000"}}, o.targets)
	require.Equal(t, []scanRow{{}, {scanners: 10, count: 1000}, {keys: true}}, o.rows)
	require.Equal(t, 500, o.scaled(1000))

	for _, bad := range []string{
		"-servers keydb", "-servers x=nowhere", "-servers redis,redis", "-servers x=cmd:", "-servers ,",
		"-run e9", "-e2 10", "-e2 0x5", "-scale 0", "-rounds 0", "stray",
	} {
		_, err := parseOptions(strings.Fields(bad))
		require.Error(t, err, bad)
	}
}
