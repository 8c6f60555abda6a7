// Tests of reading resources from aggregated discovery.
import { expect } from 'chai';
import { assert, jsonValue, property } from 'fast-check';
import { discover, kindsOf, unavailableIn } from '../../../../../server/resources/kinds/discovery.ts';
import { NAMESPACES, PODS } from '../../../../support/platform/kind-cache.ts';
import { discoveryOf, KindCluster } from '../../../../support/platform/kind-cluster.ts';

const CRONTABS = {
  group: 'example.com',
  version: 'v2',
  plural: 'crontabs',
  kind: 'CronTab',
  namespaced: true,
};

describe('kindsOf', () => {
  it('returns the kinds in the order of discovery', () => {
    const kinds = [PODS, NAMESPACES, CRONTABS];
    expect(kindsOf(discoveryOf(kinds))).to.deep.equal(kinds);
  });

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

describe('discover', () => {
  it('reads the core group first, then the other groups, in two requests', async () => {
    const cluster = await KindCluster.start(CRONTABS, PODS);
    try {
      const { kinds, unavailable } = await discover(cluster.client, AbortSignal.timeout(5_000));
      expect(kinds).to.deep.equal([PODS, CRONTABS]);
      expect(unavailable).to.deep.equal([]);
      expect([cluster.requests('/api'), cluster.requests('/apis')]).to.deep.equal([1, 1]);
    } finally {
      await cluster.stop();
    }
  });
});
