// Tests of the decoder of log query parameters.
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { textSearchOf } from '../../../../../apis/logging/v1alpha2/log-query-validation.ts';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';

const decoder = newLogQueryDecoder();

function decode(search: string) {
  return decoder.decode(new URLSearchParams(search));
}

function texts(search: string): readonly string[] {
  return textSearchOf(decode(search)).texts;
}

/** Validation errors by parameter; fails if the query is valid. */
function errorsOf(search: string): Readonly<Record<string, string>> {
  try {
    decode(search);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    expect(error.code).to.equal(400);
    const causes = error.details?.causes ?? [];
    for (const cause of causes) expect(error.message).to.include(cause.message);
    return Object.fromEntries(causes.map(({ field = '', message }) => [field, message]));
  }
  throw new Error(`valid: ${search}`);
}

describe('a log query', () => {
  it('is the newest ten lines by default', () => {
    expect(decode('')).to.include({ operation: 'query', sort: 'desc', from: 0, size: 10, interval: '15m' });
  });

  it('accepts the parameters of existing consoles with every operation', () => {
    for (const operation of ['query', 'statistics', 'histogram', 'export']) {
      const query = decode(
        `operation=${operation}&namespaces=a,b&namespace_query=x&workloads=w&workload_query=w&pods=p&pod_query=p&containers=c&container_query=c&log_query=error,warn&interval=1800s&start_time=1700000000&end_time=1700000600&sort=desc&from=0&size=100&_=1&t=2`,
      );
      expect(query).to.deep.include({
        operation,
        namespaces: ['a', 'b'],
        pods: ['p'],
        start_time: 1_700_000_000,
        end_time: 1_700_000_600,
      });
      expect(textSearchOf(query).texts).to.deep.equal(['error', 'warn']);
    }
    expect(decode('from=9950&size=50')).to.include({ from: 9_950, size: 50 });
    expect(decode('operation=statistics&from=9990&size=50')).to.include({ operation: 'statistics' });
    for (const zone of ['UTC', 'Europe/Berlin', '+05:30', '-08:00']) {
      expect(decode(`time_zone=${encodeURIComponent(zone)}`).time_zone).to.equal(zone);
    }
  });

  it('ignores the options of an empty text', () => {
    for (const search of ['match=regex&case=respect&highlight=true', 'log_query=&match=substring']) {
      expect(texts(search), search).to.deep.equal([]);
    }
    expect(errorsOf('match=glob')['match']).to.include('must be one of phrase, prefix, substring, regex');
  });

  it('ignores spaces and empty values in lists, and accepts the namespaces of a large cluster', () => {
    const query = decode('namespaces=a,%20d%20&pod_query=,b,,%20,c&level=error,');
    expect(query).to.deep.include({ namespaces: ['a', 'd'], pod_query: ['b', 'c'], level: ['error'] });
    const namespaces = Array.from({ length: 1_500 }, (_, number) => `team-${number}`);
    expect(decode(`namespaces=${namespaces.join()}`).namespaces).to.deep.equal(namespaces);
  });

  for (const [what, search, parameter, words] of [
    ['milliseconds', 'start_time=1700000000123', 'start_time', /milliseconds.*here 1700000000$/],
    ['microseconds', 'start_time=1700000000123456', 'start_time', /microseconds.*here 1700000000$/],
    ['nanoseconds', 'end_time=1700000000123456789', 'end_time', /nanoseconds.*here 1700000000$/],
    ['a fraction', 'start_time=1700000000.5', 'start_time', /fraction.*here 1700000000$/],
    ['a time before 1970', 'start_time=-1', 'start_time', /before 1970/],
    ['a date', 'start_time=2023-11-14T22:13:20Z', 'start_time', /is not a time.*here 1700000000$/],
    ['eleven digits', 'start_time=17000000000', 'start_time', /at most 9999999999/],
    ['an end before the start', 'start_time=20&end_time=19', 'end_time', /19 is before start_time, 20/],
    [
      'a name that is too long',
      `pods=${'p'.repeat(254)}`,
      'pods',
      /^must be at most 253 characters long, not "p+…"$/,
    ],
    ['too many names', `pods=${'p,'.repeat(1_000)}p`, 'pods', /^must be a list of at most 1000 values/],
    ...[
      'namespaces',
      'namespace_query',
      'workloads',
      'workload_query',
      'pods',
      'pod_query',
      'containers',
      'container_query',
      'level',
    ].flatMap((parameter) =>
      [',', '%20', ',%20,'].map(
        (value) =>
          [
            'a list of nothing',
            `${parameter}=${value}`,
            parameter,
            /^must be a list with at least one value/,
          ] as const,
      ),
    ),
    ['an interval of nothing', 'interval=0m', 'interval', /must be greater than 0/],
    ['an interval without a unit', 'interval=15', 'interval', /a whole number with s, m, h, d, w, M/],
    ['an interval of centuries', 'interval=101y', 'interval', /not be longer than 100 years/],
    ['an offset whose plus sign was a space', 'time_zone=+05:30', 'time_zone', /in a URL.*%2B05:30/],
    ['a zone that is none', 'time_zone=Mars/Olympus', 'time_zone', /Europe\/Berlin/],
    ['an operation that is none', 'operation=histogramm', 'operation', /did you mean "histogram"/],
    ['a word for the order that is none', 'sort=newest', 'sort', /one of desc, asc/],
    ['a page that is too long', 'size=1001', 'size', /more than 1000;.*cursor.*export/],
    ['a page that is too deep', 'from=10001', 'from', /more than 10000; use cursor for deeper pages/],
    ['a page that ends too deep', 'from=9951&size=50', 'from', /9951 with a size of 50.*use cursor/],
    ['a size that is no number', 'size=x', 'size', /must be a whole number from 0/],
    ['an unknown parameter', 'namspaces=a', 'namspaces', /did you mean "namespaces"/],
    ['a phrase without a word', 'log_query=!!!&match=phrase', 'log_query', /"!!!" has no word/],
    ['nothing but commas', 'log_query=,%20,&match=phrase', 'log_query', /no text between its commas/],
    [
      'too many signs',
      `log_query=${'-'.repeat(1001)}`,
      'log_query',
      /longer than 1000 characters; use a part/,
    ],
    ...['a{10001}', '(a{101}){101}', 'a{{100000000}', 'a{2}{9000}', '([a]{90,}){90}'].map(
      (pattern) =>
        [
          `the repetitions of ${pattern}`,
          `match=regex&log_query=${pattern}`,
          'log_query',
          /repeats too much: 10000/,
        ] as const,
    ),
    ['too many texts', `log_query=${'a,'.repeat(51)}`, 'log_query', /more than 50 texts.*match=substring/],
    [
      'more words than the limit',
      `log_query=${'a%20'.repeat(150)},${'b%20'.repeat(51)}`,
      'log_query',
      /texts after it have 201 words, more than 200.*match=substring/,
    ],
    ['a text of too many words', `log_query=${'a%20'.repeat(201)}`, 'log_query', /" has 201 words/],
    ['a level that is none', 'level=eror,warn', 'level', /did you mean "error"/],
    ['a cursor with a place of its own', 'cursor=x&from=10', 'from', /cursor/],
    ['a cursor of statistics', 'operation=statistics&cursor=x', 'cursor', /operation=query only/],
    ['a context of an export', 'operation=export&context=x', 'context', /operation=query only/],
    ['lines before nothing', 'before=3', 'before', /context only/],
    ['a mark without CSV', 'operation=export&bom=true', 'bom', /format=csv only/],
    ['a format of a query', 'format=csv', 'format', /operation=export only/],
    ['following up to a time', 'follow=true&end_time=1', 'end_time', /follow/],
    ['a parameter that is given twice', 'size=1&size=2', 'size', /given 2 times/],
  ] as const) {
    it(`rejects ${what}`, () => {
      expect(errorsOf(search)[parameter]).to.match(words);
    });
  }

  it('interprets a date without a time zone as UTC', () => {
    const before = process.env['TZ'];
    process.env['TZ'] = 'America/New_York';
    try {
      for (const date of ['2023-11-14T22:13:20', '2023-11-14 22:13:20.5', '2023-11-14T22:13']) {
        expect(errorsOf(`start_time=${date}`)['start_time'], date).to.match(
          /here 1700000000$|here 1699999980$/,
        );
      }
    } finally {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    }
  });

  it('suggests accepted values and parameters by their names in other systems, if there is one', () => {
    for (const [parameter, value, meant] of [
      ['format', 'jsonl', 'ndjson'],
      ['format', 'JSONLines', 'ndjson'],
      ['format', 'plain', 'text'],
      ['format', 'tsv', 'csv'],
      ['format', 'jsom', 'json'],
      ['match', 'contains', 'substring'],
      ['case', 'sensitive', 'respect'],
      ['level', 'critical', 'fatal'],
      ['sort', 'newest', 'desc'],
      ['operation', 'count', 'statistics'],
      ['limit', '1', 'size'],
      ['pageSize', '1', 'size'],
      ['query', '1', 'log_query'],
      ['since', '1', 'start_time'],
      ['timezone', '1', 'time_zone'],
    ] as const) {
      const error = errorsOf(`${parameter}=${value}`)[parameter];
      expect(error).to.include(`did you mean "${meant}"?`);
    }
    for (const value of ['constructor', 'toString', 'xml']) {
      const error = errorsOf(`operation=export&format=${value}`)['format'];
      expect(error, value).to.match(/^must be one of .*, not "\w+"$/);
    }
  });

  it('reports all validation errors at once', () => {
    const invalid = 'start_time=1700000000123&sort=x&format=csv&log_query=!&unknown=1&from=1';
    const fields = Object.keys(errorsOf(`${invalid}&match=phrase&cursor=c`));
    expect(fields).to.have.members(['start_time', 'sort', 'format', 'log_query', 'unknown', 'from']);
  });

  it('reports no consequence of another validation error', () => {
    for (const [search, field] of [
      ['operation=exprt&format=csv', 'operation'],
      ['operation=histogran&from=9999', 'operation'],
      ['operation=query&operation=export&format=csv', 'operation'],
      ['match=glob&log_query=!', 'match'],
      [`match=exact&log_query=${'a,'.repeat(60)}`, 'match'],
      ['from=9995&size=x', 'size'],
      [`context=${'x'.repeat(20_000)}&before=3`, 'context'],
      ['follow=yes&from=9995', 'follow'],
    ] as const) {
      expect(Object.keys(errorsOf(search)), search).to.deep.equal([field]);
    }
  });

  it('splits texts at commas only in the modes with words', () => {
    expect(texts('log_query=a,b&match=substring')).to.deep.equal(['a,b']);
    expect(texts('log_query=a,b&match=regex')).to.deep.equal(['a,b']);
    expect(texts('log_query=a,,b,')).to.deep.equal(['a', 'b']);
  });

  it('searches a text without words as a substring', () => {
    for (const line of ['}', '  },', ',', '"": "—",']) {
      const query = decode(new URLSearchParams({ log_query: line }).toString());
      expect(textSearchOf(query)).to.deep.equal({ mode: 'substring', texts: [line] });
    }
    expect(textSearchOf(decode('log_query=},x'))).to.include({ mode: 'prefix' });
  });
});
