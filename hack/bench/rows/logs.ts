// Log queries: each operation through us (TLS, authentication, authorization) beside the same question put to the store
// itself without any of these, by the same client.
import { countLines, type LogClient, memberOf } from '../measuring/log-client.ts';
import { peakWhile, residentMB } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import type { LogPeer, LogRange } from '../scene/log-peers.ts';
import { LOGS, type LogScene, type LogSide, withLogStores } from '../scene/log-scene.ts';
import type { Scene } from '../scene/scene.ts';
import { busyRow } from './logs-busy.ts';
import { tailRow } from './logs-tail.ts';
import { atLeast, atMost, milliseconds, perSecond, type Row } from './row.ts';

const ROUNDS = 101;
/** A server that has just started compiles while it answers; one in use, like a store in use, no longer does. */
const WARM_UPS = 400;
const EXPORT_ROUNDS = 5;
const NAMESPACE = 'web';
const WORD = 'timeout';
const SIZE = 100;
const RATIO = 1.15;
const EXPORT_SHARE = 0.7;
const EXPORT_GROWTH_MB = 50;

/** A few milliseconds matter much for short answers. */
const OVERHEAD =
  'the note tells what a program on Node costs that only hands the question on and writes the answer anew; ours adds authentication, the scope, the order of what was found, metrics and a log line to that, half a millisecond to two';

const IN_TURN = `${OVERHEAD}. VictoriaLogs is asked for the total first and for a short time that holds the page then, while the peer asks for both at once`;

export function logRows(scene: Scene): Promise<readonly Row[]> {
  return withLogStores(scene, async (logs) => {
    const rows: Row[] = [];
    // Printed at once: the whole takes long.
    const add = (...measured: readonly Row[]): void => {
      for (const { work, peer, ours, ratio } of measured)
        scene.progress([work, peer, ours, ratio].join(' | '));
      rows.push(...measured);
    };
    for (const side of logs.sides) {
      add(...(await questionRows(side, logs)));
      add(...(await exportRows(side, logs)));
      add(await tailRow(side, logs));
      add(await busyRow(scene, side, logs));
    }
    return rows;
  });
}

interface Question {
  readonly work: string;
  readonly direct: (peer: LogPeer, range: LogRange) => Promise<unknown>;
  readonly ours: (range: LogRange) => Promise<unknown>;
  readonly note?: string;
  readonly shortfall: string;
}

async function questionRows(side: LogSide, { range, lines }: LogScene): Promise<Row[]> {
  const { ours } = side;
  const ask = (range: LogRange, parameters: object) => ours.json(`${LOGS}?${query(range, parameters)}`);
  const total = async (range: LogRange, parameters: object) =>
    memberOf(await ask(range, parameters), 'query', 'total');
  const keyword = { namespaces: NAMESPACE, log_query: WORD, size: SIZE };
  const questions: readonly Question[] = [
    {
      work: `the newest ${SIZE} of ${lines} lines, and their total`,
      direct: (store, range) => store.newest(range, SIZE),
      ours: (range) => total(range, { size: SIZE }),
      shortfall: IN_TURN,
      note: 'OpenSearch: the peer asks for both at once, as one does; ours has the lines counted and the newest looked for by themselves, where they were the last time',
    },
    {
      work: `the newest ${SIZE} lines of a namespace with a word, and their total`,
      direct: (store, range) => store.query(range, NAMESPACE, WORD, SIZE),
      ours: (range) => total(range, keyword),
      shortfall: IN_TURN,
      note: 'our words are those of UAX #29 in both stores; the store is asked by its own notion of words',
    },
    {
      work: `statistics of ${lines} lines`,
      direct: (store, range) => store.statistics(range),
      ours: async (range) => {
        const answer = memberOf(await ask(range, { operation: 'statistics' }), 'statistics');
        return [memberOf(answer, 'logs'), memberOf(answer, 'containers')];
      },
      shortfall: OVERHEAD,
      note: 'OpenSearch: the peer has it count different containers, as one does; ours has it list them where they were few the last time',
    },
    {
      work: `histogram of ${lines} lines by 15 minutes`,
      direct: (store, range) => store.histogram(range),
      ours: async (range) =>
        memberOf(await ask(range, { operation: 'histogram', interval: '15m' }), 'histogram', 'total'),
      shortfall: OVERHEAD,
    },
  ];
  const rows: Row[] = [];
  for (const question of questions) rows.push(await questionRow(side, question, range));
  return rows;
}

/** Each time another range, for each side: nothing that a store keeps of one question helps or hinders the next. */
async function questionRow(
  { peer, fronted }: LogSide,
  { work, note, shortfall, direct, ours }: Question,
  whole: LogRange,
): Promise<Row> {
  const peers = (range: LogRange) => direct(peer, range);
  await same(work, { peers, ours }, whole);
  let asked = 0;
  const side = (ask: (range: LogRange) => Promise<unknown>) => async (): Promise<number> => {
    const range = { ...whole, start: whole.start + asked++ };
    const began = performance.now();
    await ask(range);
    return performance.now() - began;
  };
  const timed = { peer: side(peers), front: side((range) => direct(fronted, range)), ours: side(ours) };
  await interleaved(WARM_UPS, timed);
  const seen = await interleaved(ROUNDS, timed);
  const row = atMost(
    `logs, ${peer.name}: ${work}`,
    median(seen.peer),
    median(seen.ours),
    RATIO,
    milliseconds,
  );
  const front = median(seen.front);
  const least = `through a program on Node that only takes it over TLS, hands it on, reads the answer and writes it anew: ${milliseconds(front)}, ${(front / median(seen.peer)).toFixed(2)} ×`;
  return { ...row, shortfall, note: note === undefined ? least : `${note}; ${least}` };
}

/** Times of different answers cannot be compared. One of the stores only estimates containers. */
async function same(
  work: string,
  { peers, ours }: Readonly<Record<'peers' | 'ours', (range: LogRange) => Promise<unknown>>>,
  range: LogRange,
): Promise<void> {
  const [expected, answered] = [await peers(range), await ours(range)].map((answer) =>
    JSON.stringify(Array.isArray(answer) ? answer[0] : answer),
  );
  if (expected !== answered) throw new Error(`${work}: the store says ${expected}, we say ${answered}`);
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
  // The first one: the lines end before the range does.
  const hour = { start: range.start, end: range.start + 3_600 };
  if ((await exported(ours, path(hour))) === 0) throw new Error('there is nothing in the first hour');
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
      shortfall:
        'the store, ours and the client share the cores: for a million lines of VictoriaLogs 2.2 s, 1.2 s and 0.6 s of CPU, beside 1.7 s and 0.6 s directly; of ours, about 0.7 s is what a TLS server of Node needs that only hands the answer on, the rest is a look at each line and the order of those of one time',
    },
    {
      work: `logs, ${peer.name}: growth of memory during the export`,
      ours: `${growth.mb.toFixed(0)} MB`,
      goal: `< ${EXPORT_GROWTH_MB} MB`,
      met: growth.mb < EXPORT_GROWTH_MB,
      shortfall:
        'the heap up to its next collection, and buffers of connections that were freed; a TLS server of Node that only hands an answer on grows by about 40 MB in its first export, ours holds one or two megabytes of lines',
      note: `resident, from ${before.toFixed(0)} MB after the export of one hour`,
    },
  ];
}

async function exported(ours: LogClient, path: string): Promise<number> {
  const answer = await ours.open(path);
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`);
  const lines = await countLines(answer);
  if (answer.trailers['log-export-outcome'] !== 'complete') throw new Error('an export was not complete');
  return lines;
}
