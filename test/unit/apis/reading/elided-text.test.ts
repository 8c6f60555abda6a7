// Tests of the function that shortens texts.
import { expect } from 'chai';
import { elided } from '../../../../apis/reading/elided-text.ts';

describe('elided', () => {
  it('returns a short text unchanged', () => {
    expect(elided('', 6)).to.equal('');
    expect(elided('abcdef', 6)).to.equal('abcdef');
  });

  it('keeps the beginning and the end of a long text', () => {
    expect(elided('abcdefg', 6)).to.equal('abc…efg');
    expect(elided(`path "/${'x'.repeat(100_000)}" is forbidden`, 40)).to.match(
      /^path "\/x+…x+" is forbidden$/,
    );
  });

  it('is well-formed if it is cut within a character', () => {
    expect(elided('ab😀cd😀ef', 6).isWellFormed()).to.equal(true);
  });
});
