// Tests of text filters against a real VictoriaLogs, with many scripts and value types.
import { expect } from 'chai';
import { loadVictoriaLogs } from '../../../../../../hack/log-stores/load-victorialogs.ts';
import type { LogRecord } from '../../../../../../hack/log-stores/record.ts';
import type { VictoriaLogsLogStore } from '../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import { instantOf } from '../../../../../../server/logging/store/instant.ts';
import type { Selection, TextFilter } from '../../../../../../server/logging/store/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import { exported } from '../../../../../support/logging/exported.ts';
import { line } from '../../../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../../../support/logging/memory-log-store.ts';
import { storeAt } from '../../../../../support/logging/victorialogs.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { type StartedProgram, startedProgram } from './started-program.ts';

/**
 * Lines by container: each container writes one type of value, because VictoriaLogs stores columns of numbers, addresses
 * and times in special encodings. A column with at most eight different values of any type is a dictionary.
 */
const KINDS = {
  scripts: [
    'timeout 错误timeout 误Timeout错',
    'エラーtimeout',
    'a\u0308timeout timeout\u0308',
    '😀timeout😀 ⚠️ 👍🏽 done',
    'tiMeOut.',
    'größer GRÖSSER GRÖẞER GRÖßER',
    '\u212aelvin \u212aELVIN kelvin mi\u212aro',
    'Wa\u017f\u017fer im \u017fystem',
    'µs μs ΟΔΟΣ οδος οδοσ',
    'приветЫ ПРИВЕТ',
    'ı İ i I İstanbul',
    '{"time":"2026-01-01T00:00:00.000000000Z","log":"x"}',
    '\\u0041\\ $^.*+?()[]{}|/',
    'two\nlines\r\nof\rone',
    'nul\0 tab\t bell\u0007 del\u007f nel\u0085 ls\u2028 ps\u2029 \ufeffbom',
    `long ${'ä '.repeat(5_000)}end`,
  ],
  smallNumbers: '5 57 0 1 12 123 15 99 100 255'.split(' '),
  largeNumbers: '5 57 1230 65536 4294967296 18446744073709551615 10 0 1 20'.split(' '),
  numbers: '-5 -57 5 57 -123 123 -1 1 0 1234567'.split(' '),
  decimals: '-1.5 1.5 15.25 -0.5 3.14 0.1 1.75 10.5 123.5 -57.25 2.75'.split(' '),
  addresses: Array.from({ length: 10 }, (_, n) => `10.${n}.${5 * n}.${n === 0 ? 1 : 57}`),
  times: Array.from({ length: 10 }, (_, n) => `2026-0${1 + (n % 9)}-02T03:04:05.67${n}Z`),
};
const SUBSTRINGS = [
  ...['timeout', 'TIMEOUT', 'out', '错误', 'エラ', 'größer', 'GRÖSSER', 'gröẞer', 'kelvin', '\u212aelvin'],
  ...['system', '\u017fystem', 'wasser', 'ΟΔΟΣ', 'οδο', 'µs', 'привет', 'a\u0308', '👍', 'i', 'İstanbul'],
  ...['5', '57', '1.5', '10.', '2026', '02T03', '02t03', '65536', '18446744073709551615', '-5', '05.678Z'],
  ...['end', 'ä', 'nul\0', 'lines\r\nof', '"log":"', '$^.*+?()'],
];
const PATTERNS = '1.5 \\.5 5|7 -5 T0.: [0-9]{5} .*5.* .+5.+ k[a-z]+in'.split(' ');
const WORDS: readonly (readonly [TextFilter['mode'], string, boolean, readonly string[]])[] = [
  ['phrase', 'timed out', false, ['Timed out.', 'x timed out']],
  ['phrase', 'timed out', true, ['x timed out']],
  ['phrase', 'time', false, []],
  ['prefix', 'time', false, ['Timed out.', 'x timed out', 'timed, out', 'timedout']],
  ['prefix', 'imed', false, []],
  ['prefix', 'timed o', true, ['x timed out']],
];

