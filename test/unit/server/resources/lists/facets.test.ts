// Tests of facets: the maximum number of values, and the counts after changes of the objects. The integration tests compare the counts with a real cluster.
import { expect } from 'chai';
import type { ObjectIdentity } from '../../../../../server/cache/resource-cache.ts';
import { TimeSlicer, type TimeSlices } from '../../../../../server/concurrency/time-slicer.ts';
import { PODS } from '../../../../../server/resources/kind.ts';
import { facetsOf } from '../../../../../server/resources/lists/facets.ts';
import type { KindFacts } from '../../../../../server/resources/profiles/kind-values.ts';
import { KindCache, type PlainObject, plain } from '../../../../support/platform/kind-cache.ts';

type Identity = ObjectIdentity<KindFacts>;

const TASK = { caller: 'a', signal: new AbortController().signal };
const EVERYTHING = { key: '', test: () => true };
const NOT_FAILED = { key: 'not failed', test: ({ facts }: Identity) => !facts.status.includes('Failed') };

/** Counts the objects after which a task checks its time slice. */
class Checks implements TimeSlices {
  count = 0;

  get spent(): boolean {
    this.count++;
    return false;
  }

  async next(): Promise<void> {}
}

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

  it('returns the counts after each change, without reading the other objects again', async () => {
    const size = 1_000;
    const pods = new KindCache(PODS);
    const phases = ['Running', 'Pending', 'Failed'];
    let version = 0;
    const pod = (i: number): PlainObject => {
      const labels = { app: `app-${(i + version) % 5}` };
      return plain(
        `space-${i % 3}/pod-${i}`,
        ++version,
        { labels },
        { status: { phase: phases[version % 3] } },
      );
    };
    pods.fill(
      size,
      Array.from({ length: size }, (_, i) => pod(i)),
    );
    const names = ['status', 'namespace', 'label:app'];
    for (const filter of [EVERYTHING, NOT_FAILED]) {
      let previous: Iterable<Identity> | undefined;
      for (let change = 0; change < 40; change++) {
        const sorting = { sortBy: 'name', filter, namespaces: undefined };
        const { objects } = await pods.index.sorted(() => pods.snapshot(), sorting, TASK);
        expect(objects).not.to.equal(previous);
        previous = objects;
        const counting = new Checks();
        const facets = await facetsOf(objects, names, counting);
        expect(facets).to.deep.equal(await facetsOf([...objects], names, new Checks()));
        if (change > 0) expect(counting.count).to.be.below(size / 4);
        for (const i of [change, change + 1, size + change])
          pods.apply(change % 4 === 2 ? 'DELETED' : 'MODIFIED', pod(i));
      }
    }
  });
});
