import { expect } from 'chai';
import type { Coverage, LogRecord, Order, Selection } from '../../../../../../../server/logging/log-store.ts';
import { refuse } from '../../../../../../support/cluster/scripted-cluster.ts';
import { until } from '../../../../../../support/until.ts';
import { at, call, everything } from '../instants.ts';
import { KubeletLog, type WrittenLine } from '../kubelet-log.ts';
import { LogCluster } from '../log-cluster.ts';

type Batches = AsyncGenerator<readonly LogRecord[], Coverage, undefined>;

async function drained(batches: Batches): Promise<{ records: LogRecord[]; coverage: Coverage }> {
  const records: LogRecord[] = [];
  for (;;) {
    const next = await batches.next();
    if (next.done) return { records, coverage: next.value };
    records.push(...next.value);
  }
}

const textOf = ({ pod, log }: LogRecord): string => `${pod} ${log}`;

describe('an export out of pod logs', () => {
  let cluster: LogCluster;

  beforeEach(async () => {
    cluster = await new LogCluster().start();
  });

  afterEach(() => cluster.stop());

  /** Lines of several pods, interleaved, in bursts and with gaps, some of equal times; all of them in order. */
  function write(pods: number, lines: number): string[] {
    const all: (WrittenLine & { pod: string })[] = [];
    for (let pod = 0; pod < pods; pod++) {
      const name = `pod-${pod}`;
      const written = Array.from({ length: lines }, (_, n) => {
        const burst = n < lines / 2 ? Math.floor(n / 50) : 40_000 + Math.floor(n / 7) * 13 + pod;
        const nanoseconds = String(Math.floor((n % 50) / 3)).padStart(9, '0');
        return at(burst, `${n} ${'x'.repeat(n % 200)}`, nanoseconds);
      });
      // As a program writes them: in the order of time.
      written.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
      cluster.add('shop', name, written);
      all.push(...written.map((line) => ({ ...line, pod: name })));
    }
    all.sort((a, b) =>
      a.time < b.time ? -1 : a.time > b.time ? 1 : a.pod < b.pod ? -1 : a.pod > b.pod ? 1 : 0,
    );
    return all.map(({ pod, text }) => `${pod} ${text}`);
  }

  for (const order of ['asc', 'desc'] as const satisfies Order[]) {
    it(`gives all lines of more logs than may be read at a time in one order, in a fraction of the memory, ${order}`, async () => {
      const wanted = write(8, 700);
      if (order === 'desc') wanted.reverse();
      const store = cluster.store({ concurrentReads: 3, memory: 150_000 });
      const { records, coverage } = await drained(store.export(everything, order, call));
      expect(records).to.have.length(wanted.length);
      const different = wanted.findIndex((text, index) => text !== textOf(records[index] as LogRecord));
      expect(different).to.equal(-1);
      expect(coverage.shortfalls).to.deep.equal([]);
      expect(cluster.mostReads).to.be.at.most(3);
    });

    it(`gives as many lines of one instant as there are, whatever fits into the memory, ${order}`, async () => {
      const same = Array.from({ length: 1_000 }, (_, n) => at(7, `${n} ${'x'.repeat(100)}`, '000000001'));
      cluster.add('shop', 'a', same);
      cluster.add('shop', 'b', same);
      const store = cluster.store({ memory: 90_000 });
      const { records } = await drained(store.export(everything, order, call));
      expect(new Set(records.map(textOf)).size).to.equal(2_000);
      expect(records).to.have.length(2_000);
    });
  }

  for (const order of ['asc', 'desc'] as const) {
    it(`gives lines in order although a clock was set back, ${order}`, async () => {
      const written = [at(10), at(11), at(5), at(6), at(20)];
      cluster.add('shop', 'a', written);
      const { records } = await drained(cluster.store().export(everything, order, call));
      const wanted = [5, 6, 10, 11, 20].map((second) => `line ${second}`);
      expect(records.map(({ log }) => log)).to.deep.equal(order === 'asc' ? wanted : wanted.toReversed());
    });
  }

  it('hands out a few hundred lines at a time, and fewer of long ones', async () => {
    cluster.add(
      'shop',
      'a',
      Array.from({ length: 600 }, (_, n) => at(n)),
    );
    cluster.add(
      'shop',
      'long',
      Array.from({ length: 12 }, (_, n) => at(n, 'x'.repeat(400_000))),
    );
    const store = cluster.store({ memory: 64 << 20 });
    for (const [pod, longest] of [
      ['a', 250],
      ['long', 3],
    ] as const) {
      const batches = store.export({ ...everything, pods: { exact: [pod] } }, 'asc', call);
      const lengths: number[] = [];
      for await (const batch of batches) lengths.push(batch.length);
      expect(Math.max(...lengths), pod).to.equal(longest);
    }
  });

  it('cuts lines that are too long, and says so once', async () => {
    cluster.add('shop', 'a', [at(1, 'y'.repeat(3 << 20)), at(2, 'after')]);
    const { records, coverage } = await drained(cluster.store().export(everything, 'asc', call));
    expect(records.map(({ log }) => log.length > 1_000_000)).to.deep.equal([true, false]);
    expect(coverage.shortfalls).to.deep.equal([
      { reason: 'Limit', message: '1 line was too long, and was cut' },
    ]);
  });

  it('gives what the filters let through, and nothing else', async () => {
    cluster.add('shop', 'a', [at(1, 'level=error one'), at(2, 'level=info two'), at(3, 'level=error three')]);
    const selection: Selection = { ...everything, levels: ['error'] };
    const { records } = await drained(cluster.store().export(selection, 'asc', call));
    expect(records.map(({ log }) => log)).to.deep.equal(['level=error one', 'level=error three']);
  });

  it('holds no log open while the reader takes its time', async () => {
    write(4, 500);
    const batches = cluster.store({ memory: 100_000 }).export(everything, 'asc', call);
    await batches.next();
    // The first lines, and then a round that is handed out and one that is held.
    await until(() => cluster.asked.length >= 12 && cluster.openReads === 0);
    expect(cluster.asked).to.have.length(12);
    await batches.return({ shortfalls: [] });
  });

  it('stops reading when the reader leaves', async () => {
    write(4, 500);
    cluster.disturb = (_, response) => {
      // The second round, which is read ahead: behind the first lines and the first round.
      if (cluster.asked.length <= 8) return false;
      response.writeHead(200).write('\n');
      return true;
    };
    const batches = cluster.store({ memory: 100_000 }).export(everything, 'asc', call);
    await batches.next();
    await until(() => cluster.openReads > 0);
    await batches.return({ shortfalls: [] });
    await until(() => cluster.openReads === 0);
  });

  it('ends in order, and says so, when the time is up', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const store = cluster.store();
    await drained(store.export(everything, 'asc', call));
    cluster.disturb = (url, response) => {
      if (url.searchParams.has('limitBytes')) return false;
      response.writeHead(200).write('\n');
      return true;
    };
    const batches = store.export(everything, 'asc', { ...call, timeoutMs: 500 });
    const { records, coverage } = await drained(batches);
    expect(records).to.deep.equal([]);
    expect(coverage.shortfalls.map(({ reason }) => reason)).to.deep.equal(['Timeout']);
  });

  it('says that a kubelet had thrown away lines before it began', async () => {
    cluster.add('shop', 'a', [at(7200)], { startedAt: at(0).time });
    const { records, coverage } = await drained(cluster.store().export(everything, 'asc', call));
    expect(records.map(textOf)).to.deep.equal(['a line 7200']);
    expect(coverage.shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    expect(coverage.shortfalls[0]?.message).to.include('shop/a/app').and.to.include(at(7200).time);
  });

  it('says that a kubelet has thrown away lines between two rounds', async () => {
    const lines = Array.from({ length: 3_000 }, (_, n) => at(n, 'x'.repeat(100)));
    const log = cluster.add('shop', 'a', lines);
    const batches = cluster.store({ memory: 100_000 }).export(everything, 'asc', call);
    await batches.next();
    log.rotate();
    log.append(at(5_000));
    const { coverage } = await drained(batches);
    expect(coverage.shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
  });

  for (const previous of [false, true]) {
    it(`says that a ${previous ? 'run before' : 'container that had ended'} made room for the next run between two rounds`, async () => {
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
      const { coverage } = await drained(batches);
      expect(coverage.shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    });
  }

  it('has the server told which log could not be read, and why', async () => {
    for (const pod of ['a', 'b']) cluster.add('shop', pod, [at(1)]);
    cluster.disturb = ({ pathname }, response) => {
      if (pathname.includes('/b/')) refuse(response, 500, 'InternalError');
      return pathname.includes('/b/');
    };
    const told: unknown[] = [];
    const log = {
      debug: (what: unknown) => void told.push(what),
      info: () => undefined,
      warn: () => undefined,
    };
    await drained(cluster.store({}, { log }).export(everything, 'asc', call));
    expect(told.at(-1)).to.include({ namespace: 'shop', pod: 'b', container: 'app', kind: 'failed' });
  });

  it('has what the other logs have when one may not be read, and fails when none may', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.add('shop', 'b', [at(2)]);
    let refused = '/b/';
    cluster.disturb = ({ pathname }, response) => {
      if (!pathname.includes(refused)) return false;
      refuse(response, 403, 'Forbidden');
      return true;
    };
    const store = cluster.store();
    const { records, coverage } = await drained(store.export(everything, 'asc', call));
    expect(records.map(textOf)).to.deep.equal(['a line 1']);
    expect(coverage.shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    refused = '/shop/';
    const failure = await drained(store.export(everything, 'asc', call)).catch((error: unknown) => error);
    expect(failure).to.include({ name: 'StatusError', code: 503 });
  });
});
