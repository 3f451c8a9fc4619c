package server

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"firn/server/config"
)

// What LATENCY DOCTOR says when there is nothing to analyze: Redis' words,
// which scripts look for.
const (
	doctorOff   = "I'm sorry, Dave, I can't do that. Latency monitoring is disabled in this Redis instance. You may use \"CONFIG SET latency-monitor-threshold <milliseconds>.\" in order to enable it. If we weren't in a deep space mission I'd suggest to take a look at https://redis.io/topics/latency-monitor.\n"
	doctorWell  = "Dave, no latency spike was observed during the lifetime of this Redis instance, not in the slightest bit. I honestly think you ought to sit down calmly, take a stress pill, and think things over.\n"
	doctorFound = "Dave, I have observed latency spikes in this Redis instance. You don't mind talking about it, do you Dave?\n\n"
)

// latencyReport analyzes the samples; now is unix seconds.
func (srv *Server) latencyReport(now int64) string {
	c, all := srv.config(), srv.latency.all()
	if len(all) == 0 && c.LatencyMonitorThreshold == 0 {
		return doctorOff
	}
	var b strings.Builder
	var advice []string
	for i, l := range all {
		if i == 0 {
			b.WriteString(doctorFound)
		}
		fmt.Fprintf(&b, "%d. %s\n", i+1, l.summary(now))
		advice = append(advice, adviceFor(l.event, c)...)
	}
	if hugePages() {
		advice = append(advice, "Part of the process' memory is in transparent huge pages, which makes for latency when the kernel puts them together. To disable them use the command 'echo never > /sys/kernel/mm/transparent_hugepage/enabled', and do so after each boot.")
	}
	if len(advice) == 0 {
		if len(all) == 0 {
			return doctorWell
		}
		return b.String() + "\nWhile there are latency events logged, I'm not able to suggest any easy fix.\n"
	}
	b.WriteString("\nI have a few advices for you:\n\n")
	for _, a := range advice {
		b.WriteString("- " + a + "\n")
	}
	return b.String()
}

// summary is one line about the event, in Redis' form.
func (l *latencySeries) summary(now int64) string {
	n := int64(len(l.samples))
	sum, deviation := int64(0), int64(0)
	for _, s := range l.samples {
		sum += s.millis
	}
	mean := sum / n
	for _, s := range l.samples {
		deviation += max(mean-s.millis, s.millis-mean)
	}
	period := max(now-l.samples[0].at, 1)
	return fmt.Sprintf("%s: %d latency spikes (average %dms, mean deviation %dms, period %.2f sec). Worst all time event %dms.",
		l.event, n, mean, deviation/n, float64(period)/float64(n), l.worst)
}

// adviceFor says what can be done about an event.
func adviceFor(event string, c *config.Config) []string {
	switch event {
	case eventCommand:
		return append(slowlogAdvice(c),
			"Check your Slow Log to understand what are the commands you are running which are too slow to execute. They keep their own clients waiting, and those that want the same keys.")
	case eventFastCommand:
		return []string{"The system is slow to execute code paths not containing system calls. This usually means that it does not provide CPU time for long periods: lower its load, use a machine for this server alone, or look for a noisy neighbour ('redis-cli --intrinsic-latency 100' measures it)."}
	case eventLockWait:
		return []string{"Commands wait for a long write that has their keys: an MSET, RENAME or the like of very many keys or very big values. Try to split it."}
	case eventExpire:
		return []string{"Many keys expire at once. Spread their expiry over some time."}
	case eventEviction:
		return []string{"Sudden changes to 'maxmemory' or very big values make many keys go at once. Leave more room, or lower maxmemory-eviction-tenacity."}
	case eventFreeze:
		return []string{"Taking a consistent view of the keyspace had to wait for its shards. More cores, or fewer shards (the option shards), make that shorter."}
	case eventGCPause:
		return []string{"The garbage collector stopped the process for long, which it can't where it gets the CPU: see whether the container's CPU limit is below the number of cores that it sees."}
	}
	return nil
}

// slowlogAdvice is about a slow log that would not show what the monitor saw.
func slowlogAdvice(c *config.Config) []string {
	threshold := c.LatencyMonitorThreshold * 1000
	switch {
	case c.SlowlogLogSlowerThan < 0:
		return []string{fmt.Sprintf("There are latency issues with potentially slow commands you are using. Try to enable the Slow Log using the command 'CONFIG SET slowlog-log-slower-than %d'.", threshold)}
	case c.SlowlogLogSlowerThan > threshold:
		return []string{fmt.Sprintf("Your current Slow Log configuration only logs events that are slower than your configured latency monitor threshold. Please use 'CONFIG SET slowlog-log-slower-than %d'.", threshold)}
	}
	return nil
}

// hugePages says whether any memory of the process is in transparent huge
// pages, where the system tells.
func hugePages() bool {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return false
	}
	found := regexp.MustCompile(`AnonHugePages:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		return false
	}
	n, err := strconv.ParseInt(string(found[1]), 10, 64)
	return err == nil && n > 0
}
