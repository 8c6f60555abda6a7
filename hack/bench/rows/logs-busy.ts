// What many log queries at once do to each other, and to the rest of the server.
import { setTimeout as delay } from 'node:timers/promises';
import { LogClient } from '../log-client.ts';
import { LOGS, type LogScene, type LogSide } from '../log-scene.ts';
import { alone, yielding } from '../machine.ts';
import { milliseconds, type Row } from '../row.ts';
import { OUR_NODES, type Scene } from '../scene.ts';

const QUERIES = 200;
const RATIO = 2;

export async function busyRow(
  scene: Scene,
  { peer, server, store }: LogSide,
  { range }: LogScene,
): Promise<Row> {
  const { load, machine, options, direct } = scene;
  const client = await LogClient.secure(server.url, direct);
  const job = {
    target: { ...direct, server: server.url },
    paths: [`${OUR_NODES}/${scene.nodeName(0)}`],
    connections: 4,
    seconds: options.seconds,
  };
  const statuses = new Map<string, number>();
  const path = (lane: number, turn: number) =>
    `${LOGS}?log_query=timeout&size=100&start_time=${range.start + ((lane * 31 + turn) % 3_600)}&end_time=${range.end}`;
  const over = new AbortController();
  const open = Promise.withResolvers<void>();
  let unanswered = QUERIES;
  const lane = async (number: number): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn++) {
      const { status, retryAfter } = await client.ask(path(number, turn)).then(
        (answer) => ({ ...answer, status: String(answer.status) }),
        (error: unknown) => ({ status: String(error), retryAfter: 1 }),
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (turn === 0 && --unanswered === 0) open.resolve();
      if (retryAfter > 0)
        await delay(retryAfter * 1000, undefined, { signal: over.signal }).catch(() => undefined);
    }
  };
  const measured = async () => {
    const before = await load.requests(job);
    const lanes = Array.from({ length: QUERIES }, (_, number) => lane(number));
    try {
      // Their connections are made once: what 200 handshakes at one moment cost is not what queries do to others.
      await open.promise;
      return [before, await load.requests(job)] as const;
    } finally {
      over.abort();
      await Promise.all(lanes);
    }
  };
  // The store and the callers, who are this process: what they take away from the server, or from who measures, on the
  // cores that all of them share is not the server's doing.
  const others = [store.pid ?? 0, process.pid];
  const [calm, busy] = await alone(server.pid, others, machine, () => yielding(others, machine, measured));
  client.close();
  const unexpected = [...statuses.keys()].filter((status) => status !== '200' && status !== '429');
  const [before, during] = [calm.latencyMs.p99, busy.latencyMs.p99];
  return {
    work: `logs, ${peer.name}: p99 of getting one node while ${QUERIES} log queries are always open`,
    peer: milliseconds(before),
    ours: milliseconds(during),
    ratio: `${(during / before).toFixed(2)} ×`,
    goal: `≤ ${RATIO.toFixed(1)} ×, only 200 and 429`,
    met: during <= RATIO * before && unexpected.length === 0,
    shortfall:
      'either the time, or answers other than 200 and 429, which the note counts: on two cores a store that takes seconds for each of the queries runs out of time',
    note: `peer: the same while there are none; who is refused comes again when the answer says; answers to the queries: ${[...statuses].map(([status, times]) => `${times} × ${status}`).join(', ')}`,
  };
}
