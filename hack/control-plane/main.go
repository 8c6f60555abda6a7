// Command control-plane contains the Kubernetes programs that development and
// most tests run: etcd, kube-apiserver, some controllers, kubectl and KWOK. The
// other programs of a real cluster are in the folder node.
package main

import (
	"ks-apiserver/hack/control-plane/multicall"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl: credential plugins of kubeconfig files
)

func main() {
	multicall.Main(map[string]func() int{
		"controllers":    controllers,
		"etcd":           etcd,
		"kube-apiserver": apiserver,
		"kubectl":        kubectl,
		"kwok":           kwok,
		"kwok-stages":    kwokStages,
	})
}
