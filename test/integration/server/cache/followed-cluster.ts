// Starts an informer of a real kube-apiserver behind a faulty proxy, for tests of network failures.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { pino } from 'pino';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { createNodes, nodeName } from '../../../../hack/simulation/realistic-node.ts';
import { Informer } from '../../../../server/cache/informer.ts';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { listPages } from '../../../../server/cluster/reflector/paged-list.ts';
import type { ReflectorTuning } from '../../../../server/cluster/reflector/reflector-tuning.ts';
import { FreezingProxy } from '../../../support/cluster/freezing-proxy.ts';

const NODES = {
  group: 'resources.platform.io',
  version: 'v1alpha3',
  kind: 'Node',
  source: { path: '/api/v1/nodes' },
};
/** Number of nodes after the start. */
export const FEW = 40;
const FRONT = '{"kind":"Node","apiVersion":"resources.platform.io/v1alpha3",';

/** An informer that reads through the proxy, and the history of its lists and watches. */
interface Followed {
  readonly informer: Informer<undefined>;
  /** `stream` or `pages`, for each complete list. */
  readonly lists: readonly string[];
  /** The cause of the end of each watch. */
  readonly ends: readonly string[];
  /** Resolves at the next complete list. */
  listed(): Promise<void>;
  /** Resolves when the next watch ends for this cause. */
  ended(cause: string): Promise<void>;
}

interface FollowOptions extends Partial<ReflectorTuning> {
  /** Wraps the client of the informer. */
  readonly through?: (client: ClusterClient) => ClusterClient;
  /**
   * Time limit of a read that waits for a resourceVersion, in ms. It is long, because the machine may be busy with
   * other tests.
   */
  readonly waitMs?: number;
  /** Called for each object that the cache reads. */
  readonly onObject?: () => undefined;
}

/** A control plane, informers of its nodes that read through a proxy, and a direct connection without the proxy. */
export class FollowedCluster {
  readonly controlPlane: ControlPlane;
  readonly proxy: FreezingProxy;
  readonly direct: ClusterConnection;
  readonly dir: string;
  readonly #end: AbortController;
  #running: (() => Promise<void>)[] = [];
  #writes = 0;

  private constructor(dir: string, end: AbortController, controlPlane: ControlPlane, proxy: FreezingProxy) {
    this.dir = dir;
    this.#end = end;
    this.controlPlane = controlPlane;
    this.proxy = proxy;
    this.direct = this.#connect(controlPlane.ports.apiserver);
  }

  static async start(): Promise<FollowedCluster> {
    const dir = await mkdtemp(join(tmpdir(), 'followed-cluster-'));
    const end = new AbortController();
    const cluster = await startControlPlane({
      dir: join(dir, 'cluster'),
      signal: end.signal,
      controllers: false,
    });
    const proxy = await FreezingProxy.start(cluster.ports.apiserver);
    const followed = new FollowedCluster(dir, end, cluster, proxy);
    await followed.createNodes(FEW);
    return followed;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Stops the informers and resets the proxy between two tests. */
  async settle(): Promise<void> {
    for (const stop of this.#running.splice(0)) await stop();
    this.proxy.thaw();
    this.proxy.cutAfter(Number.POSITIVE_INFINITY);
    this.proxy.throttle(Number.POSITIVE_INFINITY);
  }

  async stop(): Promise<void> {
    await this.settle();
    this.direct.close();
    await this.proxy.stop();
    await this.controlPlane.stop();
    this.#end.abort();
    await rm(this.dir, { recursive: true, force: true });
  }

  async createNodes(count: number): Promise<void> {
    await createNodes(this.controlPlane, count, { signal: this.signal });
  }

  #connect(port: number): ClusterConnection {
    const config = new KubeConfig();
    config.loadFromFile(this.controlPlane.kubeconfig);
    config.clusters = config.clusters.map((known) => ({ ...known, server: `https://127.0.0.1:${port}` }));
    return new ClusterConnection({ kubeConfig: () => config });
  }

  follow(options: FollowOptions = {}): Followed {
    const { through = (client) => client, waitMs = 30_000, onObject, ...reflector } = options;
    const client = this.#connect(this.proxy.port);
    const stop = new AbortController();
    const events = new EventTarget();
    const [lists, ends]: [string[], string[]] = [[], []];
    const note = (to: string[], what: string, type: string) => {
      to.push(what);
      events.dispatchEvent(new Event(type));
    };
    const informer = new Informer<undefined>({
      definition: { ...NODES, facts: () => onObject?.() },
      client: through(client),
      waitMs,
      log: pino({ enabled: false }),
      reflector: { initialBackoffMs: 20, maxBackoffMs: 500, ...reflector },
      observer: {
        listed: (way) => note(lists, way, 'listed'),
        watchEnded: (cause) => note(ends, cause, `ended ${cause}`),
        progressed: () => undefined,
      },
    });
    const run = informer.run(stop.signal);
    this.#running.push(async () => {
      stop.abort();
      await run;
      client.close();
    });
    const next = async (type: string) => {
      await once(events, type);
    };
    return { informer, lists, ends, listed: () => next('listed'), ended: (cause) => next(`ended ${cause}`) };
  }

  async synced(options?: FollowOptions): Promise<Followed> {
    const followed = this.follow(options);
    await followed.listed();
    return followed;
  }

  /** Changes a node over the direct connection. Returns the resourceVersion of the change. */
  async write(index = 0): Promise<bigint> {
    const answer = await this.direct.json({
      path: `/api/v1/nodes/${nodeName(index)}`,
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      json: { metadata: { annotations: { 'example.com/write': String(++this.#writes) } } },
      signal: this.signal,
    });
    return BigInt((answer as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
  }

  /** Waits until the reflector has brought the cache to `version`. It starts no probe, because no read waits. */
  async reaches({ informer: { cache } }: Followed, version: bigint): Promise<void> {
    while (BigInt(cache.currentResourceVersion ?? 0) < version) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = cache.watch(cache.snapshot().resourceVersion, {
        event: () => resolve(),
        bookmark: () => resolve(),
        end: resolve,
      });
      await promise;
      stop();
    }
  }

  /**
   * Compares the cache with the cluster byte by byte. Items of a list have no kind and apiVersion; otherwise they equal
   * the cached objects.
   */
  async equalsCluster(followed: Followed): Promise<void> {
    const objects = new Map<string, string>();
    const { resourceVersion: version } = await listPages(
      this.direct,
      {
        path: '/api/v1/nodes',
        query: {},
        limit: 500,
        signal: this.signal,
        idleMs: 10_000,
        itemLimit: 1 << 20,
      },
      (raw) => {
        const { metadata } = JSON.parse(raw.toString('utf8')) as { metadata: { name: string } };
        objects.set(metadata.name, FRONT + raw.toString('utf8', 1));
      },
    );
    const { cache } = followed.informer;
    await cache.waitUntil(version, this.signal);
    const held = new Map(
      [...cache.snapshot().objects()].map(({ key, bytes }) => [key, bytes.toString('utf8')]),
    );
    expect([...held.keys()]).to.deep.equal([...objects.keys()]);
    for (const [name, text] of objects) expect(held.get(name)).to.equal(text);
  }
}
