// Tests of the encoder of the JSON responses of log queries.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { BufferedResponses } from '../../../../../server/endpoints/buffered-responses.ts';
import type { LogRecord } from '../../../../../server/logging/log-store.ts';
import { patternError } from '../../../../../server/logging/matching/regex-dialect.ts';
import {
  encodedResponse,
  pieces,
  responseRecords,
  writeResponse,
} from '../../../../../server/logging/queries/responses.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';

const decoder = newLogQueryDecoder({ pattern: patternError });

const RECORD = {
  time: '2026-01-01T00:00:00.000000000Z',
  namespace: 'shop',
  pod: 'web-0',
  container: 'web',
  log: 'one line',
};
const record = (log: string): LogRecord => ({ ...RECORD, log });
const MEBI = 1 << 20;
const recordsOf = (count: number, length: number) =>
  Array.from({ length: count }, () => record('a'.repeat(length)));

describe('responseRecords', () => {});

const { signal } = new AbortController();

async function highlights(match: string, text: string, log: string) {
  const query = decoder.decode(new URLSearchParams({ highlight: 'true', match, log_query: text }));
  const [answer] = await responseRecords(query, [record(log)], { slicer: new TimeSlicer(), signal });
  return answer?.highlights ?? [];
}

describe('highlights', () => {
  it('are in UTF-16 code units', async () => {
    const line = '😀 cafe\u0301 <b>😀</b>';
    for (const [match, text, wanted] of [
      ['substring', '<b>', ['<b>']],
      ['substring', '😀', ['😀', '😀']],
      ['prefix', 'cafe\u0301', ['cafe']],
      ['regex', '[^a-z ]', ['😀', '\u0301', '<', '>', '😀', '<', '/', '>']],
    ] as const) {
      const places = await highlights(match, text, line);
      expect(
        places.map(([begin, end]) => line.slice(begin, end)),
        `${match} ${text}`,
      ).to.deep.equal(wanted);
    }
  });

  it('exclude empty matches', async () => {
    expect(await highlights('regex', 'x*', 'axxb xb')).to.deep.equal([
      [1, 3],
      [5, 6],
    ]);
    expect(await highlights('regex', 'x*', 'none of those')).to.deep.equal([]);
  });

  it('are limited to 1,000', async () => {
    const places = await highlights('substring', 'a', 'a'.repeat(5_000));
    expect(places).to.have.length(1_000);
    expect(places.at(-1)).to.deep.equal([999, 1_000]);
  });

  it('are searched in the first 65,536 characters, excluding matches at their end', async () => {
    const log = `${'b'.repeat(65_530)} aa aab a`;
    expect(await highlights('substring', 'aa', log)).to.deep.equal([[65_531, 65_533]]);
    expect(await highlights('phrase', 'aa', log)).to.deep.equal([[65_531, 65_533]]);
    expect(await highlights('regex', 'a+$', log)).to.deep.equal([]);
    expect(await highlights('substring', 'a', 'b'.repeat(65_535).concat('a'))).to.deep.equal([
      [65_535, 65_536],
    ]);
  });

  /** Number of event loop turns while the records are processed. */
  async function turnsOfOthers(text: string, lines: readonly string[], slicer: TimeSlicer) {
    const query = decoder.decode(new URLSearchParams({ highlight: 'true', match: 'regex', log_query: text }));
    let others = 0;
    const immediate = (): void => {
      others++;
      timer = setImmediate(immediate);
    };
    let timer = setImmediate(immediate);
    const answers = await responseRecords(query, lines.map(record), { slicer, signal });
    clearImmediate(timer);
    return { others, answers };
  }

  it('yield to the event loop between two matches of a line', async () => {
    const { others, answers } = await turnsOfOthers('a.*b|a', ['a'.repeat(100)], new TimeSlicer(0));
    expect(answers[0]?.highlights).to.have.length(100);
    expect(others).to.be.at.least(100);
  });
});
describe('pieces', () => {
  it('have 250 lines, 1 Mi characters, or one line', () => {
    const sizes = (of: readonly LogRecord[]) => [...pieces(of)].map(({ length }) => length);
    expect(sizes([])).to.deep.equal([]);
    expect(sizes(recordsOf(600, 10))).to.deep.equal([250, 250, 100]);
    expect(sizes(recordsOf(5, MEBI / 2))).to.deep.equal([2, 2, 1]);
    expect(sizes(recordsOf(3, 2 * MEBI))).to.deep.equal([1, 1, 1]);
  });
});

describe('writeResponse', () => {
  let server: HandlerServer;
  /** More bytes than characters. */
  const long = { log: 'ä'.repeat(100_000) };
  let answer: object;

  beforeEach(async () => {
    answer = long;
    const buffered = new BufferedResponses({ bytes: 1 << 20, protectedMs: 1_000 });
    server = await new HandlerServer((context) =>
      writeResponse(context, answer, { buffered, slicer: new TimeSlicer() }),
    ).start();
  });
  afterEach(() => server.close());

  const gzip = { headers: { 'Accept-Encoding': 'gzip' } };

  it('compresses a long response for clients that accept gzip', async () => {
    const { headers, body } = await server.ask('/', gzip);
    expect(headers).to.include({ 'content-encoding': 'gzip', 'content-length': String(body.length) });
    expect(JSON.parse(gunzipSync(body).toString())).to.deep.equal(long);
  });

  it('does not compress a short response, nor for other clients', async () => {
    const whole = await server.ask('/');
    expect(whole.headers).not.to.have.property('content-encoding');
    expect(whole.headers['content-length']).to.equal(String(whole.body.length));
    expect(JSON.parse(whole.body.toString())).to.deep.equal(long);
    answer = { log: 'short' };
    const { headers, body } = await server.ask('/', gzip);
    expect(headers).not.to.have.property('content-encoding');
    expect(body.toString()).to.equal('{"log":"short"}\n');
  });
});

describe('encodedResponse', () => {
  const responseOf = (...lines: string[]) => ({
    query: {
      total: lines.length,
      totalRelation: 'eq' as const,
      records: lines.map((log) => ({
        log,
        time: '2026-11-20T10:00:00.000000000Z',
        namespace: 'shop',
        pod: 'cart-0',
        container: 'cart',
        id: '"records":[]',
        highlights: [[0, 1]] as [number, number][],
      })),
      cursor: '"records":[]',
    },
    took: 7,
  });

  it('encodes long lines like short ones', async () => {
    const long = '\u0001"é\u{1f600}'.repeat(100_000);
    for (const answer of [responseOf(), responseOf('x'), responseOf(long, '', long, 'x', long)]) {
      const text = String(await encodedResponse(answer, { slicer: new TimeSlicer(), signal }));
      expect(JSON.parse(text)).to.deep.equal(answer);
    }
    const short = await encodedResponse({ took: 7 }, { slicer: new TimeSlicer(), signal });
    expect(String(short)).to.equal('{"took":7}\n');
  });

  it('yields to the event loop between two long lines', async () => {
    const answer = responseOf(...Array.from({ length: 6 }, () => '\u0001'.repeat(1 << 20)));
    const done: Buffer[] = [];
    const encoding = encodedResponse(answer, { slicer: new TimeSlicer(), signal }).then((text) =>
      done.push(text),
    );
    let rounds = 0;
    for (; done.length === 0; rounds++) await nextTurn();
    await encoding;
    expect(rounds).to.be.above(5);
  });
});
