// Command node contains the programs of a real Kubernetes node, kubelet and
// kube-proxy, and those that only a cluster with real nodes needs completely:
// kube-controller-manager and kube-scheduler.
package main

import (
	"context"

	"ks-apiserver/hack/control-plane/multicall"

	"k8s.io/component-base/cli"
	controllermanagerapp "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxyapp "k8s.io/kubernetes/cmd/kube-proxy/app"
	schedulerapp "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	multicall.Main(map[string]func() int{
		"kube-controller-manager": controllerManager,
		"kube-proxy":              kubeProxy,
		"kube-scheduler":          scheduler,
		"kubelet":                 kubelet,
	})
}

func controllerManager() int {
	return cli.Run(controllermanagerapp.NewControllerManagerCommand())
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
