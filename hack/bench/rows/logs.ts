// Benchmark: log queries through ks-apiserver. The baseline is the same query, sent directly to the log store.
import type { Client } from '../../control-plane/client.ts';
import { peakWhile, residentMB } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { countLines, type LogPeer, type LogRange, memberOf } from '../scene/log-peers.ts';
import { LOGS, type LogScene, type LogSide, withLogStores } from '../scene/log-scene.ts';
import type { Scene } from '../scene/scene.ts';
import { busyRow } from './logs-busy.ts';
import { tailRow } from './logs-tail.ts';
import { atLeast, milliseconds, perSecond, type Row } from './row.ts';

const ROUNDS = 101;
/** Requests until the JIT compilers of server and store are warm. */
const WARM_UPS = 400;
const EXPORT_ROUNDS = 5;
const NAMESPACE = 'web';
const WORD = 'timeout';
const SIZE = 100;
/** Goal: at most this multiple of the store's time, plus `OVERHEAD_MS`. */
const RATIO = 1.5;
const OVERHEAD_MS = 2;
const EXPORT_SHARE = 0.5;
const EXPORT_GROWTH_MB = 50;

const SHORTFALL =
  'a Node server that only forwards the query and encodes the response again takes 10 to 20 % longer than the store; ours adds authentication, the scope, the order of the records, metrics and a log line';

export function logRows(scene: Scene): Promise<readonly Row[]> {
  return withLogStores(scene, async (logs) => {
    const rows: Row[] = [];
    // Print each row at once, because the whole run takes long.
    const add = (...measured: readonly Row[]): void => {
      for (const { work, peer, ours, ratio } of measured)
        scene.progress([work, peer, ours, ratio].join(' | '));
      rows.push(...measured);
    };
    for (const side of logs.sides) {
      add(...(await queryRows(side, logs)));
      add(...(await exportRows(side, logs)));
      add(await tailRow(side, logs));
      add(await busyRow(scene, side, logs));
    }
    return rows;
  });
}

interface Query {
  readonly work: string;
  readonly direct: (peer: LogPeer, range: LogRange) => Promise<unknown>;
  readonly ours: (range: LogRange) => Promise<unknown>;
}

async function queryRows(side: LogSide, { range, lines }: LogScene): Promise<Row[]> {
  const { ours } = side;
  const ask = (range: LogRange, parameters: object) => ours.get(`${LOGS}?${query(range, parameters)}`);
  const total = async (range: LogRange, parameters: object) =>
    memberOf(await ask(range, parameters), 'query', 'total');
  const keyword = { namespaces: NAMESPACE, log_query: WORD, size: SIZE };
  const queries: readonly Query[] = [
    {
      work: `the newest ${SIZE} of ${lines} lines, and their total`,
      direct: (store, range) => store.newest(range, SIZE),
      ours: (range) => total(range, { size: SIZE }),
    },
    {
      work: `the newest ${SIZE} lines of a namespace with a word, and their total`,
      direct: (store, range) => store.query(range, NAMESPACE, WORD, SIZE),
      ours: (range) => total(range, keyword),
    },
    {
      work: `statistics of ${lines} lines`,
      direct: (store, range) => store.statistics(range),
      ours: async (range) => {
        const answer = memberOf(await ask(range, { operation: 'statistics' }), 'statistics');
        return [memberOf(answer, 'logs'), memberOf(answer, 'containers')];
      },
    },
    {
      work: `histogram of ${lines} lines by 15 minutes`,
      direct: (store, range) => store.histogram(range),
      ours: async (range) =>
        memberOf(await ask(range, { operation: 'histogram', interval: '15m' }), 'histogram', 'total'),
    },
  ];
  const rows: Row[] = [];
  for (const measured of queries) rows.push(await queryRow(side, measured, range));
  return rows;
}

