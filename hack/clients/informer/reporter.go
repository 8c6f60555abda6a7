package main

import (
	"encoding/json"
	"io"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// line is one line of output. Type is ADDED, MODIFIED, DELETED, SYNCED or STORE.
type line struct {
	Informer        string `json:"informer"`
	Type            string `json:"type"`
	Name            string `json:"name,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Previous is the previous resourceVersion of a MODIFIED object.
	Previous string `json:"previous,omitempty"`
	// Objects maps names to resourceVersions, for SYNCED and STORE.
	Objects map[string]string `json:"objects,omitzero"`
}

type reporter struct {
	mutex   sync.Mutex
	encoder *json.Encoder
}

func newReporter(out io.Writer) *reporter {
	return &reporter{encoder: json.NewEncoder(out)}
}

func (r *reporter) print(next line) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	// SIGPIPE terminates the program if the reader has exited.
	_ = r.encoder.Encode(next)
}

func (r *reporter) handler(informer string) cache.ResourceEventHandler {
	report := func(kind string, object, previous any) {
		if last, gone := object.(cache.DeletedFinalStateUnknown); gone {
			object = last.Obj
		}
		next := line{Informer: informer, Type: kind}
		next.Name, next.ResourceVersion = identity(object)
		if previous != nil {
			_, next.Previous = identity(previous)
		}
		r.print(next)
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { report("ADDED", object, nil) },
		UpdateFunc: func(previous, object any) { report("MODIFIED", object, previous) },
		DeleteFunc: func(object any) { report("DELETED", object, nil) },
	}
}

func (r *reporter) synced(name string, informer cache.SharedIndexInformer) {
	r.print(line{Informer: name, Type: "SYNCED", Objects: held(informer)})
}

func (r *reporter) store(name string, informer cache.SharedIndexInformer) {
	r.print(line{Informer: name, Type: "STORE", Objects: held(informer)})
}

func held(informer cache.SharedIndexInformer) map[string]string {
	objects := map[string]string{}
	for _, object := range informer.GetStore().List() {
		name, resourceVersion := identity(object)
		objects[name] = resourceVersion
	}
	return objects
}

func identity(object any) (name, resourceVersion string) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return "", ""
	}
	return accessor.GetName(), accessor.GetResourceVersion()
}
