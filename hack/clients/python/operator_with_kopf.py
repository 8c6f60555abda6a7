"""An operator with kopf: it copies labelled ConfigMaps, and deletes the copy before the original goes."""

import kopf
from kubernetes import client

SELECTED = {"copy-with": "kopf"}


@kopf.on.startup()
def configure(settings, **_):
    # The default posts an event for each line of the log.
    settings.posting.level = 30


@kopf.on.create("configmaps", labels=SELECTED)
def create(name, namespace, body, **_):
    api = client.CoreV1Api()
    copy = {"metadata": {"name": f"{name}-copy"}, "data": dict(body["data"])}
    api.create_namespaced_config_map(namespace, copy)


@kopf.on.update("configmaps", labels=SELECTED, field="data")
def update(name, namespace, body, **_):
    client.CoreV1Api().patch_namespaced_config_map(f"{name}-copy", namespace, {"data": dict(body["data"])})
    kopf.warn(body, reason="Copied", message="the copy has changed")


@kopf.on.delete("configmaps", labels=SELECTED)
def delete(name, namespace, **_):
    client.CoreV1Api().delete_namespaced_config_map(f"{name}-copy", namespace)
