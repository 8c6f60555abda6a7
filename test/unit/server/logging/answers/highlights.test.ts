import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { Turns } from '../../../../../server/concurrency/turns.ts';
import { answered } from '../../../../../server/logging/answers/answered-records.ts';
import type { LogRecord } from '../../../../../server/logging/log-store.ts';
import { patternError } from '../../../../../server/logging/matching/regex-dialect.ts';

const decoder = newLogQueryDecoder({ pattern: patternError });
const record = (log: string): LogRecord => ({
  time: '2026-11-20T10:00:00.000000001Z',
  log,
  namespace: 'shop',
  pod: 'cart-0',
  container: 'cart',
});

const { signal } = new AbortController();

async function highlights(match: string, text: string, log: string) {
  const query = decoder.decode(new URLSearchParams({ highlight: 'true', match, log_query: text }));
  const [answer] = await answered(query, [record(log)], { turns: new Turns(), signal });
  return answer?.highlights ?? [];
}

describe('highlights', () => {
  it('are counted in UTF-16 code units, past emoji and marks', async () => {
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

  it('do not overlap where texts do', async () => {
    expect(await highlights('phrase', 'a b,b c', 'a b c')).to.deep.equal([[0, 5]]);
  });

  it('are nowhere that nothing stands, though a pattern finds that too', async () => {
    expect(await highlights('regex', 'x*', 'axxb xb')).to.deep.equal([
      [1, 3],
      [5, 6],
    ]);
    expect(await highlights('regex', 'x*', 'none of those')).to.deep.equal([]);
  });

  it('are a thousand at most, so that no line makes an answer many times its size', async () => {
    const places = await highlights('substring', 'a', 'a'.repeat(5_000));
    expect(places).to.have.length(1_000);
    expect(places.at(-1)).to.deep.equal([999, 1_000]);
  });

  it('are looked for in the first 65,536 characters, and none where those end', async () => {
    const log = `${'b'.repeat(65_530)} aa aab a`;
    expect(await highlights('substring', 'aa', log)).to.deep.equal([[65_531, 65_533]]);
    expect(await highlights('phrase', 'aa', log)).to.deep.equal([[65_531, 65_533]]);
    expect(await highlights('regex', 'a+$', log)).to.deep.equal([]);
    expect(await highlights('substring', 'a', 'b'.repeat(65_535).concat('a'))).to.deep.equal([
      [65_535, 65_536],
    ]);
  });

  /** How often somebody else had his turn while the lines were answered. */
  async function turnsOfOthers(text: string, lines: readonly string[], turns: Turns) {
    const query = decoder.decode(new URLSearchParams({ highlight: 'true', match: 'regex', log_query: text }));
    let others = 0;
    const immediate = (): void => {
      others++;
      timer = setImmediate(immediate);
    };
    let timer = setImmediate(immediate);
    const answers = await answered(query, lines.map(record), { turns, signal });
    clearImmediate(timer);
    return { others, answers };
  }

  it('of a page leave room for everybody else between two lines', async () => {
    const page = Array.from({ length: 200 }, () => 'a'.repeat(65_536));
    const { others, answers } = await turnsOfOthers('b', page, new Turns());
    expect(answers).to.have.length(200);
    expect(others).to.be.above(1);
  });

  it('of one line leave room between two places, each of which may take a look at all of the rest', async () => {
    const { others, answers } = await turnsOfOthers('a.*b|a', ['a'.repeat(100)], new Turns(0));
    expect(answers[0]?.highlights).to.have.length(100);
    expect(others).to.be.at.least(100);
  });

  it('are not looked for behind the last one that is told', async () => {
    const { others, answers } = await turnsOfOthers('a.*b|a', ['a'.repeat(3_000)], new Turns(0));
    expect(answers[0]?.highlights).to.have.length(1_000);
    expect(others).to.be.within(1_000, 1_010);
  });

  it('end with the query', async () => {
    const query = decoder.decode(new URLSearchParams({ highlight: 'true', log_query: 'b' }));
    const gone = AbortSignal.abort(new Error('gone'));
    const failure = await answered(query, [record('b')], { turns: new Turns(), signal: gone }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.have.property('message', 'gone');
  });
});
