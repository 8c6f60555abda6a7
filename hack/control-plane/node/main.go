// Command node contains the programs of a real Kubernetes node: kubelet and
// kube-proxy, and kube-scheduler, which only a cluster with real nodes needs.
package main

import (
	"context"

	"ks-apiserver/hack/control-plane/multicall"

	"k8s.io/component-base/cli"
	proxyapp "k8s.io/kubernetes/cmd/kube-proxy/app"
	schedulerapp "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	multicall.Main(map[string]func() int{
		"kube-proxy":     kubeProxy,
		"kube-scheduler": scheduler,
		"kubelet":        kubelet,
	})
}

func kubeProxy() int {
	return cli.Run(proxyapp.NewProxyCommand())
}

func scheduler() int {
	return cli.Run(schedulerapp.NewSchedulerCommand())
}

func kubelet() int {
	return cli.Run(kubeletapp.NewKubeletCommand(context.Background()))
}
