// Tests of the scan of container logs.
import { expect } from 'chai';
import { Slots } from '../../../../../../server/concurrency/slots.ts';
import { TimeSlicer } from '../../../../../../server/concurrency/time-slicer.ts';
import type { ContainerLog } from '../../../../../../server/logging/backends/kubernetes/container-log.ts';
import { LogReader } from '../../../../../../server/logging/backends/kubernetes/log-reader.ts';
import {
  LogScan,
  type LogScanOptions,
  type SinkFor,
} from '../../../../../../server/logging/backends/kubernetes/log-scan.ts';
import { Shortfalls } from '../../../../../../server/logging/backends/kubernetes/shortfalls.ts';
import { containerLog } from './container-log.ts';
import { at, call, everything } from './instants.ts';
import { LogCluster } from './log-cluster.ts';

/** The log of a container that started with the day. */
const logOf = (pod: string): ContainerLog =>
  containerLog(pod, { run: { id: pod, startedAt: Date.UTC(2026, 0, 1) } });

describe('a scan of container logs', () => {
  let cluster: LogCluster;
  let reader: LogReader;
  let shortfalls: Shortfalls;
  let seen: string[];
  /** Logged failures. */
  let failures: string[];

  beforeEach(async () => {
    cluster = await new LogCluster().start();
    reader = new LogReader({
      client: cluster.connect(),
      log: { debug: ({ pod, kind }: { pod: string; kind: string }) => failures.push(`${pod} ${kind}`) },
      slots: new Slots(100),
      slicer: new TimeSlicer(),
    });
    shortfalls = new Shortfalls({ count: 0, names: [] });
    seen = [];
    failures = [];
  });

  afterEach(() => cluster.stop());

  const collect: SinkFor = () => ({ onLine: (_time, text) => seen.push(text) });
  const scan = (logs: readonly ContainerLog[], options: Partial<LogScanOptions> = {}): LogScan =>
    new LogScan({
      reader,
      logs,
      pods: { get: () => undefined },
      beginOf: () => everything.range.start,
      end: everything.range.end,
      filter: () => true,
      bytesPerLog: 1 << 20,
      concurrency: 4,
      deadline: new AbortController().signal,
      signal: call.signal,
      shortfalls,
      ...options,
    });
  const messages = (): string[] => shortfalls.list().map(({ message }) => message);

  it('reads the start and the end of a log above bytesPerLog, without duplicates', async () => {
    const lines = Array.from({ length: 100 }, (_, n) => at(n, String(n).padStart(69, ' ')));
    const read = async (count: number, bytesPerLog: number): Promise<number[]> => {
      cluster.add('shop', 'a', lines.slice(0, count));
      seen = [];
      await scan([logOf('a')], { bytesPerLog }).readAll(collect);
      return seen.map(Number);
    };
    // Of 20 lines, 18 are read from the end.
    const numbers = (from: number, to: number) => lines.map((_, n) => n).slice(from, to);
    expect(await read(100, 20 * 101)).to.deep.equal([...numbers(0, 20), ...numbers(82, 100)]);
    expect(await read(30, 20 * 101)).to.deep.equal(numbers(0, 30));
    expect(messages()).to.deep.equal([
      '1 log too long: only the oldest and the newest lines were read: shop/a/app',
    ]);
  });

  describe('reports deleted lines', () => {
    const begin = at(3600).time;
    /** `startedAt` and `first` in seconds of the day. */
    const reported = async (
      startedAt: number | undefined,
      first: number | undefined,
      predecessors = false,
    ): Promise<string | undefined> => {
      cluster.add('shop', 'a', first === undefined ? [] : [at(first)]);
      shortfalls = new Shortfalls({ count: 0, names: [] });
      const run = {
        id: 'x',
        startedAt: startedAt === undefined ? undefined : Date.parse(at(startedAt).time),
      };
      await scan([containerLog('a', { run, predecessors })], { beginOf: () => begin }).readAll(collect);
      const [, cause, kept] = /(rotated|earlier restarts).*\((\S+)\)/.exec(messages().join()) ?? [];
      return cause && `${cause} ${kept}`;
    };

    it('if the first line is much later than the start of the range and of the container', async () => {
      expect(await reported(0, 3602)).to.equal(`rotated ${at(3602).time}`);
      expect(await reported(4000, 4061)).to.equal(`rotated ${at(4061).time}`);
      expect(await reported(0, 3601)).to.equal(undefined);
      expect(await reported(4000, 4060)).to.equal(undefined);
      expect(await reported(0, undefined)).to.equal(undefined);
      expect(await reported(undefined, 7200)).to.equal(undefined);
    });

    it('if earlier runs than the previous one were within the range', async () => {
      expect(await reported(4000, 4001, true)).to.equal(`earlier restarts ${at(4000).time}`);
      expect(await reported(4000, undefined, true)).to.equal(`earlier restarts ${at(4000).time}`);
      expect(await reported(3600, 3600, true)).to.equal(undefined);
    });
  });

  it('combines logs with the same shortfall, sorts by reason, and lists at most five logs', () => {
    shortfalls = new Shortfalls({ count: 9, names: ['f', 'e', 'd', 'c', 'b'] });
    for (const pod of ['z', 'y', 'y']) shortfalls.addLog('NotCovered', 'not read', logOf(pod));
    shortfalls.addLog('NotCovered', 'rotated', logOf('r'), ' (now)');
    for (let n = 0; n < 2; n++) shortfalls.add('Limit', 'truncated');
    for (const unread of [2, 1, 0]) shortfalls.timedOut(unread);
    expect(shortfalls.list()).to.deep.equal([
      { reason: 'Timeout', message: 'the time limit ended before 1 log was read to the end' },
      {
        reason: 'Limit',
        message:
          '9 logs not read, because one query reads no more containers; select fewer: b, c, d, e, f and 4 more',
      },
      { reason: 'Limit', message: 'truncated' },
      { reason: 'NotCovered', message: '2 logs not read: shop/y/app, shop/z/app' },
      { reason: 'NotCovered', message: '1 log rotated: shop/r/app (now)' },
    ]);
  });
});
