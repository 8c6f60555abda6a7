// Tests of the search for several parts in a name.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { containsOneOf } from '../../../../../server/logging/matching/name-filter.ts';

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

  it('finds a part among more texts than a pattern can have', () => {
    const matches = containsOneOf(Array.from({ length: 1_000 }, (_, i) => `${i}${'a'.repeat(200)}`));
    expect([`b7${'a'.repeat(200)}b`, `7${'a'.repeat(199)}`, 'b'].map(matches)).to.deep.equal([
      true,
      false,
      false,
    ]);
  });
});
