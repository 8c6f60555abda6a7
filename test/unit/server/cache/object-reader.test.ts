// Tests of the conversion of raw objects: labels, which tenants can write in any number.
import { expect } from 'chai';
import { ObjectReader } from '../../../../server/cache/object-reader.ts';

const SOURCE = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  source: { path: '' },
  facts: () => ({}),
};

describe('the reader of objects', () => {
  for (const count of [2, 256, 257, 20_000]) {
    it(`keeps ${count} labels, and nothing that is not a text`, () => {
      const reader = new ObjectReader(SOURCE);
      const labels = Object.fromEntries(Array.from({ length: count }, (_, i) => [`l${i}`, `v${i}`]));
      const labelsOf = (all: object) => {
        const metadata = { name: 'a', resourceVersion: '1', labels: all };
        return reader.read(Buffer.from(JSON.stringify({ metadata }))).identity.labels;
      };
      expect(labelsOf(labels)).to.deep.equal(labels);
      expect(labelsOf({ ...labels, other: 1 })).to.deep.equal(labels);
      expect(labelsOf(labels) === labelsOf(labels)).to.equal(count <= 2);
    });
  }

  it('counts the memory of short labels', () => {
    const sizeOf = (count: number): number => {
      const labels = Object.fromEntries(Array.from({ length: count }, (_, i) => [`l${i}`, '']));
      const metadata = { name: 'a', resourceVersion: '1', labels };
      return new ObjectReader(SOURCE).read(Buffer.from(JSON.stringify({ metadata }))).identity.size;
    };
    expect(sizeOf(10)).to.equal(600);
    // V8 needs 91 bytes for each label, with its characters.
    expect(sizeOf(20_000)).to.be.within(80 * 20_000, 100 * 20_000);
  });
});
