// Starts the environment of the log benchmarks: OpenSearch and VictoriaLogs with equal log records. Each log store
// has its own ks-apiserver.
import { join } from 'node:path';
import { Client } from '../../control-plane/client.ts';
import type { ServerProcess } from '../../extension/server-process.ts';
import { logData } from '../../log-data/log-data.ts';
import { loadOpenSearch } from '../../log-stores/load-opensearch.ts';
import { loadVictoriaLogs } from '../../log-stores/load-victorialogs.ts';
import type { LogStoreProcess } from '../../log-stores/log-store.ts';
import { missingForOpenSearch } from '../../log-stores/missing-prerequisite.ts';
import { startOpenSearch } from '../../log-stores/opensearch.ts';
import type { LogRecord } from '../../log-stores/record.ts';
import { startVictoriaLogs } from '../../log-stores/victorialogs.ts';
import { clientOf } from '../measuring/load-generator.ts';
import { type LogPeer, type LogRange, openSearchPeer, victoriaLogsPeer } from './log-peers.ts';
import type { Scene } from './scene.ts';
import { inWorkFolder } from './work-folder.ts';

/** The path that consoles use. */
export const LOGS = '/kapis/tenant.platform.io/v1alpha2/logs';
const INDEX_PREFIX = 'bench';

export interface LogSide {
  readonly peer: LogPeer;
  readonly store: LogStoreProcess;
  readonly server: ServerProcess;
  /** Our server, with a client certificate of a user that has permission to read the logs of all pods. */
  readonly ours: Client;
  /** Writes records to the store, as a collector does. */
  write(records: readonly LogRecord[]): Promise<void>;
}

export interface LogScene {
  readonly lines: number;
  /** Time range of all lines. */
  readonly range: LogRange;
  readonly sides: readonly LogSide[];
  /** A record as a template for new ones. */
  readonly sample: LogRecord;
}

/** Runs `work` with the stores that can be started here, and removes them afterwards. */
export async function withLogStores<Result>(
  scene: Scene,
  work: (logs: LogScene) => Promise<Result>,
): Promise<Result> {
  const { signal, progress } = scene;
  const lines = scene.options.logLines;
  const data = logData({ lines });
  const sides: LogSide[] = [];
  return inWorkFolder('bench-logs', progress, async (dir, defer) => {
    const add = async (
      store: LogStoreProcess,
      logging: object,
      newPeer: (client: Client) => LogPeer,
      load: (records: Iterable<LogRecord>) => Promise<unknown>,
    ): Promise<void> => {
      defer(() => store.stop());
      const direct = new Client(store.url);
      defer(() => direct.close());
      const peer = newPeer(direct);
      progress(`loading ${lines} lines into ${peer.name}`);
      await load(data.records());
      const server = await scene.another({ configuration: { oauth: { enabled: false }, logging } });
      defer(() => server.stop());
      const ours = await clientOf({ ...scene.direct, server: server.url });
      defer(() => ours.close());
      const write = async (records: readonly LogRecord[]): Promise<void> => void (await load(records));
      sides.push({ peer, store, server, ours, write });
    };
    await allowLogs(scene);
    const victoria = await startVictoriaLogs({ dir: join(dir, 'victorialogs'), signal, progress });
    await add(
      victoria,
      { store: 'victorialogs', victorialogs: { url: victoria.url } },
      victoriaLogsPeer,
      (records) => loadVictoriaLogs(victoria.url, records, { signal }),
    );
    const missing = await missingForOpenSearch(process.env);
    if (missing === undefined) {
      const open = await startOpenSearch({ dir: join(dir, 'opensearch'), signal, progress, heap: '2g' });
      await add(
        open,
        { store: 'opensearch', opensearch: { urls: [open.url], indexPrefix: INDEX_PREFIX } },
        (client) => openSearchPeer(client, INDEX_PREFIX),
        (records) => loadOpenSearch(open.url, records, { indexPrefix: INDEX_PREFIX, signal }),
      );
      await disableRequestCache(open.url);
    } else progress(`without OpenSearch: ${missing}`);
    const [sample] = data.records();
    if (!sample) throw new Error('there are no lines');
    const seconds = (time: string): number => Math.floor(Date.parse(time) / 1000);
    const range = { start: seconds(data.start), end: seconds(data.end) };
    return work({ lines, range, sides, sample });
  });
}

/** Disables the request cache, which holds counts of indices that a range covers completely. */
async function disableRequestCache(url: string): Promise<void> {
  using client = new Client(url);
  const body = { 'index.requests.cache.enable': false };
  await client.expect(`/${INDEX_PREFIX}-*/_settings`, { method: 'PUT', body }, [200]);
}

/** Grants the caller of the bench get pods/log in all namespaces. */
async function allowLogs({ cluster }: Scene): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  const name = 'bench-logs';
  const create = (resource: string, kind: string, body: object) =>
    cluster.expect(
      `/apis/${group}/v1/${resource}`,
      { method: 'POST', body: { apiVersion: `${group}/v1`, kind, metadata: { name }, ...body } },
      [201, 409],
    );
  const rules = [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }];
  await create('clusterroles', 'ClusterRole', { rules });
  await create('clusterrolebindings', 'ClusterRoleBinding', {
    roleRef: { apiGroup: group, kind: 'ClusterRole', name },
    subjects: [{ apiGroup: group, kind: 'User', name: 'bench' }],
  });
}
