// Benchmark: latency of get requests for a node during many concurrent log queries.
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { clientOf, type RequestsResult } from '../measuring/load-generator.ts';
import { alone, yielding } from '../measuring/machine.ts';
import { interleaved, median, sum } from '../measuring/statistics.ts';
import { LOGS, type LogScene, type LogSide } from '../scene/log-scene.ts';
import { OUR_NODES, type Scene } from '../scene/scene.ts';
import { milliseconds, type Row } from './row.ts';

const QUERIES = 200;
/** Number of rounds. The result is their median, because the p99 varies by a third from run to run. */
const ROUNDS = 3;
const RATIO = 2;

export async function busyRow(scene: Scene, side: LogSide, logs: LogScene): Promise<Row> {
  const { load, machine, options, direct } = scene;
  const { peer, server, store } = side;
  const job = {
    target: { ...direct, server: server.url },
    paths: [`${OUR_NODES}/${scene.nodeName(0)}`],
    connections: 4,
    seconds: options.seconds,
  };
  const gets = () => load.requests(job);
  // The store and the clients (this process) share the cores; the CPU time of the server must not include theirs.
  const others = [store.pid ?? 0, process.pid];
  const answered = new Map<string, number>();
  const { calm, busy, beside } = await alone(server.pid, others, machine, () =>
    yielding(others, machine, async () => {
      const seen = await interleaved(ROUNDS, {
        calm: gets,
        busy: () => duringQueries(scene, side, logs, answered, gets),
      });
      const perSecond = Math.max(1, answered.get('200') ?? 0) / sum(seen.busy.map(({ seconds }) => seconds));
      return { ...seen, beside: await duringStoreQueries(side, logs, perSecond, gets) };
    }),
  );
  const unexpected = [...answered.keys()].filter((status) => status !== '200' && status !== '429');
  const [before, during] = [p99Of(calm), p99Of(busy)];
  return {
    work: `logs, ${peer.name}: p99 of a get of one node during ${QUERIES} concurrent log queries`,
    against: 'the same without log queries',
    peer: milliseconds(before),
    ours: milliseconds(during),
    ratio: `${(during / before).toFixed(2)} ×`,
    goal: `≤ ${RATIO.toFixed(1)} ×, only 200 and 429`,
    met: during <= RATIO * before && unexpected.length === 0,
    shortfall:
      'the cause is the latency, or responses other than 200 and 429 (see the note). On two cores, slow queries of a store time out. A query takes one to two milliseconds of CPU, in time slices of tenths of a millisecond, and makes garbage collections longer; a concurrent get waits for one slice',
    note: `median of ${ROUNDS} alternating rounds; clients respect Retry-After; responses to the queries: ${[...answered].map(([status, times]) => `${times} × ${status}`).join(', ')}; with the same queries directly to the store: ${milliseconds(beside.latencyMs.p99)}`,
  };
}

function p99Of(rounds: readonly RequestsResult[]): number {
  return median(rounds.map(({ latencyMs }) => latencyMs.p99));
}

/** Runs `work` during the queries, and counts their responses by status. */
async function duringQueries(
  { direct }: Scene,
  { server }: LogSide,
  { range }: LogScene,
  answered: Map<string, number>,
  work: () => Promise<RequestsResult>,
): Promise<RequestsResult> {
  const client = await clientOf({ ...direct, server: server.url }, QUERIES);
  const path = (lane: number, turn: number) =>
    `${LOGS}?log_query=timeout&size=100&start_time=${range.start + ((lane * 31 + turn) % 3_600)}&end_time=${range.end}`;
  const ask = async (path: string): Promise<{ status: string; retryAfter: number }> => {
    const response = await client.open(path);
    await buffer(response);
    return {
      status: String(response.statusCode),
      retryAfter: Number(response.headers['retry-after'] ?? 0),
    };
  };
  const over = new AbortController();
  const open = Promise.withResolvers<void>();
  let unanswered = QUERIES;
  let isCounted = false;
  const lane = async (number: number): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn++) {
      const { status, retryAfter } = await ask(path(number, turn)).catch((error: unknown) => ({
        status: String(error),
        retryAfter: 1,
      }));
      if (isCounted) answered.set(status, (answered.get(status) ?? 0) + 1);
      if (turn === 0 && --unanswered === 0) open.resolve();
      await pause(retryAfter * 1000, over.signal);
    }
  };
  const lanes = Array.from({ length: QUERIES }, (_, number) => lane(number));
  try {
    // Connect before the measurement, so that it does not contain 200 TLS handshakes.
    await open.promise;
    isCounted = true;
    return await work();
  } finally {
    isCounted = false;
    over.abort();
    await Promise.all(lanes);
    client.close();
  }
}

/** Baseline: runs `work` while the same queries go to the store directly. */
async function duringStoreQueries(
  { peer }: LogSide,
  { range }: LogScene,
  perSecond: number,
  work: () => Promise<RequestsResult>,
): Promise<RequestsResult> {
  const over = new AbortController();
  const began = performance.now();
  const lanes = Array.from({ length: 8 }, async (_, lane) => {
    for (let turn = lane; !over.signal.aborted; turn += 8) {
      await pause(began + (turn / perSecond) * 1000 - performance.now(), over.signal);
      if (over.signal.aborted) break;
      await peer.query({ ...range, start: range.start + (turn % 3_600) }, 'web', 'timeout', 100);
    }
  });
  try {
    return await work();
  } finally {
    over.abort();
    await Promise.all(lanes);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => undefined);
}
