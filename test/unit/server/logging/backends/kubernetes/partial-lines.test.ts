// Tests of lines that the container runtime writes in parts: entries with the tag `P` of the CRI log format.
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { KubernetesLogStore } from '../../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import type { PageRequest, Selection } from '../../../../../../server/logging/store/log-store.ts';
import { at, call, everything } from './instants.ts';
import { KubeletLog, type WrittenLine } from './kubelet-log.ts';
import { clusterForEachTest, type LogCluster } from './log-cluster.ts';
import { Tail } from './tail.ts';

const oldest: PageRequest = { order: 'asc', size: 100, from: 0 };
const part = (second: number, text: string, nanoseconds?: string): WrittenLine => ({
  ...at(second, text, nanoseconds),
  partial: true,
});
const since = (second: number): Selection => ({
  ...everything,
  range: { ...everything.range, start: at(second).time },
});

/** Texts before the text of a part: times that an application writes. */
const TIMES = [
  '',
  '',
  '2036-01-01T00:00:00Z ',
  '2026-01-01T00:00:07.5Z ',
  '2026-01-01T00:00:07+01:00 ',
] as const;

interface Line {
  readonly time: string;
  readonly text: string;
}

/** The lines of a log, sorted by time: a line has the time of its first part. */
function linesOf(entries: readonly WrittenLine[]): Line[] {
  const lines: Line[] = [];
  let open: Line | undefined;
  for (const { time, text, partial } of entries) {
    open = open ? { time: open.time, text: open.text + text } : { time, text };
    if (partial) continue;
    lines.push(open);
    open = undefined;
  }
  if (open) lines.push(open);
  return lines.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

describe('partial lines of pod logs', () => {
  let cluster: LogCluster;
  clusterForEachTest((started) => (cluster = started));

  const paged = async (
    store: KubernetesLogStore,
    selection: Selection,
    request: PageRequest,
  ): Promise<Line[]> => {
    const lines: Line[] = [];
    for (let after: string | undefined; ; ) {
      const page = await store.query(selection, { ...request, ...(after ? { after } : {}) }, call);
      expect(page.shortfalls).to.deep.equal([]);
      lines.push(...page.records.map(({ time, log }) => ({ time, text: log })));
      after = page.next;
      if (after === undefined) {
        expect(page.total).to.deep.equal({ count: lines.length, relation: 'eq' });
        return lines;
      }
    }
  };
  const exported = async (store: KubernetesLogStore, selection: Selection): Promise<Line[]> => {
    const lines: Line[] = [];
    const batches = store.export(selection, 'asc', call);
    for (;;) {
      const { done, value } = await batches.next();
      if (done) {
        expect(value.shortfalls).to.deep.equal([]);
        return lines;
      }
      lines.push(...value.map(({ time, log }) => ({ time, text: log })));
    }
  };
  /** Expects that each operation returns exactly these lines, and that no result is partial. */
  const expectLines = async (
    store: KubernetesLogStore,
    selection: Selection,
    expected: readonly Line[],
    size = 100,
  ): Promise<void> => {
    expect(await paged(store, selection, { ...oldest, size }), 'asc').to.deep.equal(expected);
    const newest = await paged(store, selection, { ...oldest, size, order: 'desc' });
    expect(newest.toReversed(), 'desc').to.deep.equal(expected);
    expect(await exported(store, selection), 'export').to.deep.equal(expected);
    const count = { count: expected.length, relation: 'eq' };
    const statistics = await store.statistics(selection, call);
    expect([statistics.logs, statistics.shortfalls]).to.deep.equal([count, []]);
    const edges = [selection.range.start, selection.range.end].map(Date.parse);
    const histogram = await store.histogram(selection, { edges }, call);
    expect([histogram.total, histogram.shortfalls]).to.deep.equal([count, []]);
  };

  /** The application writes its own time behind a part of a line that has no newline. */
  const ownTime = (time: string): readonly WrittenLine[] => [
    part(0, 'Loading ... '),
    at(12, `${time} started`),
    at(13),
    at(14),
  ];
  const LOGS: readonly (readonly [string, readonly WrittenLine[]])[] = [
    ['a line that starts before the range', [part(0, 'one '), at(12, 'two'), at(13, 'after')]],
    ['a prompt', [part(0, 'one '), at(12, 'two'), at(13, 'after'), part(14, 'password: ')]],
    ['only the end of a line', [part(0, 'one '), at(12, 'two')]],
    ['only the middle of a line', [part(0, 'one '), part(12, 'two '), part(13, 'three ')]],
    ['only a prompt', [part(12, 'password: ')]],
    ['an empty log', []],
    ['a progress bar', Array.from({ length: 40 }, (_, n) => part(n, `\r${n} %`))],
    ['parts of two streams', [part(11, 'out '), at(12, 'err'), at(13, 'more out')]],
    ['a line above 16 KiB', [part(11, 'x'.repeat(16_384)), part(12, 'y'.repeat(16_384)), at(13, 'z')]],
    ['text that looks like an error of the kubelet', [part(0, 'one, '), part(12, 'failed to read')]],
    ['the end of a line with a time of the application', ownTime('2026-01-01T00:00:12.345Z')],
    ['the end of a line with another time of the application', ownTime('2036-01-01T00:00:00Z')],
    [
      'the end of a line with a future time like those of the kubelet',
      ownTime('2036-01-01T00:00:00.123456789Z'),
    ],
    ['only the end of a line with a time of the application', ownTime('2026-01-01T00:00:12Z').slice(0, 2)],
    [
      'a last line out of order, before the end of a line',
      [part(0, 'one '), at(8, 'two'), at(7, 'three', '999000000')],
    ],
    [
      'the end of a line after a line out of order',
      [at(8, 'zero', '100000000'), part(7, 'one ', '900000000'), at(8, 'two', '300000000')],
    ],
    [
      'the end of a line with a time of the application after a line out of order',
      [
        at(8, 'zero', '100000000'),
        part(7, 'one ', '900000000'),
        at(8, '2026-01-01T00:00:13.5Z two', '300000000'),
      ],
    ],
    [
      'the open end of a line with a time of the application in the range',
      [part(0, 'Loading ... '), part(12, '2026-01-01T00:00:30.123456789Z started')],
    ],
    ['parts out of order', [part(10, 'one ', '200000000'), at(9, 'two', '300000000'), at(13, 'after')]],
  ];

  for (const [what, entries] of LOGS) {
    for (const state of ['running', 'terminated'] as const) {
      it(`leave no result partial: ${what}, ${state}`, async () => {
        cluster.add('shop', 'a', entries, { state, startedAt: at(0).time });
        const begin = at(10).time;
        const expected = linesOf(entries);
        await expectLines(cluster.store(), everything, expected);
        await expectLines(
          cluster.store(),
          since(10),
          expected.filter(({ time }) => time >= begin),
        );
      });
    }
  }

  it('are read the same by each operation, for any range and page size', async () => {
    const store = cluster.store();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(3_000), fc.nat(1_500), fc.boolean()), { maxLength: 12 }),
        // Only one entry has a time: two ends of lines in a row, both with a time, look like lines of a virtual kubelet.
        fc.tuple(fc.nat(11), fc.constantFrom(...TIMES)),
        fc.nat(30),
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom('running', 'terminated'),
        async (random, [timed, time], start, size, state) => {
          let clock = 0;
          /** The time of the line that is not complete. The parts of one line are in order. */
          let open = 0;
          const entries = random.map(([step, disorder, partial], n): WrittenLine => {
            clock += step;
            const ms = Math.max(open, clock - disorder);
            open = partial ? ms : 0;
            const nanoseconds = `${String(ms % 1000).padStart(3, '0')}000${String(n).padStart(3, '0')}`;
            const text = `${n === timed ? time : ''}<${n}>`;
            return { ...at(Math.floor(ms / 1000), text, nanoseconds), partial };
          });
          cluster.add('shop', 'a', entries, { state, startedAt: at(0).time });
          const begin = at(start).time;
          const expected = linesOf(entries).filter(({ time }) => time >= begin);
          await expectLines(store, since(start), expected, size);
        },
      ),
      { numRuns: 200 },
    );
  }).timeout(60_000);

  it('that grow while they are read are returned as they are', async () => {
    const log = cluster.add('shop', 'a', [part(0, 'began '), at(12, 'bar'), part(14, '1 %')]);
    let percent = 1;
    cluster.disturb = () => {
      if (percent < 3) log.append(part(15, `\r${++percent} %`));
      return false;
    };
    const page = await cluster.store().query(since(10), oldest, call);
    expect(page.shortfalls).to.deep.equal([]);
    expect(page.records.map((record) => record.log)).to.deep.equal(['1 %\r2 %\r3 %']);
  });

  it('that always grow faster than they are read are no failure of the kubelet', async () => {
    const bar = [part(15, '\r50 %')];
    for (const [start, added] of [
      [[part(12, 'bar')], bar],
      // The part after the start of the range has no time.
      [[part(0, 'bar')], bar],
      // A buffer that the application flushes within lines.
      [[part(14, 'ha')], [at(15, 'lf'), at(15), part(15, 'ha')]],
    ] as const) {
      const log = cluster.add('shop', 'a', start, { startedAt: at(0).time });
      cluster.disturb = () => {
        log.append(...added);
        return false;
      };
      const before = cluster.requests.length;
      const { total, shortfalls } = await cluster.store().query(since(10), oldest, call);
      expect([total.relation, shortfalls]).to.deep.equal(['eq', []]);
      expect(cluster.requests.length - before).to.be.at.most(6);
    }
  });

  it('that end while they are read are returned with the lines after them', async () => {
    const log = cluster.add('shop', 'a', [at(12), part(13, 'password: ')]);
    cluster.disturb = () => {
      if (cluster.requests.length === 2) log.append(at(14, 'secret'), at(15));
      return false;
    };
    const page = await cluster.store().query(everything, oldest, call);
    expect(page.shortfalls).to.deep.equal([]);
    expect(page.records.map((record) => record.log)).to.deep.equal([
      'line 12',
      'password: secret',
      'line 15',
    ]);
  });

  for (const state of ['running', 'terminated'] as const) {
    it(`are distinguished from a response that the kubelet breaks off, ${state}`, async () => {
      cluster.add('shop', 'a', [at(12), at(13), at(14), at(15)], { state, startedAt: at(0).time });
      const text = [12, 13, 14, 15].map((n) => `${at(n).time} line ${n}\n`).join('');
      const cuts = [50, 90, 130, 140];
      cluster.disturb = (_, response) => response.writeHead(200).end(text.slice(0, cuts.shift() ?? 20));
      const broken = await cluster.store().query(since(10), oldest, call);
      expect(broken.shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
      expect(broken.total.relation).to.equal('gte');
      let requests = 0;
      cluster.disturb = (_, response) => requests++ === 0 && response.writeHead(200).end(text.slice(0, 75));
      const resumed = await cluster.store().query(since(10), oldest, call);
      expect(resumed.shortfalls).to.deep.equal([]);
      expect(resumed.records).to.have.length(4);
    });
  }

  it('are distinguished from error messages of the kubelet', async () => {
    cluster.add('shop', 'a', [at(12)]);
    for (const body of [
      'failed to create fsnotify watcher: too many open files',
      'unable to retrieve container logs for containerd://1',
      '<html>\n</html>\n',
      `${at(12).time} line 12\nfailed to read log file`,
    ]) {
      cluster.disturb = ({ searchParams }, response) =>
        !searchParams.has('tailLines') && response.writeHead(200).end(body);
      const { shortfalls } = await cluster.store().query(since(10), oldest, call);
      expect(
        shortfalls.map(({ reason }) => reason),
        body,
      ).to.deep.equal(['NotCovered']);
    }
  });

  it('are distinguished from error messages of the kubelet behind them', async () => {
    const entries = [part(0, 'one '), at(12, 'two')];
    for (const state of ['running', 'terminated'] as const) {
      cluster.add('shop', 'a', entries, { state, startedAt: at(0).time });
      cluster.disturb = ({ searchParams }, response) =>
        searchParams.has('sinceTime') && response.writeHead(200).end('two\nfailed to read log file');
      const { shortfalls } = await cluster.store().query(since(10), oldest, call);
      expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    }
  });

  it('above 1 MiB that start before the range are not in the range', async () => {
    const long = Array.from({ length: 80 }, () => part(12, 'x'.repeat(16_384)));
    for (const state of ['running', 'terminated'] as const) {
      for (const rest of [[], [at(13, 'end'), at(14, 'after')]]) {
        cluster.add('shop', 'a', [part(0, 'begin '), ...long, ...rest], { state, startedAt: at(0).time });
        const after = rest.slice(1).map(({ time, text }) => ({ time, text }));
        await expectLines(cluster.store({ bytesPerContainer: 4 << 20 }), since(10), after);
      }
    }
  });

  it('are distinguished from lines with a time in another format than that of the kubelet', async () => {
    for (const [texts, lastEntry] of [
      [['2026-01-01T00:00:12.5Z one', '2026-01-01T00:00:13Z two', ''], ''],
      [['2026-01-01T00:00:12.5Z one', ''], '2026-01-01T00:00:12.5Z one\n'],
      [['2026-01-01T00:00:12.5Z one'], '2026-01-01T00:00:12.5Z one'],
    ] as const) {
      cluster.add('shop', 'a', [], { startedAt: at(0).time });
      cluster.disturb = ({ searchParams }, response) =>
        response.writeHead(200).end(searchParams.has('tailLines') ? lastEntry : texts.join('\n'));
      const { records, shortfalls } = await cluster.store().query(since(10), oldest, call);
      expect(shortfalls).to.deep.equal([]);
      expect(records.map(({ log }) => log)).to.deep.equal(
        ['one', 'two'].slice(0, Math.max(1, texts.length - 1)),
      );
    }
  });

  it('are never returned from the middle of a log above bytesPerContainer', async () => {
    const entries = Array.from({ length: 400 }, (_, n) =>
      n % 10 === 9 ? at(10 + n, `${n}`) : part(10 + n, `${n} `),
    );
    cluster.add('shop', 'a', entries, { startedAt: at(0).time });
    const whole = linesOf(entries).map(({ text }) => text);
    for (const bytesPerContainer of [10, 64, 65, 70, 90, 100, 333, 500, 1000]) {
      const page = await cluster.store({ bytesPerContainer }).query(since(15), oldest, call);
      expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['Limit']);
      const texts = page.records.map(({ log }) => log);
      expect(new Set(texts).size).to.equal(texts.length);
      if (bytesPerContainer >= 90) expect(whole).to.include.members(texts);
    }
  });

  it('are delivered by a live tail when they are complete, or when the container ends', async () => {
    const log = cluster.add('shop', 'a', [part(0, 'began '), at(12, 'before'), at(13)]);
    const tail = new Tail(cluster.store({}, { followTuning: { initialBackoffMs: 5 } }), since(10));
    await tail.until('line 13');
    log.append(part(14, 'pass'));
    log.append(part(15, 'word: '));
    log.cut();
    log.append(at(16, 'secret'), at(17), part(18, 'last '), part(19, 'words'));
    await tail.until('line 17');
    log.end();
    cluster.add('shop', 'a', [at(30)], { restarts: 1, previous: log, startedAt: at(29).time });
    const seen = await tail.until('line 30');
    expect(seen).to.deep.equal(['line 13', 'password: secret', 'line 17', 'last words', 'line 30']);
    await tail.end();
  });

  it('that start before a live tail do not stop it from reading the next run', async () => {
    const log = new KubeletLog([part(0, 'one '), part(12, 'two ')]);
    cluster.add('shop', 'a', [at(30)], { restarts: 1, previous: log, startedAt: at(29).time });
    const tail = new Tail(cluster.store({}, { followTuning: { initialBackoffMs: 5 } }), since(10));
    expect(await tail.until('line 30')).to.deep.equal(['line 30']);
    await tail.end();
  });
});
