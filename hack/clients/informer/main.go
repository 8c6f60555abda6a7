// Command informer runs client-go informers with default settings on one resource, and reports their contents, so
// that a test can compare them with the cluster: a dynamic informer, a metadata-only one and one with a label selector.
// It writes each change as one JSON line; the command `store` on standard input writes the whole store.
// It exits at the end of standard input.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "path of the kubeconfig")
	resource := flag.String("resource", "nodes.v1alpha3.resources.platform.io", "resource.version.group to follow")
	selector := flag.String("selector", "", "label selector of the third informer; none without it")
	flag.Parse()
	if err := run(*kubeconfig, *resource, *selector); err != nil {
		fmt.Fprintln(os.Stderr, "informer:", err)
		os.Exit(1)
	}
}

func run(kubeconfig, resource, selector string) error {
	gvr, _ := schema.ParseResourceArg(resource)
	if gvr == nil {
		return fmt.Errorf("--resource %s: expected resource.version.group", resource)
	}
	informers, err := build(kubeconfig, *gvr, selector)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	lines := newReporter(os.Stdout)
	for name, informer := range informers {
		if _, err := informer.AddEventHandler(lines.handler(name)); err != nil {
			return err
		}
		go informer.RunWithContext(ctx)
	}
	for name, informer := range informers {
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return fmt.Errorf("informer %s did not sync", name)
		}
		lines.synced(name, informer)
	}
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		if command := strings.TrimSpace(commands.Text()); command != "store" {
			return fmt.Errorf("unknown command %q: expected store", command)
		}
		for name, informer := range informers {
			lines.store(name, informer)
		}
	}
	return commands.Err()
}

// build returns the informers by name, with the defaults of client-go.
func build(kubeconfig string, gvr schema.GroupVersionResource, selector string) (map[string]cache.SharedIndexInformer, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	informers := map[string]cache.SharedIndexInformer{
		"dynamic":  dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0).ForResource(gvr).Informer(),
		"metadata": metadatainformer.NewSharedInformerFactory(metadataClient, 0).ForResource(gvr).Informer(),
	}
	if selector != "" {
		narrowed := func(options *metav1.ListOptions) { options.LabelSelector = selector }
		informers["selector"] = dynamicinformer.
			NewFilteredDynamicSharedInformerFactory(dynamicClient, 0, metav1.NamespaceAll, narrowed).
			ForResource(gvr).Informer()
	}
	return informers, nil
}
