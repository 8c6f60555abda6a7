package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// changeResult has, for each change, the milliseconds from sending the write to its arrival.
type changeResult struct {
	// WriteMs is the duration of the write, from sending it to the end of its response.
	WriteMs []float64           `json:"writeMs"`
	Groups  map[string]*arrival `json:"groups"`
}

// arrival has one value per change, in order.
type arrival struct {
	FirstMs []float64 `json:"firstMs"`
	LastMs  []float64 `json:"lastMs"`
	Lost    int64     `json:"lost"`
}

// change repeatedly writes an annotation, and waits each time until all watches of all groups have received it.
func (r *runner) change(ctx context.Context, next job) (any, error) {
	if len(next.Paths) != 1 || next.Changes < 1 {
		return nil, fmt.Errorf("change: one path and a number of changes must be given")
	}
	result := changeResult{Groups: map[string]*arrival{}}
	groups := map[string]*watchGroup{}
	for _, id := range next.IDs {
		group, known := r.watches[id]
		if !known {
			return nil, fmt.Errorf("change: no watches %q", id)
		}
		groups[id] = group
		result.Groups[id] = &arrival{}
	}
	// A new connection: the server may have closed an idle one while thousands of watches were opened.
	writer, err := dial(ctx, next.Target)
	if err != nil {
		return nil, err
	}
	defer writer.conn.Close()
	timeout := time.Duration(max(1, next.TimeoutMs)) * time.Millisecond
	for range next.Changes {
		name := time.Now().UnixNano()
		for _, group := range groups {
			group.expect(name)
		}
		begin := time.Now()
		if err := annotate(writer, next.Target, next.Paths[0], name); err != nil {
			return nil, err
		}
		result.WriteMs = append(result.WriteMs, milliseconds(time.Since(begin)))
		late := time.After(timeout)
		for id, group := range groups {
			select {
			case <-group.complete:
			case <-late:
				return nil, fmt.Errorf("change: %d of %d watches %q have not seen it within %s",
					int64(len(group.connections))-group.arrived.Load(), len(group.connections), id, timeout)
			}
			first, last := group.span()
			seen := result.Groups[id]
			seen.FirstMs = append(seen.FirstMs, milliseconds(first.Sub(begin)))
			seen.LastMs = append(seen.LastMs, milliseconds(last.Sub(begin)))
			seen.Lost = group.lost.Load()
		}
		time.Sleep(time.Duration(next.PauseMs) * time.Millisecond)
	}
	return result, nil
}

func (g *watchGroup) expect(change int64) {
	g.arrived.Store(0)
	g.awaited.Store(change)
}

func (g *watchGroup) span() (first, last time.Time) {
	first, last = g.arrivals[0], g.arrivals[0]
	for _, at := range g.arrivals[1:] {
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return first, last
}

func annotate(writer *connection, to target, path string, change int64) error {
	body := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, changeAnnotation, change)
	request, err := to.encode("PATCH", path, map[string]string{"Content-Type": "application/merge-patch+json"}, body)
	if err != nil {
		return err
	}
	response, err := writer.send(request)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("change: the write was answered with %d: %.300s", response.StatusCode, answer)
	}
	return nil
}