describe('text filters of VictoriaLogs', () => {
  const records: LogRecord[] = [];
  let program: StartedProgram;
  let store: VictoriaLogsLogStore;

  before(async () => {
    program = await startedProgram();
    store = storeAt(program.url);
    const write = async (container: string, lines: readonly string[]): Promise<LogRecord[]> => {
      const begin = Date.parse('2026-01-01T00:00:00Z') + records.length;
      const written = lines.map((log, index) => line(instantOf(begin + index), log, { container }));
      await loadVictoriaLogs(program.url, written);
      return written;
    };
    for (const [container, lines] of Object.entries(KINDS)) {
      records.push(...(await write(container, lines)));
    }
    await write('words', ['Timed out.', 'x timed out', 'timed, out', 'timedout']);
    await write('newlines', ['done\n', 'all is done\n', '\\n', 'not quite\\n', 'two\n\n', 'done']);
  });
  after(async () => {
    await store?.run(AbortSignal.abort());
    await program?.stop();
  });

  const selectionOf = (container: readonly string[], text?: TextFilter): Selection => ({
    scope: { everything: true },
    range: { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' },
    containers: { exact: container },
    ...(text && { text }),
  });
  const page = { order: 'asc', size: 1_000, from: 0 } as const;
  const exportOf = async (selection: Selection) =>
    (await exported(store.export(selection, 'asc', call()))).records;

  for (const [mode, texts] of [
    ['substring', SUBSTRINGS],
    ['regex', PATTERNS],
  ] as const) {
    for (const caseSensitive of [false, true]) {
      it(`match any kind of column by ${mode}${caseSensitive ? ' with case' : ''}`, async () => {
        const oracle = new MemoryLogStore(records);
        for (const text of texts) {
          const selection = selectionOf(Object.keys(KINDS), { mode, texts: [text], caseSensitive });
          const { records: expected, total } = await oracle.query(selection, page, call());
          expect(await store.query(selection, page, call()), text).to.deep.include({
            records: expected,
            total,
          });
          expect(await exportOf(selection), text).to.deep.equal(expected);
          const statistics = await store.statistics(selection, call());
          expect(statistics, text).to.deep.equal(await oracle.statistics(selection, call()));
        }
      });
    }
  }

  it('reject invalid expressions, before the first line of a stream', async () => {
    for (const pattern of ['(?<=a)b', '[', `[${'a'.repeat(999)}`, 'a{1001}', '\\', '(a', '*', '.{400}']) {
      const selection = selectionOf(['words'], { mode: 'regex', texts: [pattern], caseSensitive: false });
      for (const ask of [
        () => store.query(selection, page, call()),
        () => store.statistics(selection, call()),
        () => store.export(selection, 'asc', call()).next(),
        () => store.follow(selection, call()).next(),
      ]) {
        const error = await rejection(ask());
        expect(error, pattern).to.deep.include({ code: 400 });
      }
    }
  });

  it('match words by the word filters of LogsQL', async () => {
    for (const [mode, text, caseSensitive, expected] of WORDS) {
      const selection = selectionOf(['words'], { mode, texts: [text], caseSensitive });
      const found = (await store.query(selection, page, call())).records.map(({ log }) => log);
      expect(found, `${mode} ${text}`).to.deep.equal(expected);
    }
  });

  it('ignore the newlines that a collector keeps at the end of a line', async () => {
    const matching = async (): Promise<readonly string[]> => {
      const selection = selectionOf(['newlines']);
      const { records: found } = await store.query(selection, page, call());
      expect(await exportOf(selection)).to.deep.equal(found);
      return found.map(({ log }) => log);
    };
    expect(await matching()).to.deep.equal(['done', 'all is done', '\\n', 'not quite\\n', 'two', 'done']);
  });
});
