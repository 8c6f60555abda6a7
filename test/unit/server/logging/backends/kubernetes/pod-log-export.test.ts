// Tests of exports of pod logs.
import { expect } from 'chai';
import type { LogRecord } from '../../../../../../server/logging/store/log-store.ts';
import { refuse } from '../../../../../support/cluster/scripted-cluster.ts';
import { exported } from '../../../../../support/logging/exported.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { at, call, everything } from './instants.ts';
import { KubeletLog, type WrittenLine } from './kubelet-log.ts';
import { clusterForEachTest, type LogCluster } from './log-cluster.ts';

const textOf = ({ pod, log }: LogRecord): string => `${pod} ${log}`;

describe('exports of pod logs', () => {
  let cluster: LogCluster;
  clusterForEachTest((started) => (cluster = started));

  /** Writes interleaved lines of several pods, with bursts, gaps and equal times. Returns all of them in order. */
  function write(pods: number, lines: number): string[] {
    const all: (WrittenLine & { pod: string })[] = [];
    for (let pod = 0; pod < pods; pod++) {
      const name = `pod-${pod}`;
      const written = Array.from({ length: lines }, (_, n) => {
        const burst = n < lines / 2 ? Math.floor(n / 50) : 40_000 + Math.floor(n / 7) * 13 + pod;
        const nanoseconds = String(Math.floor((n % 50) / 3)).padStart(9, '0');
        return at(burst, `${n} ${'x'.repeat(n % 200)}`, nanoseconds);
      });
      written.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
      cluster.add('shop', name, written);
      all.push(...written.map((line) => ({ ...line, pod: name })));
    }
    all.sort((a, b) =>
      a.time < b.time ? -1 : a.time > b.time ? 1 : a.pod < b.pod ? -1 : a.pod > b.pod ? 1 : 0,
    );
    return all.map(({ pod, text }) => `${pod} ${text}`);
  }

  for (const order of ['asc', 'desc'] as const) {
    it(`merges more logs than are read at the same time, with memory for a fraction of the lines, ${order}`, async () => {
      const wanted = write(8, 700);
      if (order === 'desc') wanted.reverse();
      const store = cluster.store({ concurrentReads: 3, memory: 150_000 });
      const { records, shortfalls } = await exported(store.export(everything, order, call));
      expect(records.map(textOf)).to.deep.equal(wanted);
      expect(shortfalls).to.deep.equal([]);
      expect(cluster.mostReads).to.be.at.most(3);
    });

    it(`exports all lines of one instant, although the memory holds a part of them, ${order}`, async () => {
      const same = Array.from({ length: 1_000 }, (_, n) => at(7, `${n} ${'x'.repeat(100)}`, '000000001'));
      cluster.add('shop', 'a', same);
      cluster.add('shop', 'b', same);
      const store = cluster.store({ memory: 90_000 });
      const { records } = await exported(store.export(everything, order, call));
      expect(new Set(records.map(textOf)).size).to.equal(2_000);
      expect(records).to.have.length(2_000);
    });

    it(`sorts lines that were written while the clock was set back, ${order}`, async () => {
      cluster.add('shop', 'a', [at(10), at(11), at(5), at(6), at(20)]);
      const { records } = await exported(cluster.store().export(everything, order, call));
      const wanted = [5, 6, 10, 11, 20].map((second) => `line ${second}`);
      expect(records.map(({ log }) => log)).to.deep.equal(order === 'asc' ? wanted : wanted.toReversed());
    });
  }

  it('truncates lines above 1 MiB, and reports it once', async () => {
    cluster.add('shop', 'a', [at(1, 'y'.repeat(3 << 20)), at(2, 'after')]);
    const { records, shortfalls } = await exported(cluster.store().export(everything, 'asc', call));
    expect(records.map(({ log }) => log.length > 1_000_000)).to.deep.equal([true, false]);
    expect(shortfalls).to.deep.equal([
      { reason: 'Limit', message: 'lines longer than 1 MiB were truncated' },
    ]);
  });

  it('holds no log open while the client is slow', async () => {
    write(4, 500);
    const batches = cluster.store({ memory: 100_000 }).export(everything, 'asc', call);
    await batches.next();
    expect(cluster.openReads).to.equal(0);
    await batches.return({ shortfalls: [] });
  });

  it('ends without a gap and reports a timeout at the time limit', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const store = cluster.store();
    await exported(store.export(everything, 'asc', call));
    cluster.disturb = ({ searchParams }, response) =>
      !searchParams.has('limitBytes') && response.writeHead(200).write('\n');
    const { records, shortfalls } = await exported(
      store.export(everything, 'asc', { ...call, timeoutMs: 500 }),
    );
    expect(records).to.deep.equal([]);
    expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['Timeout']);
  });

  it('reports lines that are rotated away between two windows', async () => {
    const lines = Array.from({ length: 3_000 }, (_, n) => at(n, 'x'.repeat(100)));
    const log = cluster.add('shop', 'a', lines);
    const batches = cluster.store({ memory: 100_000 }).export(everything, 'asc', call);
    await batches.next();
    log.rotate();
    log.append(at(5_000));
    const { shortfalls } = await exported(batches);
    expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
  });

  for (const previous of [false, true]) {
    it(`reports that the log of a ${previous ? 'previous run' : 'terminated container'} is replaced between two windows`, async () => {
      const lines = Array.from({ length: 3_000 }, (_, n) => at(n, 'x'.repeat(100)));
      const [log, next] = [new KubeletLog(lines), new KubeletLog([at(5_000)])];
      if (previous) cluster.add('shop', 'a', [], { restarts: 1, previous: log, startedAt: at(4_000).time });
      else cluster.add('shop', 'a', lines, { state: 'terminated', startedAt: at(4_000).time });
      const batches = cluster.store({ memory: 100_000 }).export(everything, 'asc', call);
      await batches.next();
      cluster.put({
        namespace: 'shop',
        name: 'a',
        containers: [{ name: 'app', log: next, previous: next, restarts: 2, startedAt: at(5_000).time }],
      });
      const { shortfalls } = await exported(batches);
      expect(new Set(shortfalls.map(({ reason }) => reason))).to.deep.equal(new Set(['NotCovered']));
    });
  }

  it('exports the other logs when one is forbidden, and fails when all are forbidden', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.add('shop', 'b', [at(2)]);
    let forbidden = '/b/';
    cluster.disturb = ({ pathname }, response) =>
      pathname.includes(forbidden) && refuse(response, 403, 'Forbidden');
    const store = cluster.store();
    const { records, shortfalls } = await exported(store.export(everything, 'asc', call));
    expect(records.map(textOf)).to.deep.equal(['a line 1']);
    expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    forbidden = '/shop/';
    expect(await rejection(exported(store.export(everything, 'asc', call)))).to.include({ code: 503 });
  });
});
