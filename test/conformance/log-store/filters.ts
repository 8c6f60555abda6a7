import { expect } from 'chai';
import { LEVELS } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { Selection, TextFilter } from '../../../server/logging/log-store.ts';
import { podPattern } from '../../../server/logging/matching/workload-names.ts';
import { type Subject, selection, text } from './subject.ts';

const PAGE = { order: 'asc', size: 50, from: 0 } as const;

/** Texts that find lines in every data set, by what is hard about them. */
const PHRASES = [
  'timeout',
  'TIMEOUT',
  'connection refused',
  'my-app',
  'my app',
  'myapp',
  'node_cpu_usage',
  'cpu',
  'CPU',
  'a.b.c',
  'a.b',
  "don't",
  'don',
  'don’t',
  'foo:bar',
  'foo',
  'foo: bar',
  '1,024',
  '3.14',
  '10.0.0.1',
  '10.0.0.1:8080',
  'v1.36.3',
  'ada@example.com',
  'größer',
  'GRÖSSER',
  'GRÖßER',
  'ÜBER',
  'Straße',
  'cafe\u0301',
  'café',
  'ısı',
  'ISI',
  'isi',
  'привет',
  'καλά',
  '错误',
  '数据库错误',
  '数据库 错误',
  'データベース',
  'エラー',
  '오류',
  'שלום',
  'مرحبا',
  '😀',
  '🚀 done',
  'emoji 😀 rocket',
  'a',
  '_node_cpu_',
  'C:\\Windows',
  'level=error',
  'error yellow',
  '31mERROR',
  'END-OF-HUGE',
  'f00000001 f00000002',
  'quoted phrase',
  "O''Brien",
  'AND OR NOT',
  'f00000300 END',
] as const;
const PREFIXES = [
  'time',
  'TIME',
  'conn',
  'connection ref',
  'node_',
  'node_cpu',
  'a.b',
  'don',
  "don'",
  'foo:b',
  'my-a',
  'my a',
  '10.0',
  'v1.36',
  'größ',
  'Ü',
  'при',
  '数',
  '数据库错',
  'データ',
  'エ',
  '오',
  '😀',
  'END-OF-H',
  'f0000000',
  'x',
  '1',
  'u',
  'cafe',
] as const;
const SUBSTRINGS = [
  'imeou',
  'IMEOU',
  'cpu_us',
  '-app',
  'a.b.',
  ': bar',
  '::',
  '   ',
  ' ',
  '\t',
  '.',
  '*',
  '?',
  '\\',
  '"',
  "'",
  '`',
  '(a|b)*[c-d]{2,3}?^$.+',
  '%00',
  '\\u0000',
  '{"',
  '":"',
  '[31m',
  '\u001b[',
  '\r',
  '\u2028',
  '\u0085',
  '\u0007',
  'ß',
  'STRASSE',
  'ö',
  'Ö',
  'u\u0308',
  '误 数',
  '错',
  '库',
  'ベー',
  '류',
  '😀w',
  '\ud83d\ude00',
  'ı',
  'I',
  'i',
  'K',
  'END-OF-LONGER',
  'END-OF-HUGE',
  'f00001500 f00001501',
  'trailing spaces   ',
  '||',
  '&&',
  '${',
  '{{',
  '%s %d',
  '//',
  ' AND ',
  '_',
] as const;
const REGEXES = [
  'time ?out',
  'TIME',
  '^my-app',
  'started$',
  '^a$',
  '^ $',
  '^.$',
  'user [0-9]+|order',
  '[0-9]{1,3}(\\.[0-9]{1,3}){3}',
  '\\d+ ms',
  '^\\S+$',
  '\\s$',
  '^\\s',
  '\\w+_\\w+',
  '\\W\\W\\W\\W',
  '^I[0-9]{4} ',
  '(GET|POST) /api/v1/orders(/[0-9]+)? ',
  'level="?(warn|error)"?',
  '[äöü]',
  '[^ -~]',
  '错.',
  'm.*n.*o',
  '^[^a-z]*$',
  'colou?rs?|yell[ou]w',
  '(?:foo|bar):(?:foo|bar)',
  '\\$\\{',
  '\\[31m',
  '\\\\',
  '"',
  '#',
  '<',
  '~',
  '&',
  '@',
  '10%.progress',
  'line.separator',
  'a{2}',
  '(a|an) [a-z]+',
  '^(INFO|WARN)|(ERROR|FATAL)$',
  'x*',
  '[.]',
  '[\\]\\[]',
  '[a\\-c]',
  '[\\w.]+@[\\w.]+',
  '[\\d:]+',
  '-',
  '/',
  'END-OF-HUGE$',
] as const;

