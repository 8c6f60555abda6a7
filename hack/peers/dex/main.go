// Command dex is the Dex server in the configuration of the bench: users and sessions in the cluster, one client, the
// password grant. Dex's own command includes a storage that needs a C compiler. It prints `ready` when it listens, and
// exits at the end of standard input.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/kubernetes"
	"github.com/dexidp/dex/web"
	"github.com/prometheus/client_golang/prometheus"
)

// config is one line of JSON on standard input.
type config struct {
	Address      string   `json:"address"`
	Cert         string   `json:"cert"`
	Key          string   `json:"key"`
	Kubeconfig   string   `json:"kubeconfig"`
	ClientID     string   `json:"clientID"`
	ClientSecret string   `json:"clientSecret"`
	Users        []string `json:"users"`
	PasswordHash string   `json:"passwordHash"`
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var c config
	input := json.NewDecoder(os.Stdin)
	if err := input.Decode(&c); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	certificate, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return err
	}
	// Dex logs the creation of its custom resources as an error; real errors end the start.
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError + 1}))
	store, err := newStorage(c, log)
	if err != nil {
		return err
	}
	defer store.Close()
	handler, err := newServer(ctx, c, store, log)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Address)
	if err != nil {
		return err
	}
	https := &http.Server{Handler: handler, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{certificate},
		NextProtos:   []string{"http/1.1"},
	}}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = https.Close()
	}()
	fmt.Println("ready")
	if err := https.ServeTLS(listener, "", ""); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// newStorage stores dynamic data in the cluster, as our server does, and configured data in memory.
func newStorage(c config, log *slog.Logger) (storage.Storage, error) {
	kube := kubernetes.Config{KubeConfigFile: c.Kubeconfig}
	store, err := kube.Open(log)
	if err != nil {
		return nil, err
	}
	passwords := make([]storage.Password, len(c.Users))
	for i, user := range c.Users {
		passwords[i] = storage.Password{Email: user, Username: user, UserID: user, Hash: []byte(c.PasswordHash)}
	}
	clients := []storage.Client{{ID: c.ClientID, Secret: c.ClientSecret, Name: c.ClientID}}
	connectors := []storage.Connector{{ID: server.LocalConnector, Type: server.LocalConnector, Name: "local"}}
	store = storage.WithStaticClients(store, clients)
	store = storage.WithStaticPasswords(store, passwords, log)
	return storage.WithStaticConnectors(store, connectors), nil
}

// newServer waits until the custom resource definitions of the storage are established.
func newServer(ctx context.Context, c config, store storage.Storage, log *slog.Logger) (*server.Server, error) {
	refresh, err := server.NewRefreshTokenPolicy(log, false, "", "", "0s")
	if err != nil {
		return nil, err
	}
	for attempt := 0; ; attempt++ {
		handler, err := server.NewServer(ctx, server.Config{
			Issuer:             "https://" + c.Address + "/dex",
			Storage:            store,
			PasswordConnector:  server.LocalConnector,
			SkipApprovalScreen: true,
			IDTokensValidFor:   2 * time.Hour,
			RefreshTokenPolicy: refresh,
			Web:                server.WebConfig{WebFS: web.FS()},
			Logger:             log,
			PrometheusRegistry: prometheus.NewRegistry(),
		})
		if err == nil || attempt == 20 {
			return handler, err
		}
		time.Sleep(250 * time.Millisecond)
	}
}
