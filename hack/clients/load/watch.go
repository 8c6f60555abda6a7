package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// The annotation that a change sets; its value identifies the change.
const changeAnnotation = "bench.platform.io/change"

var changeMarker = []byte(`"` + changeAnnotation + `":"`)

// watchGroup is a group of watches of one server, each on its own connection.
type watchGroup struct {
	connections []*connection
	// awaited identifies the change of this round; other events are ignored.
	awaited  atomic.Int64
	arrivals []time.Time
	arrived  atomic.Int64
	complete chan struct{}
	lost     atomic.Int64
	events   atomic.Int64
}

type watchResult struct {
	ID      string  `json:"id"`
	Open    int     `json:"open"`
	Seconds float64 `json:"seconds"`
}

const dialers = 16

// watch opens all watches of a group and returns when each has received its response headers.
func (r *runner) watch(ctx context.Context, next job) (any, error) {
	if len(next.Paths) != 1 || next.ID == "" {
		return nil, fmt.Errorf("watch: an id and one path must be given")
	}
	request, err := next.Target.encode("GET", next.Paths[0], nil, nil)
	if err != nil {
		return nil, err
	}
	count := max(1, next.Connections)
	group := &watchGroup{
		connections: make([]*connection, count),
		arrivals:    make([]time.Time, count),
		complete:    make(chan struct{}, 1),
	}
	begin := time.Now()
	var number atomic.Int64
	var done sync.WaitGroup
	failures := make(chan error, count)
	for range min(dialers, count) {
		done.Go(func() {
			for {
				i := int(number.Add(1) - 1)
				if i >= count {
					return
				}
				if err := group.open(ctx, i, next.Target, request); err != nil {
					failures <- err
				}
			}
		})
	}
	done.Wait()
	select {
	case err := <-failures:
		group.end()
		return nil, fmt.Errorf("watch %s: %d of %d not opened: %w", next.ID, len(failures)+1, count, err)
	default:
	}
	r.watches[next.ID] = group
	return watchResult{ID: next.ID, Open: count, Seconds: time.Since(begin).Seconds()}, nil
}

func (g *watchGroup) open(ctx context.Context, i int, to target, request []byte) error {
	opened, err := dial(ctx, to)
	if err != nil {
		return err
	}
	g.connections[i] = opened
	response, err := opened.send(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	go g.read(i, response)
	return nil
}

// read records a change as received when its whole line has arrived.
func (g *watchGroup) read(i int, response *http.Response) {
	lines := bufio.NewReaderSize(response.Body, 32<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			g.lost.Add(1)
			return
		}
		g.events.Add(1)
		change, found := changeOf(line)
		if !found || change != g.awaited.Load() {
			continue
		}
		g.arrivals[i] = time.Now()
		if g.arrived.Add(1) == int64(len(g.connections)) {
			g.complete <- struct{}{}
		}
	}
}

func changeOf(line []byte) (int64, bool) {
	_, rest, found := bytes.Cut(line, changeMarker)
	if !found {
		return 0, false
	}
	value, _, _ := bytes.Cut(rest, []byte{'"'})
	change, err := strconv.ParseInt(string(value), 10, 64)
	return change, err == nil
}

func (g *watchGroup) end() {
	for _, each := range g.connections {
		if each != nil {
			each.conn.Close()
		}
	}
}

func (r *runner) close(next job) (any, error) {
	group, known := r.watches[next.ID]
	if !known {
		return nil, fmt.Errorf("close: no watches %q", next.ID)
	}
	lost := group.lost.Load()
	group.end()
	delete(r.watches, next.ID)
	return map[string]any{"id": next.ID, "lost": lost, "events": group.events.Load()}, nil
}
