package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/controller-manager/pkg/clientbuilder"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	jwt "k8s.io/kubernetes/pkg/serviceaccount"
)

// controllers runs those controllers of kube-controller-manager that development
// and most tests need. The complete program, in the folder node, would compile
// 300 packages more: kubelet, scheduler, volumes. Names, credentials and numbers
// of workers are those of kube-controller-manager.
func controllers() int {
	flags := pflag.NewFlagSet("controllers", pflag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "credentials of the user system:kube-controller-manager")
	keyFile := flags.String("service-account-private-key-file", "", "key that signs the tokens of Secrets")
	caFile := flags.String("root-ca-file", "", "CA of kube-apiserver, for pods")
	_ = flags.Parse(os.Args[1:])

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config := must(clientcmd.BuildConfigFromFlags("", *kubeconfig))
	config.ContentType = runtime.ContentTypeProtobuf
	// The defaults protect busy clusters; here they would delay tests.
	config.QPS, config.Burst = 200, 400
	// The garbage collector watches deprecated APIs too.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	runControllers(ctx, config, must(keyutil.PrivateKeyFromFile(*keyFile)), must(os.ReadFile(*caFile)))
	return 0
}

// runControllers returns when the context is done and all controllers have ended.
func runControllers(ctx context.Context, config *rest.Config, key any, rootCA []byte) {
	const resync = 12 * time.Hour
	root := clientbuilder.SimpleControllerClientBuilder{ClientConfig: config}
	// Each controller changes objects with its own ServiceAccount.
	own := clientbuilder.NewDynamicClientBuilder(
		rest.AnonymousClientConfig(config), root.ClientOrDie("service-accounts").CoreV1(), metav1.NamespaceSystem)
	shared := informers.NewSharedInformerFactoryWithOptions(
		root.ClientOrDie("shared-informers"), resync, informers.WithTransform(withoutManagers))
	core, apps := shared.Core().V1(), shared.Apps().V1()
	logger := klog.FromContext(ctx)

	roles := clusterroleaggregation.NewClusterRoleAggregation(
		shared.Rbac().V1().ClusterRoles(), own.ClientOrDie("clusterrole-aggregation-controller").RbacV1())
	deployments := must(deployment.NewDeploymentController(
		ctx, apps.Deployments(), apps.ReplicaSets(), core.Pods(), own.ClientOrDie("deployment-controller")))
	replicaSets := replicaset.NewReplicaSetController(
		ctx, apps.ReplicaSets(), core.Pods(), own.ClientOrDie("replicaset-controller"), replicaset.BurstReplicas)
	rootCAs := must(rootcacertpublisher.NewPublisher(
		core.ConfigMaps(), core.Namespaces(), own.ClientOrDie("root-ca-cert-publisher"), rootCA))
	accounts := must(serviceaccount.NewServiceAccountsController(
		logger, core.ServiceAccounts(), core.Namespaces(), own.ClientOrDie("service-account-controller"),
		serviceaccount.DefaultServiceAccountsControllerOptions()))
	tokens := must(serviceaccount.NewTokensController(
		logger, core.ServiceAccounts(), core.Secrets(), root.ClientOrDie("tokens-controller"),
		serviceaccount.TokensControllerOptions{
			TokenGenerator: must(jwt.JWTTokenGenerator(jwt.LegacyIssuer, key)),
			RootCA:         rootCA,
		}))

	// This controller deletes object by object.
	namespaceConfig := own.ConfigOrDie("namespace-controller")
	namespaceConfig.QPS *= 20
	namespaceConfig.Burst *= 100
	namespaceClient := must(kubernetes.NewForConfig(namespaceConfig))
	namespaces := namespace.NewNamespaceController(
		ctx, namespaceClient, must(metadata.NewForConfig(namespaceConfig)),
		namespaceClient.Discovery().ServerPreferredNamespacedResources,
		core.Namespaces(), 5*time.Minute, corev1.FinalizerKubernetes)

	const garbage, garbageInterval = "generic-garbage-collector", 30 * time.Second
	// Each deletion by the garbage collector takes two requests.
	garbageConfig := own.ConfigOrDie(garbage)
	garbageConfig.QPS *= 2
	metadataClient := must(metadata.NewForConfig(root.ConfigOrDie("metadata-informers")))
	metadataInformers := metadatainformer.NewSharedInformerFactoryWithOptions(
		metadataClient, resync, metadatainformer.WithTransform(withoutManagers))
	discovery := memory.NewMemCacheClient(root.DiscoveryClientOrDie("controller-discovery"))
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(discovery)
	informersStarted := make(chan struct{})
	collector := must(garbagecollector.NewComposedGarbageCollector(
		ctx, own.ClientOrDie(garbage), must(metadata.NewForConfig(garbageConfig)), mapper,
		garbagecollector.NewDependencyGraphBuilder(
			ctx, metadataClient, mapper, garbagecollector.DefaultIgnoredResources(),
			informerfactory.NewInformerFactory(shared, metadataInformers), informersStarted)))

	shared.Start(ctx.Done())
	metadataInformers.Start(ctx.Done())
	close(informersStarted)
	var running sync.WaitGroup
	running.Go(func() { tokens.Run(ctx, 5) })
	running.Go(func() { accounts.Run(ctx, 1) })
	running.Go(func() { rootCAs.Run(ctx, 1) })
	running.Go(func() { roles.Run(ctx, 5) })
	running.Go(func() { namespaces.Run(ctx, 10) })
	running.Go(func() { deployments.Run(ctx, 5) })
	running.Go(func() { replicaSets.Run(ctx, 5) })
	running.Go(func() { collector.Run(ctx, 20, garbageInterval) })
	running.Go(func() { collector.Sync(ctx, own.DiscoveryClientOrDie(garbage), garbageInterval) })
	running.Go(func() { wait.Until(mapper.Reset, garbageInterval, ctx.Done()) })
	running.Wait()
}

// withoutManagers saves the memory of the managed fields, which no controller reads.
func withoutManagers(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// must ends the program if it cannot start.
func must[T any](value T, err error) T {
	if err != nil {
		klog.ErrorS(err, "cannot start the controllers")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
	return value
}
