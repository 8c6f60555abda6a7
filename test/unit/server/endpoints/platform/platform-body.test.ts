// Tests of the cached, compressed chunks of long lists under `/kapis`.
import { expect } from 'chai';
import { ObjectFingerprints } from '../../../../../server/cache/object-fingerprints.ts';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { PlatformPieces } from '../../../../../server/endpoints/platform/platform-body.ts';
import { PlatformItem } from '../../../../../server/endpoints/platform/platform-item.ts';
import type { NodeFacts } from '../../../../../server/resources/nodes/node-facts.ts';
import { NodeCache, node } from '../../../../support/cluster/node-cache.ts';

const COUNT = 1000;

describe('PlatformPieces', () => {
  const place = { path: '/kapis/resources.platform.io/v1alpha3', resource: 'nodes' };
  const head = new NodeCache().cache.head;
  const item = new PlatformItem<NodeFacts>(place, head, new ObjectFingerprints(), undefined);
  let cache: NodeCache;

  beforeEach(() => {
    cache = new NodeCache();
    cache.fill(
      COUNT,
      Array.from({ length: COUNT }, (_, i) => node(`node-${i}`, i + 1)),
    );
  });

  const nodes = () => [...cache.cache.snapshot().objects()];
  const deflated = (pieces: PlatformPieces<NodeFacts>) =>
    Promise.all(pieces.of(nodes()).map((piece) => piece.deflated()));

  it('are compressed once, and again only where a node changed', async () => {
    const pieces = new PlatformPieces(item, new TimeSlicer());
    const before = new Set(await deflated(pieces));
    expect(new Set(await deflated(pieces))).to.deep.equal(before);
    cache.apply('MODIFIED', node('node-500', COUNT + 1));
    cache.apply('DELETED', node('node-300', COUNT + 2));
    cache.apply('ADDED', node('node-100-more', COUNT + 3));
    const recompressed = (await deflated(pieces)).filter((one) => !before.has(one));
    expect(recompressed.length).to.be.within(1, 6);
  });

  it('have a bounded size, however large the objects are', async () => {
    const large = { text: 'x'.repeat(100_000) };
    cache.fill(
      50,
      Array.from({ length: 50 }, (_, i) => node(`node-${i}`, i + 1, {}, large)),
    );
    const sizes = new PlatformPieces(item, new TimeSlicer()).of(nodes()).map((piece) => piece.json().length);
    expect(Math.max(...sizes)).to.be.within(200_000, 550_000);
  });
});
