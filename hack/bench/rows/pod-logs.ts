// Benchmark: log queries over 100 pods with 10,000 lines each. The baseline is a client that reads the same pod logs
// and discards them.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../control-plane/client.ts';
import { type ControlPlane, startControlPlane } from '../../control-plane/control-plane.ts';
import { grant, SERVICE_ACCOUNT } from '../../extension/registration.ts';
import { ServerProcess } from '../../extension/server-process.ts';
import { forEach } from '../../simulation/bulk.ts';
import { startKwok } from '../../simulation/kwok.ts';
import { nodeName } from '../../simulation/realistic-node.ts';
import { freePort } from '../../system/ports.ts';
import { countLines, LogClient, memberOf } from '../measuring/log-client.ts';
import { peakWhile, residentMB } from '../measuring/process-usage.ts';
import { LOGS } from '../scene/log-scene.ts';
import { pairFiles, pemFile } from '../scene/pem-files.ts';
import type { Scene } from '../scene/scene.ts';
import { inWorkFolder } from '../scene/work-folder.ts';
import { milliseconds, type Row } from './row.ts';

const PODS = 100;
const LINES = 10_000;
const DAY = Date.UTC(2026, 0, 15);
const DAY_MS = 86_400_000;

interface Pod {
  readonly namespace: string;
  readonly name: string;
}

export async function podLogRows(scene: Scene): Promise<readonly Row[]> {
  const { signal, progress } = scene;
  return inWorkFolder('bench-pods', progress, async (dir, defer) => {
    progress(`writing the logs of ${PODS} pods`);
    const cluster = await startControlPlane({ dir: join(dir, 'control-plane'), signal, progress });
    defer(() => cluster.stop());
    const pods = await startPods(cluster, dir, signal);
    const { server, client } = await startServer(cluster, dir, signal);
    defer(() => server.stop());
    defer(() => client.close());
    return measure(scene, pods, server, client, cluster.client);
  });
}

async function measure(
  scene: Scene,
  pods: readonly Pod[],
  server: ServerProcess,
  client: LogClient,
  reader: Client,
): Promise<Row[]> {
  const range = `start_time=${DAY / 1000}&end_time=${DAY / 1000 + DAY_MS / 1000}`;
  scene.progress('reading the logs of pods');
  const bare = await timed(() =>
    forEach(pods.values(), { signal: scene.signal }, async ({ namespace, name }) => {
      await reader.expect(`/api/v1/namespaces/${namespace}/pods/${name}/log?timestamps=true`, {}, [200]);
    }),
  );
  const before = await residentMB(server.pid);
  const what = `${PODS} pods of ${LINES.toLocaleString('en')} lines`;
  const peer = milliseconds(bare.ms);
  const [rows, most] = await peakWhile(server.pid, async (): Promise<Row[]> => {
    const page = await timed(() => client.json(`${LOGS}?${range}&size=100`));
    const total = Number(memberOf(page.result, 'query', 'total'));
    // Report partial results, which the time limit may cause.
    const covered = total === PODS * LINES ? '' : `; partial, ${total} of ${PODS * LINES} lines`;
    const cursor = String(memberOf(page.result, 'query', 'cursor'));
    const further = await timed(() => client.json(`${LOGS}?${range}&size=100&cursor=${cursor}`));
    const began = performance.now();
    const answer = await client.open(`${LOGS}?${range}&operation=export&format=ndjson&sort=asc`);
    let first = 0;
    answer.once('data', () => {
      first = performance.now() - began;
    });
    const lines = await countLines(answer);
    const all = performance.now() - began;
    if (lines !== PODS * LINES) throw new Error(`${lines} lines were exported, not ${PODS * LINES}`);
    return [
      {
        work: `pod logs: newest 100 and the total, ${what}`,
        peer,
        ours: milliseconds(page.ms),
        note: `peer: reading and discarding these logs${covered}`,
      },
      {
        work: 'pod logs: the next 100 by cursor',
        ours: milliseconds(further.ms),
      },
      { work: `pod logs: first line of an export in order, ${what}`, peer, ours: milliseconds(first) },
      { work: `pod logs: all lines of an export in order, ${what}`, peer, ours: milliseconds(all) },
    ];
  });
  return [
    ...rows,
    {
      work: 'pod logs: growth of memory during these queries and exports',
      ours: `${(most - before).toFixed(0)} MB`,
      note: `resident, from ${before.toFixed(0)} MB`,
    },
  ];
}

