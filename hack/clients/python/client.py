"""Runs the official Python client against one address, and prints what it received as JSON.

Arguments: kubeconfig, namespace and name of a running pod, its container, and the name of a ConfigMap to create.
"""

import json
import sys

from kubernetes import client, config, dynamic, watch
from kubernetes.stream import portforward, stream

kubeconfig, namespace, pod, container, name = sys.argv[1:]
config.load_kube_config(kubeconfig)
api = client.CoreV1Api()


def lists():
    return sorted(item.metadata.name for item in api.list_namespaced_pod(namespace).items)


def events():
    """Follows one ConfigMap from its initial events on, as an informer with WatchList does."""
    seen = []
    api.create_namespaced_config_map(namespace, {"metadata": {"name": name}, "data": {"a": "1"}})
    following = watch.Watch()
    patched = False
    for event in following.stream(
        api.list_namespaced_config_map,
        namespace,
        field_selector=f"metadata.name={name}",
        send_initial_events=True,
        resource_version_match="NotOlderThan",
        allow_watch_bookmarks=True,
        timeout_seconds=60,
    ):
        # Bookmarks after the one that ends the initial events come at times of kube-apiserver's choice.
        if event["type"] == "BOOKMARK" and patched:
            continue
        seen.append(event["type"])
        if event["type"] == "BOOKMARK":
            patched = True
            api.patch_namespaced_config_map(name, namespace, {"data": {"a": "2"}})
        elif event["type"] == "MODIFIED":
            api.delete_namespaced_config_map(name, namespace)
        elif event["type"] == "DELETED":
            following.stop()
    return seen


def execs():
    session = stream(
        api.connect_get_namespaced_pod_exec,
        pod,
        namespace,
        container=container,
        command=["sh", "-c", "head -n 1; echo error >&2"],
        stdin=True,
        stdout=True,
        stderr=True,
        _preload_content=False,
    )
    session.write_stdin("the input\n")
    session.run_forever(timeout=60)
    return [session.read_stdout(), session.read_stderr(), session.returncode]


def follows():
    """The first line of a log that stays open."""
    lines = watch.Watch()
    for line in lines.stream(api.read_namespaced_pod_log, pod, namespace, container=container, follow=True):
        lines.stop()
        return line


def forwards():
    forward = portforward(api.connect_get_namespaced_pod_portforward, pod, namespace, ports="8080")
    socket = forward.socket(8080)
    socket.settimeout(60)
    socket.sendall(b"through a port")
    echo = b""
    while len(echo) < len(b"through a port"):
        echo += socket.recv(1024)
    socket.close()
    return echo.decode()


def applies():
    """Server-side apply with the dynamic client."""
    kinds = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"b": "3"}}
    applied = kinds.server_side_apply(body=body, namespace=namespace, field_manager="python")
    kinds.delete(name=name, namespace=namespace)
    try:
        kinds.get(name=name, namespace=namespace)
    except dynamic.exceptions.NotFoundError as error:
        return [applied.data.to_dict(), error.status, error.summary().splitlines()[0]]


print(json.dumps({step.__name__: step() for step in (lists, events, execs, follows, forwards, applies)}))
