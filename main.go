// Firn is a multi-threaded keyspace server that speaks the Redis protocol.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"firn/server"
	"firn/server/config"
	"firn/server/logging"

	"go.uber.org/zap"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "healthcheck" {
		os.Exit(healthcheck(os.Args[2:]))
	}
	os.Exit(run(os.Args[1:]))
}

// run is the server from its command line to its exit code.
func run(args []string) int {
	loaded, err := load(args)
	if err == nil {
		err = unsupported(loaded.Config)
	}
	var faults config.Errors
	switch {
	case errors.As(err, &faults):
		fmt.Fprint(os.Stderr, faults.Report("Firn "+server.Version))
		return 1
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch loaded.Action {
	case config.ShowVersion:
		fmt.Println(versionLine())
		return 0
	case config.ShowHelp:
		fmt.Print(usage)
		return 0
	case config.CheckConfig:
		fmt.Println("The configuration is good.")
		return 0
	case config.PrintConfig:
		fmt.Printf("%s", config.Print(loaded.Config))
		return 0
	}
	return serve(loaded)
}

func load(args []string) (*config.Loaded, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return config.Load(config.Sources{
		Args:        args,
		Dir:         dir,
		Stdin:       os.Stdin,
		Getenv:      os.Getenv,
		ReadFile:    os.ReadFile,
		Glob:        filepath.Glob,
		CheckDir:    server.CheckDir,
		CheckRename: server.RenameCheck(),
		CheckUser:   server.CheckUser,
	})
}

// unsupported refuses what must not be ignored: who asks for a replica or for
// users with limits would get something quite different.
func unsupported(c *config.Config) error {
	switch {
	case c.ReplicaOfHost != "":
		return errors.New("replicaof: this version can't be a replica")
	case c.ACLFile != "":
		return errors.New("aclfile: this version has no users but `default`; set requirepass for a password")
	}
	return nil
}

func serve(loaded *config.Loaded) int {
	c := loaded.Config
	log, level, err := newLog(c)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer log.Sync()
	signals := catch()
	banner(log, loaded)
	if err := checkStart(c); err != nil {
		log.Error("could not start", zap.Error(err))
		return 1
	}
	warnings(log, c)
	endProfile, err := profile(os.Getenv("FIRN_CPUPROFILE"))
	if err != nil {
		log.Error("could not start", zap.Error(err))
		return 1
	}
	defer endProfile()
	systemd := wantsSystemd(c)
	server.Processors(c)
	srv := server.New(server.Options{Config: c, ConfigFile: loaded.File, Log: log, Level: level, Executable: os.Args[0], Systemd: systemd, Nice: server.ThreadNice()})
	if err := srv.Start(); err != nil {
		log.Error("could not start", zap.Error(err))
		return 1
	}
	defer writePID(log, c)()
	ready(log, srv, c)
	if systemd {
		tellSystemd(log, "READY=1\nSTATUS=Ready to accept connections\n")
		defer tellSystemd(log, "STOPPING=1\n")
	}
	return wait(log, srv, signals)
}

// profile writes a CPU profile of the whole run to the file, from which
// `make pgo` makes the default.pgo that the compiler goes by. "" is none.
func profile(file string) (end func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

func newLog(c *config.Config) (*zap.Logger, zap.AtomicLevel, error) {
	level, _ := logging.ParseLevel(c.Text("loglevel"))
	file := c.LogFile
	if file != "" && !filepath.IsAbs(file) {
		file = filepath.Join(c.Dir, file)
	}
	return logging.New(logging.Options{File: file, Out: os.Stdout, JSON: c.Text("log-format") == "json", Level: level, PID: os.Getpid()})
}

func versionLine() string {
	return fmt.Sprintf("Firn server v=7.2.4 firn=%s bits=%d", server.Version, strconv.IntSize)
}

const usage = `Usage: firn [/path/to/firn.conf] [options] [-]
       firn - (read config from stdin)
       firn -v or --version
       firn -h or --help
       firn --check-config [/path/to/firn.conf] [options]
       firn --print-config [/path/to/firn.conf] [options]
       firn healthcheck [port]   (without one, in a container: the server's own)

Options are those of redis.conf, as --name value.
`

// banner logs how the server starts.
func banner(log *zap.Logger, loaded *config.Loaded) {
	log.Info(fmt.Sprintf("Firn version=%s, redis=7.2.4, bits=%d, pid=%d, just started", server.Version, strconv.IntSize, os.Getpid()))
	if loaded.File == "" {
		log.Info("no config file: running on the defaults")
	} else {
		log.Info("Configuration loaded", zap.String("file", loaded.File))
	}
	for _, w := range loaded.Warnings {
		log.Warn(w)
	}
}

// ready logs that the server can be reached, in the words that Redis' suite
// (" PID: ") and starters of containers ("Ready to accept connections") wait
// for.
func ready(log *zap.Logger, srv *server.Server, c *config.Config) {
	log.Info(fmt.Sprintf("Running mode=standalone, port=%d, PID: %d", c.Port, os.Getpid()))
	for _, a := range srv.Addrs() {
		log.Info("Ready to accept connections "+a.Network(), zap.String("addr", a.String()))
	}
}

// catch begins to take signals: those that end the server, and those that
// don't.
func catch() chan os.Signal {
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	return signals
}

// wait ends the server at a signal, at once at the second.
func wait(log *zap.Logger, srv *server.Server, signals <-chan os.Signal) int {
	asked := false
	for {
		select {
		case sig := <-signals:
			if asked {
				log.Warn("You insist... exiting now.")
				return 1
			}
			asked = true
			log.Warn("User requested shutdown...", zap.String("signal", sig.String()))
			srv.Shutdown()
		case <-srv.Stopped():
			log.Warn("Firn is now ready to exit, bye bye...")
			return 0
		}
	}
}

// healthcheck asks a server on this machine for a PONG: 0 if it answers.
func healthcheck(args []string) int {
	port := defaultPort
	if len(args) > 0 {
		port = args[0]
	} else if cmdline, err := os.ReadFile("/proc/1/cmdline"); err == nil {
		port = portOf(string(cmdline))
	}
	c, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", port), time.Second)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(2 * time.Second))
	fmt.Fprint(c, "PING\r\n")
	buf := make([]byte, 64)
	n, _ := c.Read(buf)
	if s := string(buf[:n]); s != "+PONG\r\n" && !alive(s) {
		fmt.Fprintf(os.Stderr, "unhealthy: %q\n", s)
		return 1
	}
	return 0
}

const defaultPort = "6379"

// portOf is the port of the server with that command line, as /proc shows it:
// in a container the server is process 1, and it may have been given another
// port than the image's. Where process 1 is something else, it's the default.
func portOf(cmdline string) string {
	words := strings.Split(strings.TrimSuffix(cmdline, "\x00"), "\x00")
	if name := filepath.Base(words[0]); name != "firn" && name != "redis-server" {
		return defaultPort
	}
	loaded, err := load(words[1:])
	if err != nil || loaded.Config.Port == 0 {
		return defaultPort
	}
	return strconv.Itoa(loaded.Config.Port)
}

// alive says whether a refusal comes from a server that works.
func alive(reply string) bool { return len(reply) > 7 && reply[:7] == "-NOAUTH" }
