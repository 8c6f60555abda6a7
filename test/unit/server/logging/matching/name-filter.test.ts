// Tests of the matcher of names.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { containsOneOf, nameMatcher } from '../../../../../server/logging/matching/name-filter.ts';

describe('nameMatcher', () => {
  it('compares whole names exactly, and parts without the case of ASCII letters', () => {
    const exact = nameMatcher({ exact: ['shop'] });
    expect(['shop', 'Shop', 'shops'].map(exact)).to.deep.equal([true, false, false]);
    const parts = nameMatcher({ contains: ['HO', 'ank'] });
    expect(['shop', 'bANk', 'other'].map(parts)).to.deep.equal([true, true, false]);
    // The Kelvin sign folds to k only beyond ASCII.
    expect(nameMatcher({ contains: ['k'] })('\u212a')).to.equal(false);
  });
});

describe('containsOneOf', () => {
  const letters = fc.string({
    unit: fc.constantFrom('a', 'b', '-', '.', '[', '👍'),
    minLength: 1,
    maxLength: 6,
  });

  it('agrees with a search for each text', () => {
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 60 }), letters, letters, (texts, begin, end) => {
        const name = begin + end;
        return containsOneOf(texts)(name) === texts.some((text) => name.includes(text));
      }),
      { numRuns: 2000 },
    );
  });
});
