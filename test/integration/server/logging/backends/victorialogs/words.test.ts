// Words in lines of many scripts, which the store tells apart in another way than we do; each container writes lines of
// one kind alone, since the store keeps those in forms of their own (numbers, addresses, times).
import { expect } from 'chai';
import type { MatchMode } from '../../../../../../apis/logging/v1alpha2/log-query.ts';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadVictoriaLogs } from '../../../../../../hack/log-stores/load-victorialogs.ts';
import type { LogRecord } from '../../../../../../hack/log-stores/record.ts';
import type { VictoriaLogsLogStore } from '../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import type { Selection } from '../../../../../../server/logging/log-store.ts';
import { PlainTexts } from '../../../../../support/logging/brute-force/text.ts';
import { call } from '../../../../../support/logging/call.ts';
import { MemoryLogStore } from '../../../../../support/logging/memory-log-store.ts';
import { storeAt } from '../../../../../support/logging/victorialogs.ts';
import { KINDS, TEXTS } from './kinds-of-lines.ts';
import { startedProgram } from './started-program.ts';

describe('words in VictoriaLogs', () => {
  const [sample] = logData({ lines: 1 }).records();
  let records: LogRecord[] = [];
  let stop: () => Promise<void> = () => Promise.resolve();
  let store: VictoriaLogsLogStore;
  let oracle: MemoryLogStore;
  let write: (container: string, lines: readonly string[]) => Promise<void>;

  before(async function () {
    this.timeout(180_000);
    const program = await startedProgram();
    store = storeAt(program.url);
    stop = async () => {
      await store.run(AbortSignal.abort());
      await program.stop();
    };
    write = async (container, lines) => {
      if (!sample) throw new Error('there are no lines');
      const begin = Date.parse('2026-01-01T00:00:00Z') + records.length;
      const written = lines.map(
        (log, index): LogRecord => ({
          ...sample,
          log,
          time: new Date(begin + index).toISOString().replace('Z', '000000Z'),
          kubernetes: { ...sample.kubernetes, container_name: container, docker_id: container },
        }),
      );
      await loadVictoriaLogs(program.url, written);
      records = [...records, ...written];
      oracle = new MemoryLogStore(records);
    };
    for (const [container, lines] of Object.entries(KINDS)) await write(container, lines);
  });
  after(() => stop());

  const selection = (text: string, mode: MatchMode, caseSensitive: boolean): Selection => ({
    scope: { everything: true },
    range: { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' },
    text: { mode, texts: [text], caseSensitive },
  });
  const page = { order: 'asc', size: 1_000, from: 0 } as const;

  for (const mode of ['phrase', 'prefix', 'substring'] as const) {
    for (const caseSensitive of [false, true]) {
      it(`are found as ${mode}${caseSensitive ? ', minding case' : ''}`, async () => {
        const plain = new PlainTexts(records.map(({ log }) => log));
        for (const text of TEXTS.filter((one) => plain.has({ mode, texts: [one], caseSensitive }))) {
          const asked = selection(text, mode, caseSensitive);
          const said = `${mode} ${text}`;
          const [expected, found] = await Promise.all([
            oracle.query(asked, page, call()),
            store.query(asked, page, call()),
          ]);
          expect(
            found.records.map(({ log }) => log),
            said,
          ).to.deep.equal(expected.records.map(({ log }) => log));
          expect(found.total, said).to.deep.equal(expected.total);
          const [counted, told] = await Promise.all([
            oracle.statistics(asked, call()),
            store.statistics(asked, call()),
          ]);
          expect(told, said).to.deep.equal(counted);
          const edges = [0, 20, 60, 100_000].map((ms) => Date.parse(asked.range.start) + ms);
          const [parts, inBuckets] = await Promise.all([
            oracle.histogram(asked, { edges }, call()),
            store.histogram(asked, { edges }, call()),
          ]);
          expect(inBuckets.counts, said).to.deep.equal(parts.counts);
          expect(await exported(asked), said).to.deep.equal(expected.records);
        }
      });
    }
  }

  const exported = async (asked: Selection) => {
    const batches = await Array.fromAsync(store.export(asked, 'asc', call()));
    const written = Buffer.concat(batches.map(({ ndjson }) => ndjson ?? Buffer.alloc(0))).toString();
    const records = batches.flatMap((batch) => [...batch]);
    const lines = written.split('\n').slice(0, -1);
    expect(lines.map((line): unknown => JSON.parse(line))).to.deep.equal(records);
    return records;
  };

  it('are found by patterns, whatever kind of column they are in', async () => {
    for (const text of [
      '^5',
      '5$',
      '^\\d+$',
      '1.5',
      '\\.5',
      '5|7',
      '-5',
      '^.$',
      'T0.:',
      '[0-9]{5}',
      'z$',
      '.*5.*',
    ]) {
      const asked = selection(text, 'regex', false);
      const expected = await oracle.query(asked, page, call());
      const found = await store.query(asked, page, call());
      expect(found.records, text).to.deep.equal(expected.records);
      expect(found.total, text).to.deep.equal(expected.total);
      expect(await exported(asked), text).to.deep.equal(expected.records);
    }
  });

  it('are those of lines without the newline at their end, where a collector has kept it', async () => {
    const kept = ['done\n', 'all is done\n', '\\n', 'not quite\\n', 'two\n\n', 'done'];
    await write('kept', kept);
    const lines = kept.map((line) => line.replace(/\n+$/, ''));
    const all: Selection = { ...selection('x', 'substring', false), containers: { exact: ['kept'] } };
    for (const [text, mode, found] of [
      ['', undefined, lines],
      ['done$', 'regex', ['done', 'all is done', 'done']],
      ['^done$', 'regex', ['done', 'done']],
      ['all is done', 'phrase', ['all is done']],
    ] as const) {
      const { text: _, ...rest } = all;
      const asked = mode ? { ...all, text: { mode, texts: [text], caseSensitive: true } as const } : rest;
      const { records } = await store.query(asked, page, call());
      expect(
        records.map(({ log }) => log),
        text,
      ).to.deep.equal(found);
      expect((await exported(asked)).map(({ log }) => log)).to.deep.equal(found);
    }
    records = records.filter(({ kubernetes }) => kubernetes.container_name !== 'kept');
  });

  it('are counted however many lines have to be looked at', async () => {
    const asked = selection('waiting', 'prefix', false);
    const edges = [Date.parse(asked.range.start), Date.parse(asked.range.end)];
    for (const count of [1_999, 1, 1]) {
      await write(
        'many',
        Array.from({ length: count }, () => '等waiting'),
      );
      const [expected, found] = await Promise.all([
        oracle.query(asked, page, call()),
        store.query(asked, page, call()),
      ]);
      expect(found.total).to.deep.equal(expected.total);
      expect(found.records).to.have.length(1_000);
      const { logs } = await store.statistics(asked, call());
      expect(logs).to.deep.equal(expected.total);
      const { counts } = await store.histogram(asked, { edges }, call());
      expect(counts).to.deep.equal([expected.total.count]);
    }
    expect((await store.query(asked, page, call())).total.count).to.equal(2_001);
  });
});
