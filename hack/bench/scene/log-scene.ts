// What the rows of logs are measured on: both stores with the same lines, and a server of ours before each. Owns starting
// and ending them.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../../control-plane/client.ts';
import type { ServerProcess } from '../../extension/server-process.ts';
import { logData } from '../../log-data/log-data.ts';
import { lackingForOpenSearch } from '../../log-stores/lacking.ts';
import { loadOpenSearch } from '../../log-stores/load-opensearch.ts';
import { loadVictoriaLogs } from '../../log-stores/load-victorialogs.ts';
import type { LogStoreProcess } from '../../log-stores/log-store.ts';
import { startOpenSearch } from '../../log-stores/opensearch.ts';
import type { LogRecord } from '../../log-stores/record.ts';
import { startVictoriaLogs } from '../../log-stores/victorialogs.ts';
import { LogClient } from '../measuring/log-client.ts';
import { startProgram } from '../measuring/program.ts';
import { type LogPeer, type LogRange, openSearchPeer, victoriaLogsPeer } from './log-peers.ts';
import type { Scene } from './scene.ts';

/** Where consoles ask. */
export const LOGS = '/kapis/tenant.platform.io/v1alpha2/logs';
const INDEX_PREFIX = 'bench';
const BARE_FRONT = join(import.meta.dirname, '../bare/front.ts');

export interface LogSide {
  readonly peer: LogPeer;
  /** The same questions, through a Node program that only passes them on. */
  readonly fronted: LogPeer;
  readonly store: LogStoreProcess;
  readonly server: ServerProcess;
  /** Ours, as a caller who may read the logs of all pods. */
  readonly ours: LogClient;
  /** Adds lines to the store, as a collector does. */
  write(records: readonly LogRecord[]): Promise<void>;
}

export interface LogScene {
  readonly lines: number;
  /** Holds all lines. */
  readonly range: LogRange;
  readonly sides: readonly LogSide[];
  /** One line as they all are, for new ones. */
  readonly sample: LogRecord;
}

/** Runs `work` with both stores, or with the one that can be started here, and removes them afterwards. */
export async function withLogStores<Result>(
  scene: Scene,
  work: (logs: LogScene) => Promise<Result>,
): Promise<Result> {
  const { signal, progress } = scene;
  const lines = scene.options.logLines;
  const dir = await mkdtemp(join(tmpdir(), 'ks-apiserver-bench-logs-'));
  const data = logData({ lines });
  const cleanups: (() => Promise<unknown>)[] = [() => rm(dir, { recursive: true, force: true })];
  const sides: LogSide[] = [];
  const add = async (
    store: LogStoreProcess,
    logging: object,
    newPeer: (client: LogClient) => LogPeer,
    load: (records: Iterable<LogRecord>) => Promise<unknown>,
  ): Promise<void> => {
    cleanups.push(() => store.stop());
    const direct = LogClient.plain(store.url);
    const peer = newPeer(direct);
    const program = startProgram(BARE_FRONT, [store.url, scene.serving.cert, scene.serving.key], signal);
    cleanups.push(async () => program.end());
    const front = await LogClient.secure(`https://127.0.0.1:${await program.line()}`, scene.direct);
    progress(`loading ${lines} lines into ${peer.name}`);
    await load(data.records());
    const server = await scene.another({ configuration: { oauth: { enabled: false }, logging } });
    const ours = await LogClient.secure(server.url, scene.direct);
    cleanups.push(async () => {
      direct.close();
      front.close();
      ours.close();
      await server.stop();
    });
    const write = async (records: readonly LogRecord[]): Promise<void> => void (await load(records));
    sides.push({ peer, fronted: newPeer(front), store, server, ours, write });
  };
  try {
    await allowLogs(scene);
    const victoria = await startVictoriaLogs({ dir: join(dir, 'victorialogs'), signal, progress });
    await add(
      victoria,
      { store: 'victorialogs', victorialogs: { url: victoria.url } },
      victoriaLogsPeer,
      (records) => loadVictoriaLogs(victoria.url, records, { signal }),
    );
    const lacking = await lackingForOpenSearch(process.env);
    if (lacking === undefined) {
      const open = await startOpenSearch({ dir: join(dir, 'opensearch'), signal, progress, heap: '2g' });
      await add(
        open,
        { store: 'opensearch', opensearch: { urls: [open.url], indexPrefix: INDEX_PREFIX } },
        (client) => openSearchPeer(client, INDEX_PREFIX),
        (records) => loadOpenSearch(open.url, records, { indexPrefix: INDEX_PREFIX, signal }),
      );
      await keepNoAnswers(open.url);
    } else progress(`without OpenSearch: ${lacking}`);
    const [sample] = data.records();
    if (!sample) throw new Error('there are no lines');
    const seconds = (time: string): number => Math.floor(Date.parse(time) / 1000);
    const range = { start: seconds(data.start), end: seconds(data.end) };
    return await work({ lines, range, sides, sample });
  } finally {
    for (const cleanup of cleanups.toReversed()) {
      await cleanup().catch((error: unknown) => progress(`cleaning up: ${String(error)}`));
    }
  }
}

/** Of an index that a range covers whole, OpenSearch keeps the counts, whatever the range is: neither side is to get those. */
async function keepNoAnswers(url: string): Promise<void> {
  const client = LogClient.plain(url);
  const body = JSON.stringify({ 'index.requests.cache.enable': false });
  try {
    await client.expect(`/${INDEX_PREFIX}-*/_settings`, { type: 'application/json', body, method: 'PUT' });
  } finally {
    client.close();
  }
}

/** Lets the caller of the bench read the logs of all pods. */
async function allowLogs({ writer }: Scene): Promise<void> {
  const [ca = '', cert = '', key = ''] = await Promise.all(
    [writer.ca, writer.cert, writer.key].map((file) => readFile(file, 'utf8')),
  );
  const client = new Client(writer.server, { ca, pair: { cert, key } }, 1);
  const group = 'rbac.authorization.k8s.io';
  const name = 'bench-logs';
  const rules = [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }];
  const create = (resource: string, kind: string, body: object) =>
    client.expect(
      `/apis/${group}/v1/${resource}`,
      { method: 'POST', body: { apiVersion: `${group}/v1`, kind, metadata: { name }, ...body } },
      [201, 409],
    );
  try {
    await create('clusterroles', 'ClusterRole', { rules });
    await create('clusterrolebindings', 'ClusterRoleBinding', {
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
      subjects: [{ apiGroup: group, kind: 'User', name: 'bench' }],
    });
  } finally {
    client.close();
  }
}
