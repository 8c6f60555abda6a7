// Tests of the printer columns of custom resources: cells that the server cannot print, and the sort order. The
// end-to-end tests compare the other cells with kube-apiserver.
import { expect } from 'chai';
import { comparisonBy } from '../../../../../server/resources/kind-profile.ts';
import { kindProfile } from '../../../../../server/resources/profiles/kind-profiles.ts';
import { KindCache, plain, WIDGETS } from '../../../../support/platform/kind-cache.ts';

/** Returns the cell of one column; undefined if Tables cannot be printed. */
function cell(type: string, value: unknown, jsonPath = '.spec.value'): unknown {
  const columns = [{ name: 'Value', type, jsonPath }];
  const custom = { revision: '1', columns, selectableFields: [] };
  const profile = kindProfile({ ...WIDGETS, custom }, 'platform.io');
  const facts = profile.facts({ spec: { value } });
  const identity = { ...{ key: 'a', name: 'a', namespace: '', uid: '', resourceVersion: '1' }, checksum: 0 };
  return profile.columns()?.[1]?.cell({ ...identity, labels: {}, facts }, new Date());
}

describe('the cell of a printer column', () => {
  // The digits of a large number are lost, and Go sorts the members.
  for (const [type, value] of [
    ['integer', 2 ** 53],
    ['string', 2 ** 53],
    ['string', { b: 1 }],
    ['string', [[1]]],
  ] as const) {
    it(`of the type ${type} is unknown for ${JSON.stringify(value)}`, () => {
      expect(cell(type, value)).to.equal(undefined);
    });
  }

  // Kubernetes and RFC 9535 can differ.
  for (const jsonPath of [
    // Kubernetes splits this name at its dot.
    ".spec.value.labels['a.b/c']",
    '..port',
    '.spec.value.hosts[0:1]',
    '.spec.value.ports[*].port[0]',
    '.spec.value.ports[?(@.port>79)].name',
  ]) {
    it(`is unknown at ${jsonPath}`, () => {
      const value = { hosts: ['a', 'b'], ports: [{ name: 'web', port: 80 }], labels: { 'a.b/c': 'x' } };
      expect(cell('string', value, jsonPath)).to.equal(undefined);
    });
  }
});

describe('the sort order of a printer column', () => {
  for (const [type, values] of [
    ['integer', [undefined, 2, 10]],
    ['string', [undefined, 'a', 'b']],
    ['boolean', [undefined, false, true]],
    ['date', [undefined, '2026-01-01T00:00:00+02:00', '2026-01-01T00:00:00Z']],
  ] as const) {
    it(`of the type ${type} starts with missing values`, () => {
      const columns = [{ name: 'Value', type, jsonPath: '.spec.value' }];
      const cache = new KindCache({ ...WIDGETS, custom: { revision: '1', columns, selectableFields: [] } });
      cache.fill(9, values.map((value, i) => plain(`shop/${i}`, i + 1, {}, { spec: { value } })).reverse());
      const all = Array.from(cache.snapshot().objects(), ({ identity }) => identity);
      const sorted = all.reverse().sort(comparisonBy(cache.profile, 'Value'));
      expect(sorted.map(({ name }) => name)).to.deep.equal(['0', '1', '2']);
    });
  }
});
