// Tests of the text filters for log lines.
import { expect } from 'chai';
import type { MatchMode } from '../../../../../apis/logging/v1alpha2/log-query.ts';
import { lineMatcher, PatternError } from '../../../../../server/logging/matching/line-matcher.ts';
import type { TextFilter } from '../../../../../server/logging/store/log-store.ts';

const filter = (
  mode: MatchMode,
  texts: readonly [string, ...string[]],
  caseSensitive = false,
): TextFilter => ({
  mode,
  texts,
  caseSensitive,
});

describe('lineMatcher', () => {
  it('finds the spans of several texts in order, without overlaps', () => {
    const matcher = lineMatcher(filter('substring', ['aba', 'x']));
    expect([...matcher.spans('xABABx aba')]).to.deep.equal([
      [0, 1],
      [1, 4],
      [5, 6],
      [7, 10],
    ]);
  });

  it('finds spans lazily', () => {
    // All spans take quadratic time: minutes.
    const [first, second] = lineMatcher(filter('regex', ['a.*b|a'], true)).spans('a'.repeat(60_000));
    expect([first, second]).to.deep.equal([
      [0, 1],
      [1, 2],
    ]);
  });

  it('rejects an invalid expression, and quotes only the expression of the caller', () => {
    for (const caseSensitive of [false, true]) {
      for (const expression of ['a(', 'a)(b', 'a)|(b']) {
        const compile = (): unknown => lineMatcher(filter('regex', [expression], caseSensitive));
        expect(compile, expression)
          .to.throw(PatternError)
          .with.property('message')
          .that.matches(/^the regular expression is invalid: \w/)
          .and.includes(`\`${expression}\``);
      }
    }
  });

  it('rejects large ranges of characters, which take long to compile', () => {
    const compile = (expression: string) => (): unknown => lineMatcher(filter('regex', [expression]));
    for (const [range, most] of [
      ['a-\uffff', 4],
      ['--\uffff', 4],
      ['a-\u{10ffff}', 2],
      ['a-\\x{10ffff}', 2],
      ['\\x{20}-\\x{0ffff}', 4],
    ] as const) {
      const many = range.repeat(most + 1);
      for (const each of [`[${many}]`, `(?i)[${many}]`, `[${range}]`.repeat(most + 1)]) {
        expect(compile(each), each).to.throw(PatternError, 'ranges of too many characters');
      }
      expect(compile(`[${range.repeat(most)}]`), range).not.to.throw();
    }
    for (const each of ['[0-9A-Za-z\\w-]+-\\d', '[а-яё]+ ', '[À-ÿ]'])
      expect(compile(each.repeat(15)), each).not.to.throw();
  });

  it('takes linear time for a phrase of repeated words', () => {
    const line = 'a '.repeat(100_000);
    expect(lineMatcher(filter('phrase', [`${'a '.repeat(199)}b`])).matches(`${line}b ${line}`)).to.equal(
      true,
    );
    expect(lineMatcher(filter('phrase', [`${'a '.repeat(199)}c`])).matches(`${line}xc`)).to.equal(false);
  });

  it('takes linear time for a pattern that makes engines backtrack', () => {
    // Exponential time in a backtracking engine.
    expect(lineMatcher(filter('regex', ['(a+)+(a+)+$'])).matches(`${'a'.repeat(5_000)}b`)).to.equal(false);
  });
});
