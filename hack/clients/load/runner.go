package main

import (
	"context"
	"fmt"
)

// runner holds the state that outlives a job: open connections by target, and groups of watches by ID.
type runner struct {
	idle    map[string][]*connection
	watches map[string]*watchGroup
}

func newRunner() *runner {
	return &runner{idle: map[string][]*connection{}, watches: map[string]*watchGroup{}}
}

func (r *runner) do(ctx context.Context, next job) (any, error) {
	switch next.Op {
	case "requests":
		return r.requests(ctx, next)
	case "sync":
		return r.sync(ctx, next)
	case "watch":
		return r.watch(ctx, next)
	case "change":
		return r.change(ctx, next)
	case "close":
		return r.close(next)
	default:
		return nil, fmt.Errorf("unknown op %q: requests, sync, watch, change or close", next.Op)
	}
}

// take returns count connections to the target, and reuses those of earlier jobs.
func (r *runner) take(ctx context.Context, to target, count int) ([]*connection, error) {
	key := to.key()
	kept := r.idle[key]
	taken := kept[:min(count, len(kept))]
	r.idle[key] = kept[len(taken):]
	for len(taken) < count {
		fresh, err := dial(ctx, to)
		if err != nil {
			r.giveBack(to, taken)
			return nil, err
		}
		taken = append(taken[:len(taken):len(taken)], fresh)
	}
	return taken, nil
}

func (r *runner) giveBack(to target, connections []*connection) {
	key := to.key()
	for _, each := range connections {
		if each.broken {
			each.conn.Close()
			continue
		}
		each.idle = true
		r.idle[key] = append(r.idle[key], each)
	}
}
