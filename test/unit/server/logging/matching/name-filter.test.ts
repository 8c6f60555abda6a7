import { expect } from 'chai';
import { nameMatcher } from '../../../../../server/logging/matching/name-filter.ts';

describe('a filter of names', () => {
  it('that is none lets every name pass', () => {
    expect(nameMatcher(undefined)('shop')).to.equal(true);
  });

  it('holds whole names by their case, and parts of them whatever the case of ASCII letters', () => {
    const exact = nameMatcher({ exact: ['shop'] });
    expect(['shop', 'Shop', 'shops'].map(exact)).to.deep.equal([true, false, false]);
    const parts = nameMatcher({ contains: ['HO', 'ank'] });
    expect(['shop', 'bANk', 'other'].map(parts)).to.deep.equal([true, true, false]);
    // The sign of kelvin is a k only beyond ASCII.
    expect(nameMatcher({ contains: ['k'] })('\u212a')).to.equal(false);
  });

  it('holds both where both are given', () => {
    const both = nameMatcher({ exact: ['shop', 'bank'], contains: ['ho'] });
    expect(['shop', 'bank', 'hotel'].map(both)).to.deep.equal([true, false, false]);
  });
});
