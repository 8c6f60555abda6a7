// Fake kube-apiserver that serves pods and pod logs, for unit tests of the pod log store.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import type { LogRecord as StoredRecord } from '../../../../../../hack/log-stores/record.ts';
import { ClusterConnection } from '../../../../../../server/cluster/connection/connection.ts';
import {
  type KubernetesLimits,
  KubernetesLogStore,
  type KubernetesLogStoreOptions,
} from '../../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import { PODS } from '../../../../../../server/resources/kind.ts';
import { KindCopies } from '../../../../../../server/resources/kinds/kind-copies.ts';
import { kubeConfigFor, refuse, send, status } from '../../../../../support/cluster/scripted-cluster.ts';
import { closeNow, listenOnLoopback, portOf } from '../../../../../support/loopback.ts';
import { KubeletLog, type WrittenLine } from './kubelet-log.ts';

export interface Container {
  readonly name: string;
  readonly log: KubeletLog;
  previous?: KubeletLog;
  restarts?: number;
  startedAt?: string;
  state?: 'running' | 'waiting' | 'terminated';
}

interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly containers: Container[];
}

const LIMITS: KubernetesLimits = {
  maxContainers: 100,
  concurrentReads: 4,
  followedLogs: 100,
  bytesPerContainer: 1 << 20,
  memory: 1 << 20,
};

export class LogCluster {
  /** The pod log requests, in order. */
  readonly requests: URL[] = [];
  /** Responds to a pod log request instead of the kubelet, unless it returns false. */
  disturb: (url: URL, response: ServerResponse) => unknown = () => false;
  /** Whether the server has no permission to list pods, or to read their logs. */
  hidesPods = false;
  hidesLogs = false;
  readonly pods = new Map<string, Pod>();
  openReads = 0;
  mostReads = 0;
  readonly #server: Server;
  readonly #watchers = new Set<ServerResponse>();
  readonly #end = new AbortController();
  readonly #running: Promise<void>[] = [];
  #version = 100;

