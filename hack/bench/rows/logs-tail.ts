// Benchmark: delay of new log lines in a live tail. The baseline is a client that reads directly from the log store.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../control-plane/client.ts';
import type { LogRecord } from '../../log-stores/record.ts';
import { median } from '../measuring/statistics.ts';
import { LOGS, type LogScene, type LogSide } from '../scene/log-scene.ts';
import { milliseconds, type Row } from './row.ts';

const LINES = 30;
const ADDED_MS = 100;
const LOST_MS = 10_000;

export async function tailRow(side: LogSide, { sample }: LogScene): Promise<Row> {
  const { peer, ours } = side;
  const over = new AbortController();
  const seen = { peer: new Map<string, number>(), ours: new Map<string, number>() };
  const namespace = sample.kubernetes.namespace_name;
  const following = [
    followOurs(ours, `${LOGS}?follow=true&namespaces=${namespace}`, seen.ours, over.signal),
    peer.follow(namespace, (text) => noteNew(seen.peer, text), over.signal),
  ];
  for (const each of following) each.catch(() => undefined);
  const written = new Map<string, number>();
  try {
    await Promise.race([delay(2_000), ...following.map((each) => each.then(ended))]);
    for (let number = 0; number < LINES; number++) {
      const log = `tail-${number}-${Date.now()}`;
      const line: LogRecord = { ...sample, log, time: now() };
      written.set(log, performance.now());
      await side.write([line]);
      // Vary the interval, so that it is not in phase with polling intervals.
      await delay(150 + ((number * 37) % 200));
    }
    const until = performance.now() + LOST_MS;
    const missing = () => [...written.keys()].some((log) => !seen.peer.has(log) || !seen.ours.has(log));
    while (missing() && performance.now() < until) await delay(20);
    if (missing()) throw new Error(`${peer.name}: a new line did not reach the live tail`);
  } finally {
    over.abort();
    await Promise.allSettled(following);
  }
  const delays = (arrived: Map<string, number>) =>
    median([...written].map(([log, at]) => (arrived.get(log) ?? Number.NaN) - at));
  const [theirs, own] = [delays(seen.peer), delays(seen.ours)];
  return {
    work: `logs, ${peer.name}: delay of a new line in a live tail`,
    against: peer.name,
    peer: milliseconds(theirs),
    ours: milliseconds(own),
    ratio: `${own - theirs < 0 ? '−' : '+'}${milliseconds(Math.abs(own - theirs))}`,
    goal: `≤ ${ADDED_MS} ms later`,
    met: own - theirs <= ADDED_MS,
    shortfall: 'OpenSearch is polled every 150 ms',
    note: `after the write to the store; median of ${LINES}. ${peer.followNote}`,
  };
}

function ended(): never {
  throw new Error('the live tail ended');
}

function now(): string {
  return new Date().toISOString().replace('Z', '000000Z');
}

function noteNew(seen: Map<string, number>, text: string): void {
  for (const [log] of text.matchAll(/tail-\d+-\d+/g)) if (!seen.has(log)) seen.set(log, performance.now());
}

async function followOurs(
  ours: Client,
  path: string,
  seen: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  const answer = await ours.open(path, { signal });
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`);
  for await (const chunk of answer) noteNew(seen, String(chunk));
}
