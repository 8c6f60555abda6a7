// Tests of the reader of container logs.
import { expect } from 'chai';
import pino from 'pino';
import { Seats } from '../../../../../../server/admission/seats.ts';
import { TimeSlicer } from '../../../../../../server/concurrency/time-slicer.ts';
import type { OnLine } from '../../../../../../server/logging/backends/kubernetes/line-reader.ts';
import {
  LogReader,
  type LogReaderOptions,
} from '../../../../../../server/logging/backends/kubernetes/log-reader.ts';
import { LogReadError } from '../../../../../../server/logging/backends/kubernetes/log-request.ts';
import { status } from '../../../../../support/cluster/scripted-cluster.ts';
import { WorkPerTurn } from '../../../../../support/work-per-turn.ts';
import { at, containerLog } from './instants.ts';
import { clusterForEachTest, type LogCluster } from './log-cluster.ts';

const oneSeat = (): Seats =>
  new Seats({ capacity: 1, sharing: 'queue', refusal: () => new Error('refused') });

describe('the reader of container logs', () => {
  const { signal } = new AbortController();
  const log = containerLog('a', 'n');
  let cluster: LogCluster;
  clusterForEachTest((started) => (cluster = started));

  const newReader = (options: Partial<LogReaderOptions> = {}): LogReader =>
    new LogReader({
      client: cluster.connect(),
      log: pino({ enabled: false }),
      seats: oneSeat(),
      slicer: new TimeSlicer(),
      ...options,
    });
  const read = (reader: LogReader, onLine: OnLine = () => undefined) =>
    reader.read(log, { since: undefined, signal }, onLine);
  const kindOf = (reader: LogReader, onLine?: OnLine): Promise<unknown> =>
    read(reader, onLine).then(
      () => 'none',
      (error: unknown) => (error instanceof LogReadError ? error.kind : error),
    );

  it('classifies errors of the kubelet', async () => {
    for (const [code, message, kind] of [
      [204, '', 'empty'],
      [400, 'container "app" in pod "a" is waiting to start: ContainerCreating', 'empty'],
      [400, 'previous terminated container "app" in pod "a" not found', 'empty'],
      [400, 'unable to retrieve container logs for containerd://1', 'gone'],
      [401, 'Unauthorized', 'forbidden'],
      [403, 'pods "a" is forbidden', 'forbidden'],
      [404, 'pods "a" is deleted', 'gone'],
      [500, 'internal error', 'failed'],
      // Errors that the kubelet writes into the body, unlike lines, have no time.
      [200, 'unable to retrieve container logs for containerd://1', 'gone'],
      [200, `${at(1).time} unable to retrieve container logs for containerd://1\n`, 'none'],
      [200, 'failed to create fsnotify watcher: too many open files', 'failed'],
    ] as const) {
      const body = code < 300 ? message : status(code, 'Reason', message);
      cluster.disturb = (_, response) => response.writeHead(code).end(body);
      expect(await kindOf(newReader()), message).to.equal(kind);
    }
  });

  it('retries a node at once after an interrupted response, and skips it after a timeout', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const seats = oneSeat();
    let now = 1;
    const reader = newReader({ seats, idleMs: 1_000, now: () => now });
    cluster.disturb = (_, response) =>
      response.writeHead(200).write(`${at(1).time} line 1\n`, () => response.destroy());
    expect(await kindOf(reader)).to.equal('failed');
    cluster.disturb = (_, response) => response.writeHead(200).write('\n');
    expect(await kindOf(reader)).to.equal('silent');
    cluster.requests.length = 0;
    // Without waiting for a slot.
    using _taken = await seats.take('', { signal });
    expect(await kindOf(reader)).to.equal('failed');
    now = 4_999;
    expect(await kindOf(reader)).to.equal('failed');
    expect(cluster.requests).to.deep.equal([]);
    now = 5_002;
    _taken[Symbol.dispose]();
    expect(await kindOf(reader)).to.equal('silent');
  });

  it('treats a response below 16 KB/s as a timeout, however long it lasts', async () => {
    // Each chunk takes two seconds of this clock.
    let now = 1;
    const reader = newReader({ now: () => (now += 1_000) });
    const lines: string[] = [];
    for (const [length, kind] of [
      [10, 'silent'],
      [40_000, 'none'],
    ] as const) {
      const text = 'x'.repeat(length);
      lines.length = 0;
      let write = (): void => undefined;
      cluster.disturb = (_, response) => {
        response.writeHead(200);
        write = () => void (lines.length < 50 ? response.write(`${at(1).time} ${text}\n`) : response.end());
        write();
      };
      const onLine: OnLine = (_, line) => {
        lines.push(line);
        write();
      };
      expect(await kindOf(reader, onLine)).to.equal(kind);
      expect(lines.length < 50).to.equal(kind === 'silent');
      now += 10_000;
    }
  });

  it('accepts an incomplete last line that is later than the end of the reading when it is read again', async () => {
    cluster.add('shop', 'a', [at(1), { ...at(9, 'password: '), partial: true }]);
    let end = at(20).time;
    cluster.disturb = () => {
      if (cluster.requests.length > 1) end = at(2).time;
      return false;
    };
    const lines: string[] = [];
    const request = { since: undefined, until: () => end, signal };
    await newReader().read(log, request, (_, text) => void lines.push(text));
    expect(lines).to.deep.equal(['line 1']);
  });

  it('yields to the event loop between lines when its time slice is used up', async () => {
    const lines = Array.from({ length: 30 }, (_, n) => at(n));
    cluster.add('shop', 'a', lines);
    const work = new WorkPerTurn();
    const seen: string[] = [];
    await read(newReader({ slicer: new TimeSlicer(0) }), (_, text) => {
      work.note();
      seen.push(text);
    });
    expect(seen).to.deep.equal(lines.map(({ text }) => text));
    expect(work.most).to.equal(1);
  });
});
