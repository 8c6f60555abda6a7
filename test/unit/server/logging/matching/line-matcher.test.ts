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
