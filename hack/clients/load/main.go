// Command load is the load generator of the bench: it reads one JSON job per line on standard input and writes
// one JSON result per line. Connections outlive jobs, so measurements include no start and no TLS handshake.
// hack/bench defines the jobs and compares the results with the goals.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// job is one line of input; Op determines which members it has.
type job struct {
	// Op is requests, sync, watch, change or close.
	Op     string `json:"op"`
	Target target `json:"target"`
	// Paths are requested round-robin by all connections together.
	Paths       []string `json:"paths"`
	Connections int      `json:"connections"`
	// Seconds and Requests limit a run; the first limit that is reached ends it.
	Seconds  float64 `json:"seconds"`
	Requests int64   `json:"requests"`
	// ID names a group of watches; IDs are the groups that must receive a change.
	ID        string   `json:"id"`
	IDs       []string `json:"ids"`
	Changes   int      `json:"changes"`
	PauseMs   int      `json:"pauseMs"`
	TimeoutMs int      `json:"timeoutMs"`
}

func main() {
	// The heap is small and short-lived, so rare collections cost little memory.
	debug.SetGCPercent(800)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		os.Exit(130)
	}()

	run := newRunner()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var next job
		var answer any
		err := json.Unmarshal(lines.Bytes(), &next)
		if err == nil {
			answer, err = run.do(ctx, next)
		}
		if err != nil {
			answer = map[string]string{"error": err.Error()}
		}
		if err := answers.Encode(answer); err != nil {
			fmt.Fprintln(os.Stderr, "load: answer not written:", err)
			os.Exit(1)
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "load: no more jobs:", err)
		os.Exit(1)
	}
}