/** Names, texts and levels, one at a time; properties.ts mixes them. */
export function describeFilters(subject: () => Subject): void {
  describe('filters', () => {
    for (const [part, field] of [
      ['namespaces', 'namespace_name'],
      ['pods', 'pod_name'],
      ['containers', 'container_name'],
    ] as const) {
      it(`find ${part} by whole names and by parts of them`, async () => {
        const { compare, records } = subject();
        const names = [...new Set(records.map(({ kubernetes }) => kubernetes[field]))].sort();
        const [some, middle] = [names[0] ?? '', names[Math.floor(names.length / 2)] ?? ''];
        for (const [filter, findsSome] of [
          [{ exact: [some] }, true],
          [{ exact: [middle, some, 'nobody'] }, true],
          [{ exact: names }, true],
          [{ exact: [] }, false],
          [{ exact: [middle.slice(0, -1)] }, undefined],
          [{ exact: [middle.toUpperCase()] }, false],
          [{ contains: [middle.slice(1, 4)] }, true],
          [{ contains: [middle.slice(1, 4).toUpperCase()] }, true],
          [{ contains: [some.slice(-2), middle.slice(0, 3), 'nobody'] }, true],
          [{ contains: ['-'] }, undefined],
          [{ contains: [] }, false],
          [{ exact: [some, middle], contains: [middle.slice(0, 5)] }, true],
          [{ exact: [some], contains: ['nobody'] }, false],
        ] as const) {
          const found = await compare.page(selection(subject(), { [part]: filter }), PAGE);
          if (findsSome !== undefined) expect(found > 0, JSON.stringify(filter)).to.equal(findsSome);
        }
      });
    }

    it('find pods by patterns over their names', async () => {
      const { compare, records } = subject();
      const [{ kubernetes: first } = { kubernetes: undefined }] = records;
      const workloads = [
        'web',
        'api',
        'web-api',
        'postgres',
        'backup',
        'migrate',
        'worker',
        'recommendation',
      ];
      let found = 0;
      for (const podPatterns of [
        ...workloads.map((workload) => [podPattern([workload], 'exact')]),
        [podPattern(workloads, 'exact')],
        [podPattern(['web'], 'contains'), podPattern(['api'], 'contains')],
        [podPattern(['recommendation-service-for-returning-customers-of-the-web-shop'], 'exact')],
        [podPattern(['.*', 'a|b', '[a-z]'], 'exact')],
        [first?.pod_name ?? ''],
      ]) {
        found += await compare.page(selection(subject(), { podPatterns }), PAGE);
      }
      expect(found).to.be.above(0);
    });

    for (const [mode, texts] of [
      ['phrase', PHRASES],
      ['prefix', PREFIXES],
      ['substring', SUBSTRINGS],
      ['regex', REGEXES],
    ] as const) {
      for (const caseSensitive of [false, true]) {
        it(`find lines by ${mode}${caseSensitive ? ', minding case' : ''}`, async () => {
          const filters = texts.map((one) => text(mode, [one], caseSensitive));
          const several = [texts.slice(0, 5), texts.slice(-7)].map((some) =>
            text(mode, [some[0] ?? '', ...some.slice(1)], caseSensitive),
          );
          expect(await found(subject(), [...filters, ...several])).to.be.above(100);
        });
      }
    }

    for (const levels of [
      ...LEVELS.map((level) => [level]),
      ['warn', 'error'],
      ['debug', 'info', 'warn', 'error', 'fatal'],
    ] as const) {
      it(`find lines of the levels ${levels.join(' and ')}`, async () => {
        const { compare } = subject();
        const asked = selection(subject(), { levels });
        expect(await compare.page(asked, { ...PAGE, size: 1_000 })).to.be.above(0);
        await compare.statistics(asked);
      });
    }

    it('find nothing when no level is asked for', async () => {
      expect(await subject().compare.page(selection(subject(), { levels: [] }), PAGE)).to.equal(0);
    });

    it('hold together', async () => {
      const { compare } = subject();
      const asked: Selection = selection(subject(), {
        containers: { contains: ['a', 'e'] },
        text: text('phrase', ['connection', 'user', 'order']),
        levels: ['info', 'warn', 'error'],
      });
      expect(await compare.page(asked, PAGE)).to.be.above(0);
      await compare.statistics(asked);
      await compare.export(asked, 'asc');
    });
  });
}

/** How many lines all of the filters find. Every fault is told, not only the first. */
async function found(subject: Subject, filters: readonly TextFilter[]): Promise<number> {
  let sum = 0;
  const faults: string[] = [];
  for (const filter of filters) {
    const asked = selection(subject, { text: filter });
    try {
      sum += await subject.compare.page(asked, PAGE);
    } catch (error) {
      faults.push(
        `${JSON.stringify(filter.texts)}: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`,
      );
    }
  }
  expect(faults, faults.join('\n')).to.deep.equal([]);
  return sum;
}
