// Command control-plane contains every Kubernetes program that development and
// tests run: etcd, kube-apiserver, kube-controller-manager, kubectl and KWOK,
// and the programs of a real node: kubelet, kube-proxy and kube-scheduler.
// The name under which the binary is called selects the program. It adds one
// behaviour: it exits together with the process that started it.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata" // the API server and the controllers know time zones

	_ "k8s.io/client-go/plugin/pkg/client/auth"           // kubectl: credential plugins of kubeconfig files
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of client-go
	_ "k8s.io/component-base/metrics/prometheus/version"  // metric with the version
)

// programs maps the name of the called file to its main function, which
// returns the exit code.
var programs = map[string]func() int{
	"etcd":                    etcd,
	"kube-apiserver":          apiserver,
	"kube-controller-manager": controllerManager,
	"kube-proxy":              kubeProxy,
	"kube-scheduler":          scheduler,
	"kubectl":                 kubectl,
	"kubelet":                 kubelet,
	"kwok":                    kwok,
	"kwok-stages":             kwokStages,
}

func main() {
	name := filepath.Base(os.Args[0])
	program, known := programs[name]
	if !known {
		fmt.Fprintf(os.Stderr, "%s: call this binary as one of %s\n", name, strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
		os.Exit(2)
	}
	os.Exit(program())
}
