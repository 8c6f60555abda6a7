// Tests of the encoder of the JSON responses of log queries.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { BufferedResponses } from '../../../../../server/http/buffered-responses.ts';
import {
  encodedResponse,
  responseRecords,
  writeResponse,
} from '../../../../../server/logging/queries/responses.ts';
import { servedHandler } from '../../../../support/handler-server.ts';
import { line } from '../../../../support/logging/log-service.ts';
import { toLogRecord } from '../../../../support/logging/memory-log-store.ts';

const decoder = newLogQueryDecoder();

const record = (log: string) => toLogRecord(line('2026-01-01T00:00:00.000000000Z', log));
const { signal } = new AbortController();

describe('the severity of a record', () => {
  it('is its most severe level, or none', async () => {
    const lines = ['INFO ok', 'level=info ERROR', '[warn] x', 'DEBUG FATAL INFO', 'trace: a', 'plain'];
    const query = decoder.decode(new URLSearchParams({ severity: 'true' }));
    const records = await responseRecords(query, lines.map(record), { slicer: new TimeSlicer(), signal });
    expect(records.map(({ severity }) => severity)).to.deep.equal([
      'info',
      'error',
      'warn',
      'fatal',
      'debug',
      'none',
    ]);
  });

  it('yields to the event loop between two levels of a long line', async () => {
    const query = decoder.decode(new URLSearchParams({ severity: 'true' }));
    const call = { slicer: new TimeSlicer(0), signal };
    const found: unknown[] = [];
    const line = record(`${'x'.repeat(5_000)} DEBUG`);
    const searching = responseRecords(query, [line], call).then(([first]) => found.push(first?.severity));
    let turns = 0;
    for (; found.length === 0; turns++) await nextTurn();
    await searching;
    expect(found).to.deep.equal(['debug']);
    expect(turns).to.be.at.least(5);
  });

  it('is absent by default', async () => {
    const query = decoder.decode(new URLSearchParams());
    const [found] = await responseRecords(query, [record('INFO')], { slicer: new TimeSlicer(), signal });
    expect(found).not.to.have.property('severity');
  });
});

async function highlights(match: string, text: string, log: string, slicer = new TimeSlicer()) {
  const query = decoder.decode(new URLSearchParams({ highlight: 'true', match, log_query: text }));
  const [answer] = await responseRecords(query, [record(log)], { slicer, signal });
  return answer?.highlights ?? [];
}

describe('highlights', () => {
  it('are in UTF-16 code units', async () => {
    const log = '😀 cafe\u0301 <b>😀</b>';
    for (const [match, text, wanted] of [
      ['substring', '<b>', ['<b>']],
      ['substring', '😀', ['😀', '😀']],
      ['prefix', 'cafe\u0301', ['cafe']],
      ['regex', '[^a-z ]', ['😀', '\u0301', '<', '>', '😀', '<', '/', '>']],
    ] as const) {
      const places = await highlights(match, text, log);
      const parts = places.map(([begin, end]) => log.slice(begin, end));
      expect(parts, `${match} ${text}`).to.deep.equal(wanted);
    }
  });

  it('exclude empty matches', async () => {
    expect(await highlights('regex', 'x*', 'axxb xb')).to.deep.equal([
      [1, 3],
      [5, 6],
    ]);
    expect(await highlights('regex', 'x*', 'none of those')).to.deep.equal([]);
  });

  it('are omitted for a regular expression that RE2 does not support', async () => {
    for (const pattern of ['(?<=a)b', 'a{1001}', '[', 'b'.repeat(301)]) {
      expect(await highlights('regex', pattern, 'ab'.repeat(301)), pattern).to.deep.equal([]);
    }
  });

  it('are limited to 1,000', async () => {
    const places = await highlights('substring', 'a', 'a'.repeat(5_000));
    expect(places).to.have.length(1_000);
    expect(places.at(-1)).to.deep.equal([999, 1_000]);
  });

  it('are searched in the first 32,768 characters, excluding matches at their end', async () => {
    const log = `${'b'.repeat(32_762)} aa aab a`;
    expect(await highlights('substring', 'aa', log)).to.deep.equal([[32_763, 32_765]]);
    expect(await highlights('phrase', 'aa', log)).to.deep.equal([[32_763, 32_765]]);
    expect(await highlights('regex', 'a+$', log)).to.deep.equal([]);
    const last = `${'b'.repeat(32_767)}a`;
    expect(await highlights('substring', 'a', last)).to.deep.equal([[32_767, 32_768]]);
  });

  it('yield to the event loop between two matches of a line', async () => {
    const found: unknown[] = [];
    const searching = highlights('regex', 'a.*b|a', 'a'.repeat(100), new TimeSlicer(0)).then((places) =>
      found.push(...places),
    );
    let turns = 0;
    for (; found.length === 0; turns++) await nextTurn();
    await searching;
    expect(found).to.have.length(100);
    expect(turns).to.be.at.least(100);
  });
});

describe('writeResponse', () => {
  /** More bytes than characters. */
  const long = { log: 'ä'.repeat(100_000) };
  let answer: object = long;

  const buffered = new BufferedResponses({ bytes: 1 << 20, protectedMs: 1_000 });
  const server = servedHandler((context) =>
    writeResponse(context, answer, { buffered, slicer: new TimeSlicer() }),
  );
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
        ...record(log),
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
