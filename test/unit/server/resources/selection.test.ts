// Tests of the evaluation of field selectors.
import { expect } from 'chai';
import { parseFieldSelector } from '../../../../apis/meta/v1/field-selector.ts';
import { fieldTests } from '../../../../server/resources/selection.ts';

describe('fieldTests', () => {
  for (const [text, value, passes] of [
    ['a=b', 'b', true],
    ['a=b', 'c', false],
    ['a=b,a==b', 'b', true],
    ['a=b,a=c', 'b', false],
    ['a=b,a!=c', 'b', true],
    ['a=b,a!=b', 'b', false],
    ['a!=b,a!=c', 'c', false],
    ['a!=b,a!=c', 'd', true],
    ['a=', '', true],
    ['a!=', '', false],
  ] as const) {
    it(`${passes ? 'matches' : 'excludes'} '${value}' by ${text}`, () => {
      expect(fieldTests(parseFieldSelector(text)).get('a')?.(value)).to.equal(passes);
    });
  }

  it('tests a field once for many terms', () => {
    const text = Array.from({ length: 1000 }, (_, i) => `a!=v${i},b!=w${i}`).join(',');
    expect([...fieldTests(parseFieldSelector(text)).keys()]).to.deep.equal(['a', 'b']);
  });
});
