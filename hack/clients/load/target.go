package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
)

// target is one server with the credentials of one caller. Files are PEM.
type target struct {
	// Server is https://host:port, without a path.
	Server     string            `json:"server"`
	ServerName string            `json:"serverName"`
	CAFile     string            `json:"ca"`
	CertFile   string            `json:"cert"`
	KeyFile    string            `json:"key"`
	Headers    map[string]string `json:"headers"`
}

func (t target) key() string {
	// Headers are not part of the key: one connection carries gzip and plain requests.
	t.Headers = nil
	key, _ := json.Marshal(t)
	return string(key)
}

var configurations sync.Map

func (t target) tlsConfig() (*tls.Config, error) {
	if known, ok := configurations.Load(t.key()); ok {
		return known.(*tls.Config), nil
	}
	authorities, err := os.ReadFile(t.CAFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("no certificate in %s", t.CAFile)
	}
	// No ALPN: HTTP/1.1 for all servers, because our listener supports nothing else.
	config := &tls.Config{RootCAs: pool, ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	configurations.Store(t.key(), config)
	return config, nil
}

func (t target) address() (string, error) {
	server, err := url.Parse(t.Server)
	if err != nil {
		return "", err
	}
	if server.Scheme != "https" || server.Port() == "" {
		return "", fmt.Errorf("%s: expected https://host:port", t.Server)
	}
	return server.Host, nil
}

// encode returns a request as bytes that can be sent repeatedly.
func (t target) encode(method, path string, extra map[string]string, body []byte) ([]byte, error) {
	request, err := http.NewRequest(method, t.Server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "ks-apiserver-bench")
	for _, headers := range []map[string]string{t.Headers, extra} {
		for name, value := range headers {
			request.Header.Set(name, value)
		}
	}
	var encoded bytes.Buffer
	if err := request.Write(&encoded); err != nil {
		return nil, err
	}
	return encoded.Bytes(), nil
}
