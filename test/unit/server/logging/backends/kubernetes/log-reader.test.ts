// Tests of the reader of container logs.
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

  it('tells a log that the kubelet has deleted from other errors of the kubelet', async () => {
    for (const [body, kind] of [
      ['unable to retrieve container logs for containerd://1', 'gone'],
      [`${at(1).time} unable to retrieve container logs for containerd://1\n`, 'none'],
      ['failed to create fsnotify watcher: too many open files', 'failed'],
    ] as const) {
      cluster.disturb = (_, response) => {
        response.writeHead(200).end(body);
        return true;
      };
      expect(await kindOf(read({}))).to.equal(kind);
    }
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
