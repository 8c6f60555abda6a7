// Command control-plane contains the Kubernetes programs that development and
// most tests run: etcd, kube-apiserver, kube-controller-manager, kubectl and
// KWOK. The programs of a real node are in the folder node.
package main

import (
	"ks-apiserver/hack/control-plane/multicall"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl: credential plugins of kubeconfig files
)

func main() {
	multicall.Main(map[string]func() int{
		"etcd":                    etcd,
		"kube-apiserver":          apiserver,
		"kube-controller-manager": controllerManager,
		"kubectl":                 kubectl,
		"kwok":                    kwok,
		"kwok-stages":             kwokStages,
	})
}
