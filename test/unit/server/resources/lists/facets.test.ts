// Tests of the maximum number of values in a facet. The integration tests compare the counts with a real cluster.
import { expect } from 'chai';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { PODS } from '../../../../../server/resources/kind.ts';
import { facetsOf } from '../../../../../server/resources/lists/facets.ts';
import { KindCache, plain } from '../../../../support/platform/kind-cache.ts';

describe('facetsOf', () => {
  it('returns the most frequent values first, at most 1,000', async () => {
    const objects = Array.from({ length: 2_500 }, (_, i) => {
      const labels = { app: i < 500 ? 'z' : `app-${String(i % 1_500).padStart(4, '0')}` };
      return plain(`shop/pod-${i}`, i + 1, { labels });
    });
    const pods = new KindCache(PODS).fill(objects.length, objects);
    const identities = Array.from(pods.snapshot().objects(), ({ identity }) => identity);
    const facets = await facetsOf(identities, ['label:app'], new TimeSlicer(0).of({}));
    const counts = Object.entries(facets['label:app'] ?? {});
    expect(counts).to.have.length(1_000);
    expect(counts.slice(0, 2)).to.deep.equal([
      ['z', 500],
      ['app-0500', 2],
    ]);
  });
});
