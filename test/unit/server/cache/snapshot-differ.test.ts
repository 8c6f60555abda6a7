// Tests of SnapshotDiffer, which computes the changes between two snapshots.
import { expect } from 'chai';
import { array, assert, boolean, integer, property, record } from 'fast-check';
import { SnapshotDiffer } from '../../../../server/cache/snapshot-differ.ts';
import type { NodeFacts } from '../../../../server/resources/nodes/node-facts.ts';
import { NodeCache, node } from '../../../support/cluster/node-cache.ts';

type Known = ReadonlyMap<string, string>;

/** Returns all changes since the last snapshot. */
function changes(differ: SnapshotDiffer<NodeFacts>, { cache }: NodeCache, snapshot = cache.snapshot()) {
  const found = differ.follow(snapshot, Number.POSITIVE_INFINITY);
  if (!found) throw new Error('there is no limit of the changes');
  return found;
}

const byKey = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

describe('SnapshotDiffer', () => {
  it('returns the changes between any two snapshots', () => {
    const change = record({ name: integer({ min: 0, max: 150 }), gone: boolean(), look: boolean() });
    assert(
      property(array(change, { maxLength: 60 }), boolean(), (events, list) => {
        const cache = new NodeCache();
        cache.fill(
          1,
          Array.from({ length: 120 }, (_, i) => node(`node-${i}`, i + 1)),
        );
        const follower = new SnapshotDiffer<NodeFacts>();
        let known: Known = new Map();
        const look = (): void => {
          const snapshot = cache.cache.snapshot();
          const { removed, set } = changes(follower, cache, snapshot);
          const next = new Map(known);
          for (const { key, resourceVersion } of removed) {
            expect(next.get(key)).to.equal(resourceVersion);
            next.delete(key);
          }
          for (const { key, resourceVersion } of set) next.set(key, resourceVersion);
          const there = new Map([...snapshot.objects()].map((one) => [one.key, one.resourceVersion]));
          expect(new Map([...next].sort(byKey))).to.deep.equal(new Map([...there].sort(byKey)));
          expect(new Set(follower.objects().map(({ key }) => key))).to.deep.equal(new Set(there.keys()));
          known = next;
          if (list) snapshot.pieces().forEach((piece) => piece.json());
        };
        look();
        let version = 1000;
        for (const { name, gone, look: now } of events) {
          cache.apply(gone ? 'DELETED' : 'MODIFIED', node(`node-${name}`, ++version));
          if (now) look();
        }
        look();
        cache.fill(++version, [node('node-1', 2), node('other', version)]);
        look();
      }),
      { numRuns: 60 },
    );
  });

  it('returns undefined for more changes than the limit, and continues from the new snapshot', () => {
    const cache = new NodeCache();
    const fill = (version: number): void =>
      cache.fill(
        version,
        Array.from({ length: 100 }, (_, i) => node(`node-${i}`, version)),
      );
    fill(1);
    const follower = new SnapshotDiffer<NodeFacts>();
    expect(follower.follow(cache.cache.snapshot(), 99)).to.equal(undefined);
    fill(2);
    expect(follower.follow(cache.cache.snapshot(), 199)).to.equal(undefined);
    cache.apply('MODIFIED', node('node-1', 3));
    expect(follower.follow(cache.cache.snapshot(), 2)?.set).to.have.length(1);
    expect(follower.objects()).to.have.length(100);
  });

  it('detects relisted objects with equal resourceVersions, and holds no bytes', () => {
    const cache = new NodeCache();
    cache.fill(1, [node('a', 1, { zone: 'x' })]);
    const follower = new SnapshotDiffer<NodeFacts>();
    changes(follower, cache);
    cache.fill(1, [node('a', 1, { zone: 'y' })]);
    const { removed, set } = changes(follower, cache);
    expect([removed[0]?.labels, set[0]?.labels]).to.deep.equal([{ zone: 'x' }, { zone: 'y' }]);
    for (const known of follower.objects()) expect(known).to.not.have.any.keys('bytes', 'metadata');
  });
});
