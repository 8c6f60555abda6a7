// Command controller runs a controller of controller-runtime with leader election, so that a test can show that such
// programs work with an address. It copies the data of each ConfigMap with the label copy=yes to a Secret of the same
// name, and recreates a deleted copy.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	// controller-runtime defines the flag kubeconfig.
	lease := flag.String("lease", "controller", "name of the Lease in the namespace default")
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	if err := run(*lease); err != nil {
		fmt.Fprintln(os.Stderr, "controller:", err)
		os.Exit(1)
	}
}

func run(lease string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		LeaderElection:                true,
		LeaderElectionID:              lease,
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       server.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(&corev1.ConfigMap{}).
		Owns(&corev1.Secret{}).
		Complete(copier{manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

type copier struct{ client.Client }

func (c copier) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var source corev1.ConfigMap
	if err := c.Get(ctx, request.NamespacedName, &source); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if source.Labels["copy"] != "yes" {
		return ctrl.Result{}, nil
	}
	var target corev1.Secret
	target.Namespace, target.Name = source.Namespace, source.Name
	_, err := controllerutil.CreateOrUpdate(ctx, c.Client, &target, func() error {
		target.StringData = source.Data
		return controllerutil.SetControllerReference(&source, &target, c.Scheme())
	})
	return ctrl.Result{}, err
}
