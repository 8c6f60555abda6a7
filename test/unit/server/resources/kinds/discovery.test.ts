// Tests of reading resources from aggregated discovery.
import { expect } from 'chai';
import { assert, jsonValue, property } from 'fast-check';
import { kindsOf, unavailableIn } from '../../../../../server/resources/kinds/discovery.ts';
import { PODS } from '../../../../support/platform/kind-cache.ts';
import { discoveryOf } from '../../../../support/platform/kind-cluster.ts';

const CRONTABS = {
  group: 'example.com',
  version: 'v2',
  plural: 'crontabs',
  kind: 'CronTab',
  namespaced: true,
};

describe('kindsOf', () => {
  it('returns the preferred version, which discovery lists first', () => {
    const other = { ...CRONTABS, version: 'v1' };
    const onlyOld = { ...other, plural: 'olds', kind: 'Old' };
    expect(kindsOf(discoveryOf([CRONTABS, other, onlyOld]))).to.deep.equal([CRONTABS, onlyOld]);
  });

  it('omits kinds that cannot be listed and watched', () => {
    expect(kindsOf(discoveryOf([PODS], ['get', 'list']))).to.deep.equal([]);
    expect(kindsOf(discoveryOf([PODS], ['create']))).to.deep.equal([]);
  });

  it('returns no kinds of an aggregated API that does not respond', () => {
    const stale = { metadata: { name: 'broken.io' }, versions: [{ version: 'v1', freshness: 'Stale' }] };
    expect(kindsOf({ items: [stale] })).to.deep.equal([]);
    expect(unavailableIn({ items: [stale] })).to.deep.equal([{ group: 'broken.io', version: 'v1' }]);
    expect(unavailableIn(discoveryOf([PODS, CRONTABS]))).to.deep.equal([]);
  });

  it('reads any value without an error', () => {
    assert(
      property(jsonValue(), (value) => {
        for (const list of [value, { items: value }, { items: [{ versions: value }] }]) {
          expect(kindsOf(list)).to.be.an('array');
          expect(unavailableIn(list)).to.be.an('array');
        }
      }),
    );
  });
});
