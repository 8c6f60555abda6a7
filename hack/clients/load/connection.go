package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"time"
)

// connection is a keep-alive TLS connection with at most one request in flight. The Transport of net/http costs more
// for each small request than the measured servers; its parser alone does not.
type connection struct {
	conn   *tls.Conn
	reader *bufio.Reader
	broken bool
	// idle since an earlier job: the server may have closed it, which only the next request detects.
	idle bool
}

func dial(ctx context.Context, to target) (*connection, error) {
	config, err := to.tlsConfig()
	if err != nil {
		return nil, err
	}
	address, err := to.address()
	if err != nil {
		return nil, err
	}
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: config}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &connection{conn: conn.(*tls.Conn), reader: bufio.NewReaderSize(conn, 16<<10)}, nil
}

// send writes the encoded request and reads the response headers; the caller reads the body.
func (c *connection) send(request []byte) (*http.Response, error) {
	if _, err := c.conn.Write(request); err != nil {
		c.broken = true
		return nil, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		c.broken = true
		return nil, err
	}
	if response.Close {
		c.broken = true
	}
	return response, nil
}

// exchange sends a request and reads the whole body; bytes is the transferred size of the body.
func (c *connection) exchange(request []byte) (status int, bytes int64, err error) {
	response, err := c.send(request)
	if err != nil {
		return 0, 0, err
	}
	bytes, err = io.Copy(io.Discard, response.Body)
	if err != nil {
		c.broken = true
	}
	return response.StatusCode, bytes, err
}
