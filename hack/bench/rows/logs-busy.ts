// What many log queries at once do to each other, and to the rest of the server.
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestsResult } from '../measuring/load-generator.ts';
import { LogClient } from '../measuring/log-client.ts';
import { alone, yielding } from '../measuring/machine.ts';
import { interleaved, median, sum } from '../measuring/statistics.ts';
import { LOGS, type LogScene, type LogSide } from '../scene/log-scene.ts';
import { OUR_NODES, type Scene } from '../scene/scene.ts';
import { milliseconds, type Row } from './row.ts';

const QUERIES = 200;
/** A p99 differs by a third from one time to the next. */
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
  // The store and the callers, who are this process: what they take away from the server, or from who measures, on the
  // cores that all of them share is not the server's doing.
  const others = [store.pid ?? 0, process.pid];
  const answered = new Map<string, number>();
  const { calm, busy, beside } = await alone(server.pid, others, machine, () =>
    yielding(others, machine, async () => {
      const seen = await interleaved(ROUNDS, {
        calm: gets,
        busy: () => whileAsked(scene, side, logs, answered, gets),
      });
      const perSecond = Math.max(1, answered.get('200') ?? 0) / sum(seen.busy.map(({ seconds }) => seconds));
      return { ...seen, beside: await whileStoreIsAsked(side, logs, perSecond, gets) };
    }),
  );
  const unexpected = [...answered.keys()].filter((status) => status !== '200' && status !== '429');
  const [before, during] = [p99Of(calm), p99Of(busy)];
  return {
    work: `logs, ${peer.name}: p99 of getting one node while ${QUERIES} log queries are always open`,
    peer: milliseconds(before),
    ours: milliseconds(during),
    ratio: `${(during / before).toFixed(2)} ×`,
    goal: `≤ ${RATIO.toFixed(1)} ×, only 200 and 429`,
    met: during <= RATIO * before && unexpected.length === 0,
    shortfall:
      'either the time, or answers other than 200 and 429, which the note counts: on two cores a store that takes seconds for each of the queries runs out of time. Of the time, a query whose lines are there takes the one core one to two milliseconds, in pieces of some tenths, and makes collections of garbage longer; a get that comes meanwhile waits for a piece',
    note: `the middle one of ${ROUNDS} times, by turns; peer: the same while there are none; who is refused comes again when the answer says; answers to the queries: ${[...answered].map(([status, times]) => `${times} × ${status}`).join(', ')}; while the store is asked as often past us: ${milliseconds(beside.latencyMs.p99)}`,
  };
}

function p99Of(rounds: readonly RequestsResult[]): number {
  return median(rounds.map(({ latencyMs }) => latencyMs.p99));
}

/** Counts by status how often each was answered meanwhile. */
async function whileAsked(
  { direct }: Scene,
  { server }: LogSide,
  { range }: LogScene,
  answered: Map<string, number>,
  work: () => Promise<RequestsResult>,
): Promise<RequestsResult> {
  const client = await LogClient.secure(server.url, direct);
  const path = (lane: number, turn: number) =>
    `${LOGS}?log_query=timeout&size=100&start_time=${range.start + ((lane * 31 + turn) % 3_600)}&end_time=${range.end}`;
  const over = new AbortController();
  const open = Promise.withResolvers<void>();
  let unanswered = QUERIES;
  let isCounted = false;
  const lane = async (number: number): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn++) {
      const { status, retryAfter } = await client.ask(path(number, turn)).then(
        (answer) => ({ ...answer, status: String(answer.status) }),
        (error: unknown) => ({ status: String(error), retryAfter: 1 }),
      );
      if (isCounted) answered.set(status, (answered.get(status) ?? 0) + 1);
      if (turn === 0 && --unanswered === 0) open.resolve();
      await pause(retryAfter * 1000, over.signal);
    }
  };
  const lanes = Array.from({ length: QUERIES }, (_, number) => lane(number));
  try {
    // Their connections are made once: what 200 handshakes at one moment cost is not what queries do to others.
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

/** Tells what of it is the machine's doing, which has to do with the store too. */
async function whileStoreIsAsked(
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
