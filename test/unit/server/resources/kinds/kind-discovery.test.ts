// Tests of reading resources from aggregated discovery.

import { expect } from 'chai';
import { assert, jsonValue, property } from 'fast-check';
import { PODS } from '../../../../../server/resources/kind.ts';
import { kindsOf, unavailableIn } from '../../../../../server/resources/kinds/kind-discovery.ts';
import { discoveryOf } from '../../../../support/platform/kind-cluster.ts';

describe('kindsOf', () => {
  it('omits kinds that cannot be listed and watched', () => {
    expect(kindsOf(discoveryOf([PODS], ['get', 'list']))).to.deep.equal([]);
    expect(kindsOf(discoveryOf([PODS], ['create']))).to.deep.equal([]);
  });

  it('omits names that would be those of kinds of another group', () => {
    const widgets = { ...PODS, group: 'example.com', plural: 'widgets' };
    const other = { ...widgets, group: 'com', plural: 'widgets.example' };
    const kinds = kindsOf(discoveryOf([widgets, other, { ...widgets, plural: '../pods' }]));
    expect(kinds.map(({ group, plural }) => [group, plural])).to.deep.equal([['example.com', 'widgets']]);
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
