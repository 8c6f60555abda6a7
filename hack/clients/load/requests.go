package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// requestsResult is the result of a requests job. Times are in milliseconds unless named otherwise.
type requestsResult struct {
	Requests   int              `json:"requests"`
	Seconds    float64          `json:"seconds"`
	Rate       float64          `json:"rate"`
	Status     map[string]int64 `json:"status"`
	Errors     map[string]int64 `json:"errors"`
	Bytes      int64            `json:"bytes"`
	LatencyMs  percentiles      `json:"latencyMs"`
	CPUSeconds float64          `json:"cpuSeconds"`
}

// worker is the part of a run on one connection; it shares nothing during the run.
type worker struct {
	latencies []time.Duration
	status    map[int]int64
	errors    map[string]int64
	bytes     int64
}

func (r *runner) requests(ctx context.Context, next job) (any, error) {
	if len(next.Paths) == 0 || (next.Seconds <= 0 && next.Requests <= 0) {
		return nil, fmt.Errorf("requests: paths, and seconds or requests, must be given")
	}
	encoded := make([][]byte, len(next.Paths))
	for i, path := range next.Paths {
		var err error
		if encoded[i], err = next.Target.encode("GET", path, nil, nil); err != nil {
			return nil, err
		}
	}
	connections, err := r.take(ctx, next.Target, max(1, next.Connections))
	if err != nil {
		return nil, err
	}
	workers := make([]worker, len(connections))
	deadline := time.Time{}
	begin, cpu := time.Now(), cpuSeconds()
	if next.Seconds > 0 {
		deadline = begin.Add(time.Duration(next.Seconds * float64(time.Second)))
	}
	var issued atomic.Int64
	var done sync.WaitGroup
	for i := range connections {
		done.Go(func() {
			for {
				number := issued.Add(1) - 1
				if next.Requests > 0 && number >= next.Requests {
					return
				}
				if !deadline.IsZero() && !time.Now().Before(deadline) {
					return
				}
				workers[i].one(ctx, &connections[i], next.Target, encoded[number%int64(len(encoded))])
			}
		})
	}
	done.Wait()
	seconds, cpu := time.Since(begin).Seconds(), cpuSeconds()-cpu
	r.giveBack(next.Target, connections)
	return summarise(workers, seconds, cpu), nil
}

// one makes one timed request. It retries once on a new connection if an idle connection fails.
func (w *worker) one(ctx context.Context, on **connection, to target, request []byte) {
	if (*on).broken && !w.redial(ctx, on, to) {
		return
	}
	begin := time.Now()
	status, bytes, err := (*on).exchange(request)
	if err != nil && (*on).idle {
		if !w.redial(ctx, on, to) {
			return
		}
		begin = time.Now()
		status, bytes, err = (*on).exchange(request)
	}
	if err != nil {
		w.failed(err)
		return
	}
	(*on).idle = false
	w.latencies = append(w.latencies, time.Since(begin))
	if w.status == nil {
		w.status = map[int]int64{}
	}
	w.status[status]++
	w.bytes += bytes
}

func (w *worker) redial(ctx context.Context, on **connection, to target) bool {
	(*on).conn.Close()
	fresh, err := dial(ctx, to)
	if err != nil {
		w.failed(err)
		// Avoid a busy loop against a server that refuses connections.
		time.Sleep(10 * time.Millisecond)
		return false
	}
	*on = fresh
	return true
}

func (w *worker) failed(err error) {
	if w.errors == nil {
		w.errors = map[string]int64{}
	}
	w.errors[err.Error()]++
}

func summarise(workers []worker, seconds, cpu float64) requestsResult {
	result := requestsResult{Seconds: seconds, CPUSeconds: cpu, Status: map[string]int64{}, Errors: map[string]int64{}}
	var all []time.Duration
	for _, each := range workers {
		all = append(all, each.latencies...)
		result.Bytes += each.bytes
		for status, count := range each.status {
			result.Status[strconv.Itoa(status)] += count
		}
		for reason, count := range each.errors {
			result.Errors[reason] += count
		}
	}
	slices.Sort(all)
	result.Requests = len(all)
	result.Rate = float64(len(all)) / seconds
	result.LatencyMs = percentilesOf(all)
	return result
}
