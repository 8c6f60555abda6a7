package main

import (
	"syscall"
	"time"
)

// percentiles are in milliseconds.
type percentiles struct {
	Min float64 `json:"min"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

func percentilesOf(sorted []time.Duration) percentiles {
	if len(sorted) == 0 {
		return percentiles{}
	}
	at := func(share float64) float64 {
		return milliseconds(sorted[min(len(sorted)-1, int(share*float64(len(sorted))))])
	}
	return percentiles{Min: at(0), P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: at(1)}
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration) / float64(time.Millisecond)
}

// cpuSeconds returns the user and system CPU time of this process.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