  constructor() {
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://cluster');
      if (url.pathname === '/api/v1/pods') this.#servePods(url, response);
      else if (url.pathname.endsWith('/log')) this.#serveLog(url, response);
      else if (url.pathname.endsWith('/pods')) this.#serveNamedPod(url, response);
      else if (url.pathname.endsWith('/selfsubjectaccessreviews')) this.#review(request, response);
      else refuse(response, 404, 'NotFound');
    });
  }

  async start(): Promise<this> {
    await listenOnLoopback(this.#server);
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  connect(url = this.url): ClusterConnection {
    const client = new ClusterConnection({ kubeConfig: kubeConfigFor(url) });
    this.#end.signal.addEventListener('abort', () => client.close());
    return client;
  }

  /** A store that runs until the cluster is stopped. */
  store(
    limits: Partial<KubernetesLimits> = {},
    {
      monotonic,
      ...options
    }: Partial<KubernetesLogStoreOptions> & { readonly monotonic?: () => number } = {},
  ): KubernetesLogStore {
    const client = this.connect();
    const log = pino({ enabled: false });
    const copies = new KindCopies({
      client,
      log,
      domain: 'platform.io',
      features: { podLogs: true },
      ...(monotonic ? { monotonic } : {}),
    });
    const store = new KubernetesLogStore({
      client,
      log,
      pods: () => copies.hold(PODS),
      limits: { ...LIMITS, ...limits },
      ...options,
    });
    this.#running.push(store.run(this.#end.signal), copies.run(this.#end.signal));
    return store;
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await Promise.all(this.#running);
    await this.goAway();
  }

  /** Closes all connections, and accepts no more. */
  async goAway(): Promise<void> {
    if (this.#server.listening) await closeNow(this.#server);
  }

  /** Creates or replaces a pod with one container, `app`. */
  add(
    namespace: string,
    name: string,
    lines: readonly WrittenLine[] = [],
    more: Partial<Container> = {},
  ): KubeletLog {
    const log = new KubeletLog(lines);
    this.put({ namespace, name, containers: [{ name: 'app', log, ...more }] });
    return log;
  }

  /** Appends records to the logs of their containers. `startedAt`: of new containers; default: their first record. */
  write(records: readonly StoredRecord[], startedAt?: string): void {
    for (const { time, log, kubernetes } of records) {
      const { namespace_name: namespace, pod_name: name, container_name } = kubernetes;
      const pod: Pod = this.pods.get(`${namespace}/${name}`) ?? { namespace, name, containers: [] };
      let container = pod.containers.find((one) => one.name === container_name);
      if (!container) {
        container = { name: container_name, log: new KubeletLog(), startedAt: startedAt ?? time };
        pod.containers.push(container);
        this.put(pod);
      }
      container.log.append({ time, text: log.replace(/\n+$/, '') });
    }
  }

  put(pod: Pod): void {
    const key = `${pod.namespace}/${pod.name}`;
    const type = this.pods.has(key) ? 'MODIFIED' : 'ADDED';
    this.pods.set(key, pod);
    const object = podObject(pod, ++this.#version);
    for (const watcher of this.#watchers) send(watcher, JSON.stringify({ type, object }));
  }

  #review(request: IncomingMessage, response: ServerResponse): void {
    void text(request).then((body) => {
      const allowed = !this.hidesLogs || !body.includes('"subresource":"log"');
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'SelfSubjectAccessReview', status: { allowed } }));
    });
  }

  #servePods(url: URL, response: ServerResponse): void {
    if (this.hidesPods) return refuse(response, 403, 'Forbidden');
    const resourceVersion = String(this.#version);
    if (url.searchParams.get('watch') !== 'true') {
      response.end(JSON.stringify({ kind: 'PodList', metadata: { resourceVersion }, items: [] }));
      return;
    }
    if (url.searchParams.get('sendInitialEvents') === 'true') {
      for (const pod of this.pods.values()) {
        send(response, JSON.stringify({ type: 'ADDED', object: podObject(pod, this.#version) }));
      }
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      const object = { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion, annotations } };
      send(response, JSON.stringify({ type: 'BOOKMARK', object }));
    }
    this.#watchers.add(response);
    response.on('close', () => this.#watchers.delete(response));
  }

  #serveNamedPod({ pathname, searchParams }: URL, response: ServerResponse): void {
    const namespace = pathname.split('/')[4] ?? '';
    const name = searchParams.get('fieldSelector')?.replace('metadata.name=', '') ?? '';
    const pod = this.pods.get(`${namespace}/${name}`);
    const items = pod ? [podObject(pod, this.#version)] : [];
    response.end(JSON.stringify({ kind: 'PodList', metadata: {}, items }));
  }

  #serveLog(url: URL, response: ServerResponse): void {
    this.requests.push(url);
    this.openReads++;
    this.mostReads = Math.max(this.mostReads, this.openReads);
    response.on('close', () => this.openReads--);
    if (this.disturb(url, response) !== false) return;
    const [, , , , namespace = '', , name = ''] = url.pathname.split('/');
    const container = this.pods
      .get(`${namespace}/${name}`)
      ?.containers.find((one) => one.name === url.searchParams.get('container'));
    if (!container) {
      refuse(response, 404, 'NotFound');
      return;
    }
    const previous = url.searchParams.get('previous') === 'true';
    const log = previous ? container.previous : container.log;
    if (!log || (!previous && container.state === 'waiting')) {
      const message = `container "${container.name}" in pod "${name}" is waiting to start: ContainerCreating`;
      response.writeHead(400).end(status(400, 'BadRequest', message));
      return;
    }
    log.serve(url.searchParams, response, !previous && container.state !== 'terminated');
  }
}

/** Starts a cluster before each test, and stops it afterwards. */
export function clusterForEachTest(use: (cluster: LogCluster) => void): void {
  let cluster: LogCluster;
  beforeEach(async () => {
    cluster = await new LogCluster().start();
    use(cluster);
  });
  afterEach(() => cluster.stop());
}

function podObject({ namespace, name, uid = `uid-${name}`, containers }: Pod, version: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, uid, resourceVersion: String(version) },
    spec: {},
    status: { containerStatuses: containers.map((container) => containerStatus(name, container)) },
  };
}

function containerStatus(pod: string, container: Container): object {
  const { name, restarts = 0, previous, state = 'running', startedAt = '2026-01-01T00:00:00Z' } = container;
  const id = (run: number): string => `containerd://${pod}-${name}-${run}`;
  const times = { startedAt, finishedAt: startedAt, containerID: id(restarts) };
  const ended = { startedAt: '2025-12-31T00:00:00Z', containerID: id(restarts - 1) };
  return {
    name,
    restartCount: restarts,
    ...(state === 'waiting' ? {} : { containerID: id(restarts) }),
    state: { [state]: state === 'terminated' ? times : { startedAt } },
    lastState: previous ? { terminated: ended } : {},
  };
}
