// A fake kubelet behind a real kube-apiserver, for tests of pod logs.
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { ControlPlane } from '../../../../../../hack/control-plane/control-plane.ts';
import { readPair } from '../../../../../../hack/control-plane/pki.ts';
import { closeNow, listenOnLoopback } from '../../../../../support/loopback.ts';
import { KubeletLog } from '../../../../../unit/server/logging/backends/kubernetes/kubelet-log.ts';

const NODES = ['here', 'silent'] as const;

/** The logs of a container on the kubelet. */
interface KubeletContainer {
  current?: KubeletLog;
  previous?: KubeletLog;
}

/** A real kube-apiserver, and a fake kubelet with logs that the test writes. */
export class KubeletCluster {
  readonly cp: ControlPlane;
  /** By namespace, pod and container. */
  readonly containers = new Map<string, KubeletContainer>();
  readonly #kubelet: Server;

  private constructor(cp: ControlPlane, kubelet: Server) {
    this.cp = cp;
    this.#kubelet = kubelet;
    kubelet.on('request', (request, response: ServerResponse) => {
      this.#serve(new URL(request.url ?? '/', 'https://kubelet'), response);
    });
  }

  static async start(cp: ControlPlane): Promise<KubeletCluster> {
    const kubelet = createServer(await readPair(cp.pki.files.kubelet));
    const port = await listenOnLoopback(kubelet);
    const cluster = new KubeletCluster(cp, kubelet);
    const [here, silent] = NODES;
    await cluster.#createNode(here, port);
    // No server listens on this port.
    await cluster.#createNode(silent, 1);
    return cluster;
  }

  async stop(): Promise<void> {
    await closeNow(this.#kubelet);
    for (const node of NODES)
      await this.cp.client.expect(`/api/v1/nodes/${node}`, { method: 'DELETE' }, [200]);
  }

  async createNamespace(name: string): Promise<void> {
    await this.#create('/api/v1/namespaces', { metadata: { name } });
    await this.#create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  }

  /** A pod with one running container, `app`. */
  async createPod(namespace: string, name: string, log = new KubeletLog(), nodeName = 'here') {
    const container: KubeletContainer = { current: log };
    this.containers.set(`${namespace}/${name}/app`, container);
    const spec = { nodeName, containers: [{ name: 'app', image: 'example' }] };
    await this.#create(`/api/v1/namespaces/${namespace}/pods`, { metadata: { name }, spec });
    const containerID = `containerd://${name}-0`;
    await this.setStatus(namespace, name, { restartCount: 0, state: running(1), containerID });
    return container;
  }

  async setStatus(namespace: string, name: string, status: object): Promise<void> {
    const containerStatuses = [{ name: 'app', image: 'example', imageID: '', ready: true, ...status }];
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    await this.#patch(path, { status: { phase: 'Running', containerStatuses } });
  }

  async deletePod(namespace: string, name: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}?gracePeriodSeconds=0`;
    await this.cp.client.expect(path, { method: 'DELETE' }, [200]);
    this.containers.delete(`${namespace}/${name}/app`);
  }

  async #create(path: string, body: object): Promise<void> {
    await this.cp.client.expect(path, { method: 'POST', body }, [201, 409]);
  }

  async #createNode(name: string, port: number): Promise<void> {
    await this.#create('/api/v1/nodes', { metadata: { name } });
    const status = {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    };
    await this.#patch(`/api/v1/nodes/${name}/status`, { status });
  }

  async #patch(path: string, body: object): Promise<void> {
    const contentType = 'application/merge-patch+json';
    await this.cp.client.expect(path, { method: 'PATCH', contentType, body }, [200]);
  }

  /** With the messages of the kubelet: pkg/kubelet/server/server.go and kubelet_pods.go. */
  #serve(url: URL, response: ServerResponse): void {
    const [, , namespace, pod = '', name = ''] = url.pathname.split('/');
    const container = this.containers.get(`${namespace}/${pod}/${name}`);
    const previous = url.searchParams.get('previous') === 'true';
    const log = previous ? container?.previous : container?.current;
    if (!container) response.writeHead(404).end(`pod "${pod}" does not exist`);
    else if (log) log.serve(url.searchParams, response, !previous);
    else {
      const what = previous
        ? `previous terminated container "${name}" in pod "${pod}" not found`
        : `container "${name}" in pod "${pod}" is waiting to start: ContainerCreating`;
      response.writeHead(400).end(what);
    }
  }
}

/** The state of a container that started in the n-th second of the data. */
export function running(second: number): object {
  return { running: { startedAt: new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString() } };
}
