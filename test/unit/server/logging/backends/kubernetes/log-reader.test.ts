// Tests of the reader of container logs.
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import pino from 'pino';
import { Slots } from '../../../../../../server/concurrency/slots.ts';
import { TimeSlicer } from '../../../../../../server/concurrency/time-slicer.ts';
import type { OnLine } from '../../../../../../server/logging/backends/kubernetes/line-reader.ts';
import {
  LogReader,
  type LogReaderOptions,
  type ReadRequest,
} from '../../../../../../server/logging/backends/kubernetes/log-reader.ts';
import { LogReadError } from '../../../../../../server/logging/backends/kubernetes/log-request.ts';
import { containerLog } from './container-log.ts';
import { at } from './instants.ts';
import { LogCluster } from './log-cluster.ts';

describe('the reader of container logs', () => {
  const { signal } = new AbortController();
  const onNode = containerLog('a', { node: 'n' });
  let cluster: LogCluster;
  let reader: LogReader;

  beforeEach(async () => {
    cluster = await new LogCluster().start();
    reader = newReader();
  });

  afterEach(() => cluster.stop());

  const newReader = (options: Partial<LogReaderOptions> = {}): LogReader =>
    new LogReader({
      client: cluster.connect(),
      log: pino({ enabled: false }),
      slots: new Slots(1),
      slicer: new TimeSlicer(),
      ...options,
    });
  const read = (request: Partial<ReadRequest>, onLine: OnLine = () => undefined, log = containerLog('a')) =>
    reader.read(log, { since: undefined, signal, ...request }, onLine);
  const kindOf = (reading: Promise<unknown>): Promise<unknown> =>
    reading.then(
      () => 'none',
      (error: unknown) => (error instanceof LogReadError ? error.kind : error),
    );

  it('reports the first line, the number of lines, and whether it stopped before the end', async () => {
    cluster.add('shop', 'a', [at(1), at(2), at(9)]);
    expect(await read({})).to.include({ first: at(1).time, last: at(9).time, lines: 3, hasPassed: false });
    const seen: string[] = [];
    const extent = await read({ until: () => at(4).time }, (_, text) => void seen.push(text));
    expect(extent).to.include({ first: at(1).time, lines: 2, hasPassed: true });
    expect(seen).to.deep.equal(['line 1', 'line 2']);
  });

  it('finds the time of the first line, also of a long one', async () => {
    const log = containerLog('a');
    cluster.add('shop', 'a', [at(1, 'x'.repeat(1_000)), at(3)]);
    expect(await reader.firstTime(log, signal)).to.equal(at(1).time);
  });

  it('passes the next line after the promise of the previous line resolves', async () => {
    cluster.add('shop', 'a', [at(1), at(2)]);
    const seen: string[] = [];
    await read({}, async (_, text) => {
      seen.push(`${text} begins`);
      await setImmediate();
      seen.push(`${text} ends`);
    });
    expect(seen).to.deep.equal(['line 1 begins', 'line 1 ends', 'line 2 begins', 'line 2 ends']);
  });

  for (const [which, onLine] of [
    ['thrown', () => expect.fail('by the sink')],
    ['rejected', () => setImmediate().then(() => expect.fail('by the sink'))],
  ] as const) {
    it(`fails with an error that is ${which} by the callback`, async () => {
      cluster.add('shop', 'a', [at(1), at(2)]);
      const failure: unknown = await read({}, onLine).catch((error: unknown) => error);
      expect(failure).to.include({ message: 'by the sink' });
    });
  }

  it('waits for room before it reads lines, and passes no line after the caller disconnects', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const seen: string[] = [];
    const onLine: OnLine = (_, text) => void seen.push(text);
    const [full, requested] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let checks = 0;
    const room = (): Promise<void> | undefined => {
      requested.resolve();
      return checks++ === 0 ? full.promise : undefined;
    };
    const reading = read({ room }, onLine);
    await requested.promise;
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    expect([checks, seen]).to.deep.equal([1, []]);
    full.resolve();
    await reading;
    expect([checks, seen]).to.deep.equal([2, ['line 1']]);
    const left = new AbortController();
    const leave = async (): Promise<void> => left.abort(new Error('left'));
    const failure = read({ room: leave, signal: left.signal }, onLine).catch((error: unknown) => error);
    expect(await failure).to.include({ message: 'left' });
    expect(seen).to.have.length(1);
  });

  it('retries a node at once after an interrupted response, and skips it after a timeout', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.disturb = (_, response) => {
      response.writeHead(200).write(`${at(1).time} line 1\n`, () => response.destroy());
      return true;
    };
    expect(await kindOf(read({}, undefined, onNode))).to.equal('failed');
    cluster.disturb = () => false;
    expect(await kindOf(read({}, undefined, onNode))).to.equal('none');
    const slots = new Slots(1);
    let now = 0;
    reader = newReader({ slots, idleMs: 50, now: () => now });
    cluster.disturb = (_, response) => {
      response.writeHead(200).write('\n');
      return true;
    };
    expect(await kindOf(read({}, undefined, onNode))).to.equal('silent');
    cluster.requests.length = 0;
    // Without waiting for a slot.
    using _taken = await slots.take(signal);
    expect(await kindOf(read({}, undefined, onNode))).to.equal('failed');
    expect(cluster.requests).to.deep.equal([]);
    now = 4_999;
    expect(await kindOf(read({}, undefined, onNode))).to.equal('failed');
    now = 5_000;
    _taken[Symbol.dispose]();
    expect(await kindOf(read({}, undefined, onNode))).to.equal('silent');
  });

  it('shares slots between callers round-robin', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const order: string[] = [];
    const readAs = async (caller: string): Promise<void> => {
      await reader.of(caller).read(containerLog('a'), { since: undefined, signal }, () => undefined);
      order.push(caller);
    };
    await Promise.all(['mallory', 'mallory', 'mallory', 'mallory', 'jane'].map(readAs));
    expect(order).to.deep.equal(['mallory', 'mallory', 'jane', 'mallory', 'mallory']);
  });

  it('yields to the event loop between lines when its time slice is used up', async () => {
    const lines = Array.from({ length: 30 }, (_, n) => at(n));
    cluster.add('shop', 'a', lines);
    reader = newReader({ slicer: new TimeSlicer(0) });
    let [rounds, isReading] = [0, true];
    const count = (): void => {
      rounds++;
      if (isReading) globalThis.setImmediate(count);
    };
    globalThis.setImmediate(count);
    const seen: { text: string; rounds: number }[] = [];
    await read({}, (_, text) => void seen.push({ text, rounds }));
    isReading = false;
    expect(seen.map(({ text }) => text)).to.deep.equal(lines.map(({ text }) => text));
    expect(new Set(seen.map((one) => one.rounds)).size).to.equal(30);
  });
});
