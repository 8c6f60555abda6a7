// Tests of the suggestions for mistyped names.
import { expect } from 'chai';
import { suggestion } from '../../../../apis/reading/suggestion.ts';

describe('suggestion', () => {
  const known = ['port', 'address', 'certFile', 'keyFile'];

  for (const [mistyped, meant] of [
    ['prot', 'port'],
    ['adress', 'address'],
    ['certfile', 'certFile'],
    ['keyFiles', 'keyFile'],
    ['cert', 'certFile'],
    ['addresses-of-all', 'address'],
    ['ad', undefined],
    ['x', undefined],
    ['completely-else', undefined],
  ] as const) {
    it(`suggests ${meant} for ${mistyped}`, () => expect(suggestion(mistyped, known)).to.equal(meant));
  }
});