async function timed<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly ms: number; readonly result: Result }> {
  const began = performance.now();
  const result = await work();
  return { ms: performance.now() - began, result };
}

/** Creates simulated pods with generated log files. */
async function startPods(cluster: ControlPlane, dir: string, signal: AbortSignal): Promise<Pod[]> {
  const pods = Array.from({ length: PODS }, (_, index) => ({
    namespace: `team-${index % 10}`,
    name: `app-${index}`,
  }));
  const folder = join(dir, 'logs');
  await mkdir(folder, { recursive: true });
  const file = ({ namespace, name }: Pod) => join(folder, `${namespace}_${name}.log`);
  for (const [index, pod] of pods.entries()) await writeFile(file(pod), linesOf(index));
  await startKwok(cluster, {
    nodes: 4,
    pods: 0,
    signal,
    objects: pods.map((pod) => ({
      apiVersion: 'kwok.x-k8s.io/v1alpha1',
      kind: 'Logs',
      metadata: pod,
      spec: { logs: [{ containers: ['app'], logsFile: file(pod) }] },
    })),
  });
  const create = (path: string, body: object) =>
    cluster.client.expect(path, { method: 'POST', body }, [201, 409]);
  for (const namespace of new Set(pods.map((pod) => pod.namespace))) {
    await create('/api/v1/namespaces', { metadata: { name: namespace } });
    await create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
  }
  await forEach(pods.entries(), { signal }, async ([index, { namespace, name }]) => {
    const spec = { nodeName: nodeName(1 + (index % 3)), containers: [{ name: 'app', image: 'x' }] };
    await create(`/api/v1/namespaces/${namespace}/pods`, { metadata: { name }, spec });
  });
  const running = '/api/v1/pods?fieldSelector=status.phase%3DRunning';
  for (;;) {
    const items = memberOf(await cluster.client.get(running), 'items');
    if (Array.isArray(items) && items.length >= PODS) return pods;
    await delay(200, undefined, { signal });
  }
}

/** The log of one pod over a day in CRI format; each pod starts a little later than the previous one. */
function linesOf(pod: number): string {
  return Array.from({ length: LINES }, (_, line) => {
    const time = new Date(DAY + Math.floor((line * DAY_MS) / LINES) + pod).toISOString().slice(0, 23);
    const level = line % 200 === 3 ? 'error' : 'info';
    return `${time}000000Z stdout F level=${level} msg="request served" path=/api/v1/orders/${line} pod=${pod}\n`;
  }).join('');
}

async function startServer(
  cluster: ControlPlane,
  dir: string,
  signal: AbortSignal,
): Promise<{ readonly server: ServerProcess; readonly client: LogClient }> {
  const port = await freePort();
  await grant({ kubectl: cluster.kubectl, kubeconfig: cluster.kubeconfig }, port, signal);
  const { pki } = cluster;
  const ca = await pemFile(dir, 'ca.crt', cluster.ca);
  const names = { dns: ['localhost'], ip: ['127.0.0.1'] };
  const serving = await pairFiles(dir, 'serving', pki.cluster.issueServer({ cn: 'ks-apiserver' }, names));
  const caller = await pairFiles(dir, 'caller', pki.issueClient({ cn: 'bench', o: ['system:masters'] }));
  const server = await ServerProcess.start({
    dir: join(dir, 'server'),
    kubeconfig: await cluster.kubeconfigFor(SERVICE_ACCOUNT),
    port,
    certificate: { ...serving, ca },
    configuration: { oauth: { enabled: false } },
    signal,
  });
  return { server, client: await LogClient.secure(server.url, { ca, ...caller }) };
}
