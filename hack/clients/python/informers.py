"""Starts informers of the official Python client on the pods of one namespace, one after another, and prints their sizes.

Arguments: kubeconfig, namespace, number of informers.
"""

import sys
import time

from kubernetes import client, config
from kubernetes.informer import SharedInformer

kubeconfig, namespace, count = sys.argv[1:]
config.load_kube_config(kubeconfig)
list_pods = client.CoreV1Api().list_namespaced_pod
for _ in range(int(count)):
    informer = SharedInformer(list_pods, namespace=namespace)
    informer.start()
    while len(informer.cache.list()) == 0:
        time.sleep(0.01)
    print(len(informer.cache.list()))
    informer.stop()
