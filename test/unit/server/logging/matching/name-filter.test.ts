// Tests of the search for several parts in a name.
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
});
