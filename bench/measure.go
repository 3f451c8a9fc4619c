package main

import (
	"errors"
	"time"
)

// measured is what is taken of the processes while a window is open.
type measured struct {
	probe  *probeResult
	length time.Duration
	server time.Duration // CPU time; zero if the server's process is out of sight
	load   time.Duration
}

// measure lets the running load warm up, then opens the window w for the time that a row takes, beside a probe. The load must go on until it
// returns: a probe that is caught in a stall waits for its answers under the same load.
func (b *bench) measure(s *server, w *window) (measured, error) {
	var m measured
	if err := b.sleep(min(b.opt.window/5, time.Second)); err != nil {
		return m, err
	}
	p, err := b.startProbe(s)
	if err != nil {
		return m, err
	}
	cpu, own := procCPU(s.pid), ownCPU()
	w.open()
	sleepErr := b.sleep(b.opt.window)
	w.close()
	m.server, m.load, m.length = procCPU(s.pid)-cpu, ownCPU()-own, w.length()
	m.probe, err = p.finish()
	return m, errors.Join(sleepErr, err)
}

// addCPU adds how many cores server and load kept busy.
func (m measured) addCPU(t *Table, row string, s *server) {
	if s.pid != 0 {
		t.Add(row, "server cores", factor, s.name, m.server.Seconds()/m.length.Seconds())
	}
	t.AddRaw(row, "load cores", factor, s.name, m.load.Seconds()/m.length.Seconds())
}
