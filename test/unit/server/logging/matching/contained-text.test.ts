import { expect } from 'chai';
import * as fc from 'fast-check';
import { containsOneOf } from '../../../../../server/logging/matching/contained-text.ts';

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '-', 'ß', '👍'), minLength: 1, maxLength: 6 });

describe('one of many texts in a name', () => {
  it('is found exactly where one of them is', () => {
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 60 }), letters, letters, (texts, begin, end) => {
        const name = begin + end;
        return containsOneOf(texts)(name) === texts.some((text) => name.includes(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('is found at either end, and also where texts begin with one another', () => {
    const numbers = Array.from({ length: 1000 }, (_, number) => String(number).padStart(4, '0'));
    const isIn = containsOneOf(['ab', 'abc', 'b', ...numbers]);
    expect(['0999-x', 'x-0000', 'x0512x', 'xab', 'ba'].map(isIn)).to.deep.equal([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(['x-1000', '', '999', 'a', 'c'].map(isIn)).to.deep.equal([false, false, false, false, false]);
  });
});
