// Benchmark: CPU time and sent bytes of kube-apiserver during the start of common clients. The clients connect directly, or
// through the gateway with acceleration.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { buildClients } from '../../clients/build.ts';
import { findPython } from '../../python/environment.ts';
import type { Target } from '../measuring/load-generator.ts';
import { bytesWritten, cpuSeconds } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { namespaceName, podName } from '../scene/many-objects.ts';
import type { Scene } from '../scene/scene.ts';
import { atMost, informs, megabytes, milliseconds, type Row } from './row.ts';

const PYTHON = join(import.meta.dirname, '../../clients/python');
/** Number of informers of one namespace, for the clients that need seconds for the pods of all namespaces. */
const INFORMERS = 20;
const ROUNDS = 1;

export interface Side {
  readonly target: Target;
  readonly pid: number;
}
export type Sides = Readonly<Record<'peer' | 'ours', Side>>;

type Start = (kubeconfig: string) => Promise<unknown>;

/** A writer changes one pod every 50 ms, as in a busy cluster. Its share is subtracted from the figures. */
export async function clientRows(scene: Scene, sides: Sides): Promise<readonly Row[]> {
  const { kubePid, load, signal, writer } = scene;
  const { namespace, name } = podName(0);
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const ended = new AbortController();
  const writing = (async () => {
    const changes = { target: writer, path, ids: [], changes: 20, pauseMs: 50, timeoutMs: 60_000 };
    while (!ended.signal.aborted) await load.change(changes);
  })();
  const spent = async (): Promise<{ cpu: number; bytes: number }> => ({
    cpu: await cpuSeconds(kubePid),
    bytes: await bytesWritten(kubePid),
  });
  const during = async (work: () => Promise<unknown>) => {
    const [began, before] = [performance.now(), await spent()];
    await work();
    // The server continues after the last byte of some responses.
    await delay(500, undefined, { signal });
    const after = await spent();
    const seconds = (performance.now() - began) / 1000;
    return { seconds, cpu: after.cpu - before.cpu, bytes: after.bytes - before.bytes };
  };
  try {
    const idle = await during(() => delay(5000, undefined, { signal }));
    const rows: Row[] = [];
    for (const [client, start] of Object.entries(await clients(scene))) {
      scene.progress(client);
      const cost = (side: 'peer' | 'ours') => async () => {
        const kubeconfig = await kubeconfigOf(scene, sides, side);
        const { seconds, cpu, bytes } = await during(() => start(kubeconfig));
        const share = seconds / idle.seconds;
        return {
          seconds,
          cpu: Math.max(0, cpu - idle.cpu * share),
          bytes: Math.max(0, bytes - idle.bytes * share),
        };
      };
      const seen = await interleaved(ROUNDS, { peer: cost('peer'), ours: cost('ours') });
      const of = (side: 'peer' | 'ours', figure: 'seconds' | 'cpu' | 'bytes'): number =>
        median(seen[side].map((round) => round[figure]));
      const [slow, fast] = [of('peer', 'seconds') - 0.5, of('ours', 'seconds') - 0.5];
      const cpu = atMost(
        `${client}: CPU of kube-apiserver`,
        of('peer', 'cpu') * 1000,
        of('ours', 'cpu') * 1000,
        1,
        milliseconds,
      );
      rows.push(
        informs(
          cpu,
          `it takes ${milliseconds(slow * 1000)}, behind the gateway ${milliseconds(fast * 1000)}`,
        ),
        informs(
          atMost(
            `${client}: bytes from kube-apiserver`,
            of('peer', 'bytes'),
            of('ours', 'bytes'),
            1,
            megabytes,
          ),
        ),
      );
    }
    return rows;
  } finally {
    ended.abort();
    await writing;
  }
}

async function clients({
  kubectl,
  options,
  progress,
  signal,
}: Scene): Promise<Readonly<Record<string, Start>>> {
  const build = { env: process.env, signal, progress };
  const { informer, controller } = await buildClients(build);
  const requirements = join(PYTHON, 'requirements.txt');
  const python = await findPython({ name: 'python-client', requirements }, build);
  const run = promisify(execFile);
  const all = `of ${options.pods.toLocaleString('en')} pods`;
  const some = `of one namespace, ${INFORMERS} times`;
  const quiet = { signal, maxBuffer: 1024 ** 3 };
  return {
    [`kubectl get pods -A, ${all}`]: (kubeconfig) =>
      run(kubectl, ['--kubeconfig', kubeconfig, 'get', 'pods', '-A'], quiet),
    [`client-go: two informers ${all}`]: (kubeconfig) => clientGo(informer, kubeconfig, signal),
    [`controller-runtime: cache ${all}`]: (kubeconfig) =>
      run(controller, ['--kubeconfig', kubeconfig, '-pods'], quiet),
    [`JavaScript: informer ${some}`]: (kubeconfig) => javascript(kubeconfig, namespaceName(0)),
    ...(python === undefined
      ? {}
      : {
          [`Python: informer ${some}`]: (kubeconfig) => {
            const args = [join(PYTHON, 'informers.py'), kubeconfig, namespaceName(0), String(INFORMERS)];
            return run(python, args, quiet);
          },
        }),
  };
}

/** Resolves when the informers of the program have the pods. */
async function clientGo(program: string, kubeconfig: string, signal: AbortSignal): Promise<void> {
  const child = spawn(program, ['--kubeconfig', kubeconfig, '--resource', 'pods.v1.'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    signal,
  });
  let synced = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    // The line has all names of the store.
    if (line.includes('"type":"SYNCED"') && ++synced === 2) child.stdin.end();
  }
  if (child.exitCode === null) await once(child, 'exit');
  if (synced < 2) throw new Error('the informers of client-go did not start');
}

async function javascript(kubeconfig: string, namespace: string): Promise<void> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const path = `/api/v1/namespaces/${namespace}/pods`;
  for (let i = 0; i < INFORMERS; i++) {
    const informer = makeInformer(config, path, () => api.listNamespacedPod({ namespace }));
    await new Promise<void>((resolve, reject) => {
      informer.on('connect', () => resolve());
      informer.on('error', reject);
      informer.start().catch(reject);
    });
    await informer.stop();
  }
}

async function kubeconfigOf({ serving }: Scene, sides: Sides, side: 'peer' | 'ours'): Promise<string> {
  const { server, ca, headers = {} } = sides[side].target;
  const path = join(dirname(serving.key), `clients-${side}.json`);
  const cluster = { server, 'certificate-authority-data': (await readFile(ca)).toString('base64') };
  const token = headers['authorization']?.replace('Bearer ', '');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}
