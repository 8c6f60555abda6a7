import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import type { LogRecord } from '../../../../../server/logging/log-store.ts';
import { patternError } from '../../../../../server/logging/matching/regex-dialect.ts';
import { pieces, responseRecords } from '../../../../../server/logging/queries/responses.ts';

const decoder = newLogQueryDecoder({ pattern: patternError });
const queryOf = (parameters: string) => decoder.decode(new URLSearchParams(parameters));

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

describe('responseRecords', () => {
  it('yields to the event loop when its time slice is used up', async () => {
    for (const parameters of ['', 'highlight=true&log_query=line']) {
      const slicer = new TimeSlicer(0);
      const { signal } = new AbortController();
      let others = 0;
      const working = responseRecords(queryOf(parameters), [RECORD, RECORD, RECORD], { slicer, signal });
      const done = working.then(() => 'answered');
      while ((await Promise.race([done, nextTurn('still at it')])) !== 'answered') others++;
      expect(others, parameters).to.be.at.least(3);
    }
  });

  it('adds highlights to the same records', async () => {
    const call = { slicer: new TimeSlicer(), signal: new AbortController().signal };
    const [plain] = await responseRecords(queryOf('log_query=line'), [RECORD], call);
    const [marked] = await responseRecords(queryOf('highlight=true&log_query=line'), [RECORD], call);
    expect(plain)
      .to.include(RECORD)
      .and.to.have.all.keys(...Object.keys(RECORD), 'id');
    expect(marked).to.deep.equal({ ...plain, highlights: [[4, 8]] });
  });

  it('stops when the caller disconnects', async () => {
    const caller = new AbortController();
    const working = responseRecords(queryOf(''), [RECORD, RECORD, RECORD], {
      slicer: new TimeSlicer(0),
      signal: caller.signal,
    }).catch((failure: unknown) => failure);
    await nextTurn();
    caller.abort(new Error('gone'));
    expect(await working).to.have.property('message', 'gone');
  });

  it('does not start for a caller that has disconnected', async () => {
    const gone = AbortSignal.abort(new Error('gone'));
    const error: unknown = await responseRecords(queryOf(''), [RECORD], {
      slicer: new TimeSlicer(),
      signal: gone,
    }).catch((failure: unknown) => failure);
    expect(error).to.have.property('message', 'gone');
  });
});

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

  it('do not overlap', async () => {
    expect(await highlights('phrase', 'a b,b c', 'a b c')).to.deep.equal([[0, 3]]);
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

  it('yield to the event loop between two lines', async () => {
    const page = Array.from({ length: 200 }, () => 'a'.repeat(65_536));
    const { others, answers } = await turnsOfOthers('b', page, new TimeSlicer());
    expect(answers).to.have.length(200);
    expect(others).to.be.above(1);
  });

  it('yield to the event loop between two matches of a line', async () => {
    const { others, answers } = await turnsOfOthers('a.*b|a', ['a'.repeat(100)], new TimeSlicer(0));
    expect(answers[0]?.highlights).to.have.length(100);
    expect(others).to.be.at.least(100);
  });

  it('are not searched beyond the limit', async () => {
    const { others, answers } = await turnsOfOthers('a.*b|a', ['a'.repeat(3_000)], new TimeSlicer(0));
    expect(answers[0]?.highlights).to.have.length(1_000);
    expect(others).to.be.within(1_000, 1_010);
  });

  it('end with the signal of the query', async () => {
    const query = decoder.decode(new URLSearchParams({ highlight: 'true', log_query: 'b' }));
    const gone = AbortSignal.abort(new Error('gone'));
    const failure = await responseRecords(query, [record('b')], {
      slicer: new TimeSlicer(),
      signal: gone,
    }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.have.property('message', 'gone');
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

  it('are made before further records are read', () => {
    let read = 0;
    const many = (function* () {
      for (; read < 10_000; read++) yield record('a'.repeat(10));
    })();
    pieces(many).next();
    expect(read).to.equal(250);
  });
});
