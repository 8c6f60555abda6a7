package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"
)

type syncResult struct {
	Objects int     `json:"objects"`
	Bytes   int64   `json:"bytes"`
	Ms      float64 `json:"ms"`
}

// Encoded annotation of the bookmark that ends the initial events.
var initialEventsEnd = []byte(`"k8s.io/initial-events-end":"true"`)

// sync measures a WatchList, from sending the request to the bookmark that ends the initial events.
func (r *runner) sync(ctx context.Context, next job) (any, error) {
	if len(next.Paths) != 1 {
		return nil, fmt.Errorf("sync: one path must be given")
	}
	request, err := next.Target.encode("GET", next.Paths[0], nil, nil)
	if err != nil {
		return nil, err
	}
	stream, err := dial(ctx, next.Target)
	if err != nil {
		return nil, err
	}
	// The stream does not end, so its connection cannot be reused.
	defer stream.conn.Close()
	begin := time.Now()
	response, err := stream.send(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("sync: status %d", response.StatusCode)
	}
	lines := bufio.NewReaderSize(response.Body, 256<<10)
	result := syncResult{}
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return nil, fmt.Errorf("sync: after %d objects: %w", result.Objects, err)
		}
		result.Bytes += int64(len(line))
		if bytes.Contains(line, initialEventsEnd) {
			result.Ms = milliseconds(time.Since(begin))
			return result, nil
		}
		result.Objects++
	}
}
