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
    const text = 'mein wagen\napp=cart\ninit\nregistry.example/cart:1';
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
