// Tests of the JSON of an object under `/kapis`.
import { expect } from 'chai';
import { assert, constantFrom, dictionary, property, string } from 'fast-check';
import { record } from '../../../../apis/reading/unknown-value.ts';
import { PlatformItem } from '../../../../server/lists/platform-item.ts';
import { NodeCache, node } from '../../../support/cluster/node-cache.ts';

const PLACE = { path: '/kapis/resources.platform.io/v1alpha3', resource: 'nodes' };
const COMPUTED = '"node.platform.io/cpu-requests":"1","node.platform.io/cpu-requests-fraction":"25%"';

/** The metadata that `/kapis` returns for a node with this metadata. */
function shown(metadata: object, computed: string): unknown {
  const cache = new NodeCache();
  const plain = node('a', 1);
  cache.fill(1, [{ ...plain, metadata: { ...metadata, ...plain.metadata } }]);
  const cached = cache.cache.snapshot().get('a');
  if (!cached) throw new Error('the node is not there');
  const text = Buffer.concat([
    ...new PlatformItem(PLACE, cache.cache.head, () => computed).parts(cached),
  ]).toString();
  expect(text.match(/"selfLink":/g)).to.have.length(1);
  // JSON parsers differ in which of two equal keys they use.
  expect(text.match(/"node\.platform\.io\/cpu-requests":/g) ?? []).to.have.length.below(2);
  return (JSON.parse(text) as { metadata: unknown }).metadata;
}

describe('PlatformItem', () => {
  it('replaces a stored annotation by the computed one of the same name', () => {
    const stored = { annotations: { 'node.platform.io/cpu-requests': 'lie', 'x/cpu-requests': 'kept' } };
    expect(shown(stored, COMPUTED)).to.have.deep.property('annotations', {
      'x/cpu-requests': 'kept',
      'node.platform.io/cpu-requests': '1',
      'node.platform.io/cpu-requests-fraction': '25%',
    });
  });

  it('has the kind PartialObjectMetadata if it has only metadata', () => {
    const cache = new NodeCache();
    const plain = node('a', 1);
    for (const stored of ['', '/stored']) {
      const metadata = { ...plain.metadata, ...(stored ? { selfLink: stored } : {}) };
      cache.fill(1, [{ ...plain, metadata }]);
      const cached = cache.cache.snapshot().get('a');
      if (!cached) throw new Error('the node is not there');
      for (const computed of ['', COMPUTED]) {
        const item = new PlatformItem(PLACE, cache.cache.head, () => computed);
        const text = Buffer.concat([...item.parts(cached, 'Metadata')]).toString();
        const whole = record(JSON.parse(Buffer.concat([...item.parts(cached)]).toString()));
        expect(JSON.parse(text)).to.deep.equal({
          kind: 'PartialObjectMetadata',
          apiVersion: 'meta.k8s.io/v1',
          metadata: whole['metadata'],
        });
      }
    }
  });

  it('replaces a stored selfLink, and preserves all other metadata', () => {
    assert(
      property(dictionary(string(), string()), constantFrom('', COMPUTED), (labels, computed) => {
        const metadata = { labels, annotations: labels, note: 'é "x"' };
        const { annotations, ...rest } = record(shown({ selfLink: '/stored', ...metadata }, computed));
        const { labels: _labels, ...expected } = { ...metadata, ...node('a', 1).metadata };
        const { annotations: _annotations, ...others } = expected;
        expect(rest).to.deep.include({ ...others, selfLink: `${PLACE.path}/nodes/a` });
        expect(annotations).to.deep.include({ ...labels });
      }),
    );
  });
});
