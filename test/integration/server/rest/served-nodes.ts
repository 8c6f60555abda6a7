// Test fixture: a real kube-apiserver with nodes, and the node handlers of ks-apiserver. The tests compare the responses
// of both.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { pino } from 'pino';
import { record } from '../../../../apis/reading/unknown-value.ts';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { realisticNode } from '../../../../hack/simulation/realistic-node.ts';
import { Informer } from '../../../../server/cache/informer.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import { discoveryRouter } from '../../../../server/endpoints/discovery/discovery-handlers.ts';
import { OpenAPI } from '../../../../server/endpoints/openapi/openapi.ts';
import { newRouter } from '../../../../server/http/endpoint.ts';
import { resourceHandler } from '../../../../server/rest/resource-handler.ts';
import type { UpstreamResponse } from '../../../../server/upstream/upstream-response.ts';
import { nodes } from '../../../support/cluster/node-cache.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { routed } from '../../../support/routed.ts';

/** Enough nodes for each label, role and state of realisticNode(). */
const NODE_COUNT = 30;
export const CORE = '/api/v1/nodes';
export const OURS = '/apis/resources.platform.io/v1alpha3/nodes';

export interface Spoken {
  readonly status: number;
  readonly contentType: string;
  readonly body: unknown;
  /** The unparsed body; `body` is undefined if it is empty. */
  readonly text: string;
}

async function spoken(
  { statusCode = 0, headers }: Pick<IncomingMessage, 'statusCode' | 'headers'>,
  stream: Readable,
): Promise<Spoken> {
  const text = await textOf(stream);
  const contentType = String(headers['content-type']);
  return {
    status: statusCode,
    contentType,
    body: contentType.startsWith('application/json') ? (text === '' ? undefined : JSON.parse(text)) : text,
    text,
  };
}

export class ServedNodes {
  readonly controlPlane: ControlPlane;
  readonly informer: Informer<ReturnType<typeof nodes.facts>>;
  readonly openAPI: OpenAPI;
  readonly server: HandlerServer;
  readonly #cluster: ClusterConnection;
  readonly #stop: AbortController;
  readonly #dir: string;

  private constructor(controlPlane: ControlPlane, dir: string, stop: AbortController) {
    this.controlPlane = controlPlane;
    this.#dir = dir;
    this.#stop = stop;
    this.#cluster = new ClusterConnection({ kubeConfig: kubeConfigSource(controlPlane.kubeconfig) });
    const log = pino({ level: 'silent' });
    this.informer = new Informer({ definition: nodes, client: this.#cluster, log });
    this.openAPI = new OpenAPI({
      resources: [nodes],
      title: 'test',
      version: 'v0',
      client: this.#cluster,
      log,
    });
    const documents = routed(newRouter().use(discoveryRouter([nodes]), this.openAPI.router()));
    const resource = resourceHandler(nodes, this.informer.cache);
    this.server = new HandlerServer((context) =>
      context.info.isResourceRequest ? resource(context) : documents(context),
    );
  }

  static async start(): Promise<ServedNodes> {
    const dir = await mkdtemp(join(tmpdir(), 'rest-'));
    const stop = new AbortController();
    const controlPlane = await startControlPlane({ dir, signal: stop.signal, controllers: false });
    const served = new ServedNodes(controlPlane, dir, stop);
    for (let index = 0; index < NODE_COUNT; index += 1) await served.create(realisticNode(index));
    await served.server.start();
    void served.informer.run(stop.signal);
    await served.caughtUp();
    return served;
  }

  async stop(): Promise<void> {
    await this.server.close();
    this.#stop.abort();
    await this.controlPlane.stop();
    await rm(this.#dir, { recursive: true, force: true });
  }

  /** Starts to watch the OpenAPI documents of the cluster. */
  followDescription(): void {
    void this.openAPI.run(this.#stop.signal);
  }

  async create(node: object): Promise<void> {
    await this.controlPlane.client.expect(CORE, { method: 'POST', body: node }, [201]);
  }

  async patch(name: string, patch: object): Promise<string> {
    const { body } = await this.controlPlane.client.expect(
      `${CORE}/${name}`,
      { method: 'PATCH', body: patch, contentType: 'application/merge-patch+json' },
      [200],
    );
    return String(record(record(JSON.parse(body))['metadata'])['resourceVersion']);
  }

  async delete(name: string): Promise<void> {
    await this.controlPlane.client.expect(`${CORE}/${name}`, { method: 'DELETE' }, [200]);
  }

  /** Resolves when the cache has reached the current version of kube-apiserver. */
  async caughtUp(): Promise<void> {
    const list = record(await this.controlPlane.client.get(`${CORE}?limit=1`));
    const version = String(record(list['metadata'])['resourceVersion']);
    while (!this.informer.cache.synced) await once(AbortSignal.timeout(20), 'abort');
    await this.informer.cache.waitUntil(version, this.#stop.signal);
  }

  async askCluster(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Spoken> {
    const response = await this.openCluster(path, headers);
    return spoken(response, response.stream());
  }

  openCluster(path: string, headers: Readonly<Record<string, string>> = {}): Promise<UpstreamResponse> {
    return this.#cluster.open({ path, headers, signal: this.#stop.signal });
  }

  async askUs(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Spoken> {
    const response = await this.server.open(path, { headers });
    return spoken(response, response);
  }
}
