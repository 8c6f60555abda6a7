// Tests of the chunks of long lists under `/kapis`.

import { expect } from 'chai';
import { LRUCache } from 'lru-cache';
import { ObjectFingerprints } from '../../../../server/cache/object-fingerprints.ts';
import { TimeSlicer } from '../../../../server/concurrency/time-slicer.ts';
import { PlatformPieces } from '../../../../server/lists/platform-body.ts';
import { PlatformItem } from '../../../../server/lists/platform-item.ts';
import type { KindFacts } from '../../../../server/resources/profiles/kind-values.ts';
import { NodeCache, node } from '../../../support/cluster/node-cache.ts';

describe('PlatformPieces', () => {
  it('have a bounded size, however large the objects are', () => {
    const nodes = new NodeCache();
    const large = { text: 'x'.repeat(100_000) };
    const many = Array.from({ length: 50 }, (_, i) => node(`node-${i}`, i + 1, {}, large));
    nodes.fill(50, many);
    const { cache } = nodes;
    const place = { path: '/kapis/resources.platform.io/v1alpha3', resource: 'nodes' };
    const item = new PlatformItem<KindFacts>(place, cache.head, new ObjectFingerprints(), undefined);
    const pieces = new PlatformPieces(
      item,
      new LRUCache({ maxSize: 1 << 20, sizeCalculation: ({ length }) => length }),
    ).of([...cache.snapshot().objects()], new TimeSlicer().of({}));
    const sizes = Array.from(pieces, (piece) => piece.json().length);
    expect(Math.max(...sizes)).to.be.within(200_000, 550_000);
  });
});
