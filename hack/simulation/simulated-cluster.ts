// Creates the nodes, namespaces and Deployments of the simulated cluster. kwok.ts simulates the kubelets.
import { isDeepStrictEqual } from 'node:util';
import { array, record, recordIn } from '../../apis/reading/unknown-value.ts';
import type { Client } from '../control-plane/client.ts';
import { until } from '../system/until.ts';
import type { Progress } from '../terminal/progress.ts';
import { APPLICATIONS, type Application } from './applications.ts';
import { createAll, forEach } from './bulk.ts';
import { type NodeObject, nodeName, realisticNode } from './realistic-node.ts';
import { START_AT_ONCE } from './slow-stages.ts';

/** The annotation that marks the nodes of KWOK; it ignores other nodes. */
export const SIMULATED = { key: 'kwok.x-k8s.io/node', value: 'fake' } as const;

interface SimulatedClusterOptions {
  readonly nodes: number;
  readonly pods: number;
  /** Kubelet address of every node, for kube-apiserver. */
  readonly kubelet: { address: string; port: number };
  readonly signal: AbortSignal;
  readonly progress?: Progress;
}

/** Time until all pods must be Running, in ms. */
const RUNNING_TIMEOUT_MS = 120_000;
const APPLY = 'application/apply-patch+yaml';
const OWNER = 'fieldManager=ks-apiserver-dev&force=true';

/**
 * Creates the missing nodes, namespaces and Deployments, and waits until the pods run. Nodes of an earlier start with more
 * nodes stay; the progress reports their number.
 */
export async function createCluster(client: Client, options: SimulatedClusterOptions): Promise<void> {
  const { nodes, signal } = options;
  const objects = Iterator.from(Array(nodes).keys()).map((index) => simulatedNode(index, options.kubelet));
  const before = await createAll(client, '/api/v1/nodes', objects, {
    what: 'nodes',
    total: nodes,
    ...options,
  });
  const wanted = new Set(Iterator.from(Array(nodes).keys()).map(nodeName));
  const further = before.difference(wanted).size;
  if (further > 0) options.progress?.(`further nodes of an earlier start: ${further}`);
  await correctPort(client, options);

  const namespaces = [...new Set(APPLICATIONS.map(({ namespace }) => namespace))];
  await forEach(namespaces.values(), options, async (name, signal) => {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await apply(client, `/api/v1/namespaces/${name}`, body, signal);
  });
  const workers = Array.from({ length: nodes }, (_, index) => simulatedNode(index, options.kubelet)).filter(
    ({ spec }) => !(spec.taints ?? []).some(({ effect }) => effect === 'NoSchedule'),
  );
  const places = workers.length > 0 ? workers.map(({ metadata }) => metadata.name) : [nodeName(0)];
  const replicas = APPLICATIONS.map((_, index) =>
    nodes === 0 ? 0 : Math.floor((options.pods + APPLICATIONS.length - 1 - index) / APPLICATIONS.length),
  );
  await forEach(APPLICATIONS.entries(), options, async ([index, application], signal) => {
    const body = deploymentOf(
      application,
      replicas[index] ?? 0,
      places[index % places.length] ?? nodeName(0),
    );
    const path = `/apis/apps/v1/namespaces/${application.namespace}/deployments/${application.name}`;
    await apply(client, path, body, signal);
  });
  await untilRunning(client, namespaces, nodes === 0 ? 0 : options.pods, signal);
}

/** A realistic node that is Ready from the start and has KWOK as its kubelet. */
function simulatedNode(index: number, kubelet: { address: string; port: number }): NodeObject {
  const node = realisticNode(index);
  const now = new Date().toISOString();
  return {
    ...node,
    metadata: {
      ...node.metadata,
      annotations: { ...node.metadata.annotations, [SIMULATED.key]: SIMULATED.value },
    },
    status: {
      ...node.status,
      addresses: [
        { type: 'InternalIP', address: kubelet.address },
        { type: 'Hostname', address: node.metadata.name },
      ],
      conditions: node.status.conditions.map((condition) => ({
        ...condition,
        lastHeartbeatTime: now,
        lastTransitionTime: now,
      })),
      daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
    },
  };
}

/** Sets the kubelet port of existing nodes if it has changed: KWOK itself updates it only after minutes. */
async function correctPort(client: Client, options: SimulatedClusterOptions): Promise<void> {
  if (options.nodes === 0) return;
  const daemonEndpoints = { kubeletEndpoint: { Port: options.kubelet.port } };
  const first = await client.get(`/api/v1/nodes/${nodeName(0)}`);
  if (isDeepStrictEqual(recordIn(first, 'status')['daemonEndpoints'], daemonEndpoints)) return;
  const body = { status: { daemonEndpoints } };
  const contentType = 'application/merge-patch+json';
  await forEach(Array(options.nodes).keys(), options, async (index, signal) => {
    const path = `/api/v1/nodes/${nodeName(index)}/status`;
    await client.expect(path, { method: 'PATCH', body, contentType, signal }, [200]);
  });
}

async function apply(client: Client, path: string, body: unknown, signal: AbortSignal): Promise<void> {
  await client.expect(`${path}?${OWNER}`, { method: 'PATCH', body, contentType: APPLY, signal }, [200, 201]);
}

/** The template sets the node name, because no scheduler runs. */
export function deploymentOf(
  { namespace, name, image, requests }: Application,
  replicas: number,
  nodeName: string,
  furtherLabels: Readonly<Record<string, string>> = {},
): object {
  const labels = { 'app.kubernetes.io/name': name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels: { ...labels, ...furtherLabels }, annotations: START_AT_ONCE },
        spec: { nodeName, containers: [{ name, image, resources: { requests } }] },
      },
    },
  };
}

async function untilRunning(
  client: Client,
  namespaces: readonly string[],
  wanted: number,
  signal: AbortSignal,
): Promise<void> {
  let running = 0;
  const haveAll = async (bound: AbortSignal): Promise<boolean> => {
    running = 0;
    for (const namespace of namespaces) {
      const path = `/api/v1/namespaces/${namespace}/pods?fieldSelector=status.phase%3DRunning`;
      running += array(record(await client.get(path, bound))['items']).length;
    }
    return running >= wanted;
  };
  await until(haveAll, { signal, timeoutMs: RUNNING_TIMEOUT_MS }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new Error(`only ${running} of ${wanted} simulated pods run`, { cause });
  });
}
