// Tests of the facets of a list.
import { expect } from 'chai';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { facetsOf } from '../../../../../server/resources/lists/facets.ts';
import { KindCache, type PlainObject, PODS, plain } from '../../../../support/platform/kind-cache.ts';

const owned = (...kinds: string[]) => ({ ownerReferences: kinds.map((kind) => ({ uid: kind, kind })) });
const PHASE = { status: { phase: 'Running' } };

function facets(objects: readonly PlainObject[], names: readonly string[]) {
  const pods = new KindCache(PODS).fill(objects.length, objects);
  const identities = Array.from(pods.snapshot().objects(), ({ identity }) => identity);
  return facetsOf(identities, names, new TimeSlicer(0));
}

describe('facetsOf', () => {
  it('counts by status, namespace, kind of the owner and label', async () => {
    const objects = [
      plain('shop/a', 1, { labels: { app: 'cart' }, ...owned('ReplicaSet', 'ReplicaSet', 'Job') }, PHASE),
      plain('shop/b', 2, { labels: { app: '' }, ...owned('ReplicaSet') }, PHASE),
      plain('bank/c', 3, { labels: { other: 'cart' } }, { status: { phase: 'Pending' } }),
      plain('bank/d', 4),
    ];
    const names = ['status', 'namespace', 'ownerKind', 'label:app', 'label:toString', 'status'];
    expect(await facets(objects, names)).to.deep.equal({
      status: { Running: 2, Pending: 1 },
      namespace: { shop: 2, bank: 2 },
      ownerKind: { ReplicaSet: 2, Job: 1 },
      'label:app': { cart: 1 },
      'label:toString': {},
    });
  });

  it('returns the most frequent values first, at most 1,000', async () => {
    const objects = Array.from({ length: 2_500 }, (_, i) => {
      const labels = { app: i < 500 ? 'z' : `app-${String(i % 1_500).padStart(4, '0')}` };
      return plain(`shop/pod-${i}`, i + 1, { labels });
    });
    const counts = Object.entries((await facets(objects, ['label:app']))['label:app'] ?? {});
    expect(counts).to.have.length(1_000);
    expect(counts.slice(0, 2)).to.deep.equal([
      ['z', 500],
      ['app-0500', 2],
    ]);
  });
});
