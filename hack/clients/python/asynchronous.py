"""Runs the asynchronous Python client and lightkube against one address, and prints what they received as JSON.

Arguments: kubeconfig, namespace and name of a running pod, its container, and the name of a ConfigMap to create.
"""

import asyncio
import json
import sys

from kubernetes_asyncio import client, config, watch
from kubernetes_asyncio.stream import WsApiClient
from lightkube import ApiError, AsyncClient, KubeConfig
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Pod

kubeconfig, namespace, pod, container, name = sys.argv[1:]
configuration = client.Configuration()


async def kubernetes_asyncio():
    """Lists, watches until a deletion, and runs a program in a container."""
    async with client.ApiClient(configuration) as connection:
        api = client.CoreV1Api(connection)
        names = sorted(item.metadata.name for item in (await api.list_namespaced_pod(namespace)).items)
        await api.create_namespaced_config_map(namespace, {"metadata": {"name": name}, "data": {"a": "1"}})
        seen = []
        async with watch.Watch() as following:
            selected = {"field_selector": f"metadata.name={name}", "timeout_seconds": 60}
            async for event in following.stream(api.list_namespaced_config_map, namespace, **selected):
                seen.append(event["type"])
                if event["type"] == "DELETED":
                    break
                await api.delete_namespaced_config_map(name, namespace)
    async with WsApiClient(configuration) as connection:
        said = await client.CoreV1Api(connection).connect_get_namespaced_pod_exec(
            pod, namespace, container=container, command=["echo", "the output"], stdout=True, stderr=True, stdin=False
        )
    return [names, seen, said]


async def lightkube():
    """Server-side apply, a watch, the first line of a log that stays open, and an error."""
    async with AsyncClient(config=KubeConfig.from_file(kubeconfig), namespace=namespace, field_manager="lightkube") as api:
        scratch = ConfigMap(
            apiVersion="v1", kind="ConfigMap", metadata=ObjectMeta(name=name), data={"b": "2"}
        )
        applied = await api.apply(scratch)
        async for kind, found in api.watch(ConfigMap, fields={"metadata.name": name}):
            watched = [kind, found.data]
            break
        line = None
        async for line in api.log(pod, container=container, follow=True):
            break
        pods = sorted([each.metadata.name async for each in api.list(Pod)])
        await api.delete(ConfigMap, name)
        try:
            await api.get(ConfigMap, name)
        except ApiError as error:
            return [applied.data, watched, line, pods, error.status.reason]


async def main():
    await config.load_kube_config(kubeconfig, client_configuration=configuration)
    return {step.__name__: await step() for step in (kubernetes_asyncio, lightkube)}


print(json.dumps(asyncio.run(main())))