/** Uses another range for each query, so that caches of the store affect no side. */
async function queryRow({ peer }: LogSide, { work, direct, ours }: Query, whole: LogRange): Promise<Row> {
  const peers = (range: LogRange) => direct(peer, range);
  await same(work, { peers, ours }, whole);
  let offset = 0;
  const side = (ask: (range: LogRange) => Promise<unknown>) => async (): Promise<number> => {
    const range = { ...whole, start: whole.start + offset++ };
    const began = performance.now();
    await ask(range);
    return performance.now() - began;
  };
  const timed = { peer: side(peers), ours: side(ours) };
  await interleaved(WARM_UPS, timed);
  const seen = await interleaved(ROUNDS, timed);
  const [own, theirs] = [median(seen.ours), median(seen.peer)];
  return {
    work: `logs, ${peer.name}: ${work}`,
    against: peer.name,
    peer: milliseconds(theirs),
    ours: milliseconds(own),
    ratio: `${(own / theirs).toFixed(2)} ×`,
    goal: `≤ ${RATIO} × + ${OVERHEAD_MS} ms`,
    met: own <= RATIO * theirs + OVERHEAD_MS,
    shortfall: SHORTFALL,
  };
}

/** Throws unless both sides return the same result. Container counts are not compared, because one store estimates them. */
async function same(
  work: string,
  { peers, ours }: Readonly<Record<'peers' | 'ours', (range: LogRange) => Promise<unknown>>>,
  range: LogRange,
): Promise<void> {
  const [expected, answered] = [await peers(range), await ours(range)].map((answer) =>
    JSON.stringify(Array.isArray(answer) ? answer[0] : answer),
  );
  if (expected !== answered)
    throw new Error(`${work}: the store returned ${expected}, we returned ${answered}`);
}

function query({ start, end }: LogRange, parameters: object): string {
  return new URLSearchParams({
    start_time: String(start),
    end_time: String(end),
    ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])),
  }).toString();
}

async function exportRows({ peer, ours, server }: LogSide, { range, lines }: LogScene): Promise<Row[]> {
  const path = (range: LogRange) =>
    `${LOGS}?${query(range, { operation: 'export', format: 'ndjson', sort: 'asc' })}`;
  // Warm up with the first hour, which contains lines.
  const hour = { start: range.start, end: range.start + 3_600 };
  if ((await exported(ours, path(hour))) === 0) throw new Error('the first hour has no lines');
  const [before, growth] = [await residentMB(server.pid), { mb: 0 }];
  const rate = async (work: () => Promise<number>): Promise<number> => {
    const began = performance.now();
    const count = await work();
    if (count !== lines) throw new Error(`${peer.name}: ${count} of ${lines} lines were exported`);
    return count / ((performance.now() - began) / 1000);
  };
  const seen = await interleaved(EXPORT_ROUNDS, {
    peer: () => rate(() => peer.export(range)),
    ours: () =>
      rate(async () => {
        const [count, mb] = await peakWhile(server.pid, () => exported(ours, path(range)));
        growth.mb = Math.max(growth.mb, mb - before);
        return count;
      }),
  });
  return [
    {
      ...atLeast(
        `logs, ${peer.name}: export of ${lines} lines in order`,
        median(seen.peer),
        median(seen.ours),
        EXPORT_SHARE,
        (value) => `${perSecond(value)} lines`,
      ),
      against: peer.name,
      shortfall:
        'store, server and client share the cores. On an Intel Xeon, a line of VictoriaLogs takes the server 5.5 µs: 1.5 for bounded parsing, 0.75 for TLS, 0.7 for encoding, 0.5 for garbage collection. The pages of OpenSearch have 128 KiB, so that memory stays bounded: twice the size gives 0.62 ×, and a growth of 106 MB',
    },
    {
      work: `logs, ${peer.name}: growth of memory during the export`,
      ours: `${growth.mb.toFixed(0)} MB`,
      goal: `< ${EXPORT_GROWTH_MB} MB`,
      met: growth.mb < EXPORT_GROWTH_MB,
      shortfall:
        'garbage before its collection, and freed buffers of connections; a minimal TLS server on Node grows by about 40 MB in its first export',
      note: `resident, from ${before.toFixed(0)} MB after the export of one hour`,
    },
  ];
}

async function exported(ours: Client, path: string): Promise<number> {
  const answer = await ours.open(path);
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`);
  const lines = await countLines(answer);
  if (answer.trailers['log-export-outcome'] !== 'complete') throw new Error('an export was not complete');
  return lines;
}
