// Command control-plane contains the Kubernetes programs that development and
// most tests run: etcd, kube-apiserver, some controllers and KWOK. The other
// programs of a real cluster are in the folder node, and kubectl in its own.
package main

import "ks-apiserver/hack/control-plane/multicall"

func main() {
	multicall.Main(map[string]func() int{
		"controllers":    controllers,
		"etcd":           etcd,
		"kube-apiserver": apiserver,
		"kwok":           kwok,
		"kwok-stages":    kwokStages,
	})
}
