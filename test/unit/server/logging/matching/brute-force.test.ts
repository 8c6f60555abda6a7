// Tests of the matching of log lines against a reference implementation.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { LEVELS } from '../../../../../apis/logging/v1alpha2/log-query.ts';
import { wordsOf } from '../../../../../apis/logging/v1alpha2/log-query-validation.ts';
import { logData } from '../../../../../hack/log-data/log-data.ts';
import { ODD_LINES } from '../../../../../hack/log-data/odd-lines.ts';
import { levelMatcher } from '../../../../../server/logging/matching/levels.ts';
import { lineMatcher } from '../../../../../server/logging/matching/line-matcher.ts';
import type { TextFilter } from '../../../../../server/logging/store/log-store.ts';
import { TEXTS } from '../../../../conformance/log-store/texts.ts';
import { levelsOf } from '../../../../support/logging/brute-force/levels.ts';
import { textMatcher } from '../../../../support/logging/brute-force/text.ts';
import { words } from '../../../../support/logging/brute-force/words.ts';
import { RandomSelections } from '../../../../support/logging/random-selections.ts';

const records = [...logData({ lines: 3_000 }).records()];
const lines = [...new Set(records.map(({ log }) => log))];

const hard = [...ODD_LINES, ...lines.slice(0, 60)].filter((line) => line.length < 1_000);

/** Compares the matcher with the reference implementation. */
function compare(filter: TextFilter, some: readonly string[]): void {
  const says = textMatcher(filter);
  const matcher = lineMatcher(filter);
  for (const line of some) {
    const expected = says(line);
    expect(matcher.matches(line), `${filter.texts.join()} in ${line}`).to.equal(expected);
  }
}

describe('line matching compared with a brute-force implementation', () => {
  it('splits lines into the same words', () => {
    for (const line of lines) expect(wordsOf(line), line).to.deep.equal(words(line));
  });

  it('detects the same levels', () => {
    for (const level of LEVELS) {
      const matches = levelMatcher([level]);
      for (const line of lines)
        expect(matches(line), `${level}: ${line}`).to.equal(levelsOf(line).includes(level));
    }
  });

  for (const [mode, texts] of TEXTS) {
    it(`finds the same lines for hard texts by ${mode}`, () => {
      for (const text of texts) {
        for (const caseSensitive of [false, true]) {
          compare({ mode, texts: [text], caseSensitive }, hard);
        }
      }
    });
  }

  it('finds the same lines for random texts', () => {
    const short = lines.filter((line) => line.length < 500);
    const texts = new RandomSelections(records, 'ns').texts();
    const some = fc.subarray(short, { minLength: 200, maxLength: 200 });
    fc.assert(fc.property(texts, some, compare), { numRuns: 50, endOnFailure: true });
  });
});
