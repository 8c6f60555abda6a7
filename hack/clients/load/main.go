// Command load is the client side of the bench: it reads one job a line on standard input (JSON) and answers
// each with one line on standard output. It measures from inside one process, so a job pays for no start and no
// TLS handshake, and the same code with the same connections talks to every server that is compared. It knows
// nothing of goals or ratios: hack/bench asks and judges.
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

// job is one line of input; which members count depends on Op.
type job struct {
	// Op is requests, sync, watch, change or close.
	Op     string `json:"op"`
	Target target `json:"target"`
	// Paths are asked for in turn, by all connections together.
	Paths       []string `json:"paths"`
	Connections int      `json:"connections"`
	// Seconds bounds a run by time; Requests by number; the first that is reached ends it.
	Seconds  float64 `json:"seconds"`
	Requests int64   `json:"requests"`
	// ID names a group of watches; IDs are the groups that a change is awaited in.
	ID        string   `json:"id"`
	IDs       []string `json:"ids"`
	Changes   int      `json:"changes"`
	PauseMs   int      `json:"pauseMs"`
	TimeoutMs int      `json:"timeoutMs"`
}

func main() {
	// Few live bytes and many short ones: a later collection costs memory that this program has.
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
