package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserverapp "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func etcd() int {
	etcdmain.Main(os.Args)
	return 0
}

func apiserver() int {
	return cli.Run(apiserverapp.NewAPIServerCommand())
}
