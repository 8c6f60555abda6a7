// Tests of the printer columns of custom resources: values, sort order and cells.
import { expect } from 'chai';
import type { PrinterColumn } from '../../../../../server/resources/kind.ts';
import { comparisonBy } from '../../../../../server/resources/kind-profile.ts';
import { kindProfile } from '../../../../../server/resources/profiles/kind-profiles.ts';
import { KindCache, plain, WIDGETS } from '../../../../support/platform/kind-cache.ts';

const NOW = new Date('2026-01-01T00:10:00Z');

function profileOf(...columns: PrinterColumn[]): ReturnType<typeof kindProfile> {
  return kindProfile({ ...WIDGETS, custom: { revision: '1', columns, selectableFields: [] } }, 'platform.io');
}

/** Returns the cell of one column; undefined if Tables cannot be printed. */
function cell(type: string, value: unknown, jsonPath = '.spec.value'): unknown {
  const profile = profileOf({ name: 'Value', type, jsonPath });
  const facts = profile.facts(value === undefined ? { spec: {} } : { spec: { value } });
  const identity = { ...{ key: 'a', name: 'a', namespace: '', uid: '', resourceVersion: '1' }, checksum: 0 };
  return profile.columns()?.[1]?.cell({ ...identity, labels: {}, facts }, NOW);
}

describe('the cell of a printer column', () => {
  for (const [type, value, printed] of [
    ['string', 'blue', 'blue'],
    ['string', 3, '3'],
    ['string', 0.5, '0.5'],
    ['string', 1234567.5, '1.2345675e+06'],
    ['string', 0.00001, '1e-05'],
    ['string', true, 'true'],
    ['string', ['a<b', 1, null], '["a\\u003cb",1,null]'],
    ['string', null, '<no value>'],
    ['string', undefined, null],
    ['integer', 3, 3],
    ['integer', -2.7, -2],
    ['integer', '3', null],
    ['integer', null, null],
    ['integer', undefined, null],
    ['number', 0.5, 0.5],
    ['number', '0.5', null],
    ['boolean', false, false],
    ['boolean', 'false', null],
    ['date', '2026-01-01T00:00:00Z', '10m'],
    ['date', '2026-01-01T01:05:00+01:00', '5m'],
    ['date', '2026-01-01T00:09:58.5Z', '1s'],
    ['date', '2026-02-01T00:00:00Z', '<invalid>'],
    ['date', '2025-02-30T00:00:00Z', '<invalid>'],
    ['date', '2025-02-03', '<invalid>'],
    ['date', '', '<unknown>'],
    ['date', 1, null],
    ['date', undefined, null],
    // The text of these values is unknown: their digits are lost, and Go sorts the members.
    ['integer', 2 ** 53, undefined],
    ['string', 2 ** 53, undefined],
    ['string', { b: 1 }, undefined],
    ['string', [[1]], undefined],
  ] as const) {
    it(`of the type ${type} is ${JSON.stringify(printed)} for ${JSON.stringify(value)}`, () => {
      expect(cell(type, value)).to.equal(printed);
    });
  }

  for (const [jsonPath, printed] of [
    ['.spec.value.hosts[0]', 'a'],
    ['.spec.value.hosts[-1]', 'b'],
    ['.spec.value.hosts[2]', null],
    ['.spec.value.hosts[*]', 'a'],
    ['.spec.value.ports[?(@.name=="web")].port', '80'],
    [".spec.value.ports[?(@.name == 'none')].port", null],
    ['.spec.value.labels.a\\.b/c', 'x'],
    // Kubernetes and RFC 9535 can differ.
    // Kubernetes splits this name at its dot.
    [".spec.value.labels['a.b/c']", undefined],
    ['..port', undefined],
    ['.spec.value.hosts[0:1]', undefined],
    ['.spec.value.ports[*].port[0]', undefined],
    ['.spec.value.ports[?(@.port>79)].name', undefined],
  ] as const) {
    it(`at ${jsonPath} is ${JSON.stringify(printed)}`, () => {
      const value = { hosts: ['a', 'b'], ports: [{ name: 'web', port: 80 }], labels: { 'a.b/c': 'x' } };
      expect(cell('string', value, jsonPath)).to.equal(printed);
    });
  }

  it('is the age without printer columns', () => {
    const columns = profileOf()
      .columns()
      ?.map(({ name, type }) => [name, type]);
    expect(columns).to.deep.equal([
      ['Name', 'string'],
      ['Age', 'date'],
    ]);
  });
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
