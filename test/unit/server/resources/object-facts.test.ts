// Tests of the values extracted from an object for filters, sorting and search.
import { expect } from 'chai';
import { assert, jsonValue, property } from 'fast-check';
import { FactsReader } from '../../../../server/resources/object-facts.ts';

const reader = new FactsReader('platform.io');

describe('the facts of an object', () => {
  it('have a text of alias, labels and images in lower case', () => {
    const containers = [{ image: 'Registry.example/cart:1' }, { image: 'Registry.example/cart:1' }];
    const initContainers = [{ image: 'init' }];
    const metadata = { labels: { App: 'Cart' }, annotations: { 'platform.io/alias-name': 'Mein Wagen' } };
    const text = 'mein wagen\ninit\nregistry.example/cart:1\napp=cart';
    const pod = { initContainers, containers };
    const template = { spec: pod };
    for (const spec of [pod, { template }, { jobTemplate: { spec: { template } } }]) {
      expect(reader.read({ metadata, spec }).searchText).to.equal(text);
    }
  });

  it('replace annotations that are too long for a selector', () => {
    const annotations = { short: 'x'.repeat(63), long: 'x'.repeat(64) };
    const { annotations: kept } = reader.read({ metadata: { annotations } });
    expect(kept['short']).to.equal(annotations.short);
    expect(kept['long']).to.be.a('string').with.length.below(2);
  });

  it('are bounded, however large the object is', () => {
    const long = 'x'.repeat(100_000);
    const many = Array.from({ length: 10_000 }, (_, i) => i);
    const labels = Object.fromEntries(many.map((i) => [`label-${i}`, 'x']));
    const ownerReferences = many.map((i) => ({ uid: `${i}${long}`, kind: `${i}${long}` }));
    const containers = many.map((i) => ({ image: `${i}${'x'.repeat(100)}` }));
    const metadata = { labels, ownerReferences, annotations: { 'platform.io/alias-name': long } };
    const { alias, owners, searchText } = reader.read({ metadata, spec: { containers } });
    const [status = ''] = reader.words([long]);
    expect(JSON.stringify([alias, owners, searchText, status])).to.have.length.below(64 << 10);
    expect(searchText).to.include('\n0xxx');
  });

  it('are read from any value without an error', () => {
    assert(
      property(jsonValue(), jsonValue(), (metadata, spec) => {
        for (const object of [
          metadata,
          { metadata, spec },
          { metadata: { annotations: spec, labels: spec } },
        ]) {
          expect(reader.read(object).searchText).to.be.a('string');
        }
      }),
    );
  });
});
