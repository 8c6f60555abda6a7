// Tests of the sort keys of lists.
import { expect } from 'chai';
import { comparing, comparisonBy, sortKeysOf } from '../../../../server/resources/kind-profile.ts';
import { KindCache, PODS, plain } from '../../../support/platform/kind-cache.ts';

const created = (minute: number) => ({ creationTimestamp: `2026-01-01T00:0${minute}:00Z` });
const pods = new KindCache(PODS).fill(4, [
  plain('shop/b', 1, created(1), { status: { phase: 'Running' } }),
  plain('bank/c', 2, created(3), { status: { phase: 'Pending' } }),
  plain('shop/a', 3, created(2), { status: { phase: 'Running' } }),
  plain('bank/a', 4, created(2), { status: { phase: 'Failed' } }),
]);

function sorted(key: string, profile = pods.profile): string[] {
  const all = Array.from(pods.snapshot().objects(), ({ identity }) => identity);
  return all.sort(comparisonBy(profile, key)).map((object) => object.key);
}

describe('the sort keys of every kind', () => {
  it('are preceded by those of the kind', () => {
    const profile = { ...pods.profile, sortKeys: { status: comparing(({ name }) => name) } };
    expect(sorted('status', profile)).to.deep.equal(sorted('name'));
    expect(sortKeysOf(profile).filter((key) => key === 'status')).to.have.length(1);
  });

  it('are the only ones', () => {
    for (const key of ['toString', '__proto__', 'unknown']) {
      expect(() => comparisonBy(pods.profile, key), key).to.throw(TypeError);
      expect(sortKeysOf(pods.profile)).not.to.include(key);
    }
  });
});
