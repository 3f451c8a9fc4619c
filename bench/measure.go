package main

import (
	"errors"
	"time"
)

// measured is what is taken of the processes while a window is open.
type measured struct {
	probe  *probeResult
	length time.Duration
	cpu    cpuTimes // server is zero if its process is out of sight
}

// measure lets the running load warm up, then opens the window w for the given time, beside a probe. The load must go on until it
// returns: a probe that is caught in a stall waits for its answers under the same load.
func (b *bench) measure(s *server, w *window, length time.Duration) (measured, error) {
	var m measured
	if err := b.sleep(min(length/5, time.Second)); err != nil {
		return m, err
	}
	p, err := b.startProbe(s)
	if err != nil {
		return m, err
	}
	before := readCPU(s)
	w.open()
	sleepErr := b.sleep(length)
	w.close()
	m.cpu, m.length = readCPU(s).since(before), w.length()
	m.probe, err = p.finish()
	return m, errors.Join(sleepErr, err)
}

// addCPU adds how many cores server and load kept busy, and in the JSON file how many something else did.
func (m measured) addCPU(t *Table, row string, s *server) {
	if s.pid != 0 {
		t.Add(row, "server cores", factor, s.name, m.cpu.server.Seconds()/m.length.Seconds())
	}
	t.AddRaw(row, "load cores", factor, s.name, m.cpu.own.Seconds()/m.length.Seconds())
	t.addOthers(row, s, m.cpu, m.length)
}

// addOthers adds what the machine did besides server and load. Figures of a disturbed row are worth less; Render says how many there are.
func (t *Table) addOthers(row string, s *server, cpu cpuTimes, length time.Duration) {
	if s.pid == 0 {
		return
	}
	others := (cpu.host - cpu.server - cpu.own).Seconds() / length.Seconds()
	t.AddRaw(row, othersMetric, factor, s.name, max(0, others))
}
