// Command kubectl is the command line of Kubernetes.
package main

import (
	"os"

	"ks-apiserver/hack/control-plane/multicall"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // credential plugins of kubeconfig files
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	multicall.Main(map[string]func() int{"kubectl": kubectl})
}

func kubectl() int {
	// Set the verbosity before the command is built, because plugins and
	// .kuberc are handled there.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
	return 0
}
