import { expect } from 'chai';
import { elided } from '../../../../apis/reading/elided-text.ts';

describe('an elided text', () => {
  it('is whole while it is not too long', () => {
    expect(elided('', 6)).to.equal('');
    expect(elided('abcdef', 6)).to.equal('abcdef');
  });

  it('has the beginning and the end of one that is', () => {
    expect(elided('abcdefg', 6)).to.equal('abc…efg');
    expect(elided(`path "/${'x'.repeat(100_000)}" is forbidden`, 40)).to.match(
      /^path "\/x+…x+" is forbidden$/,
    );
  });

  it('is text also where the cut goes through a character', () => {
    expect(elided('ab😀cd😀ef', 6).isWellFormed()).to.equal(true);
  });
});
