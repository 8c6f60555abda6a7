package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserverapp "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func etcd() int {
	etcdmain.Main(os.Args)
	return 0
}

func apiserver() int {
	return cli.Run(apiserverapp.NewAPIServerCommand())
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
