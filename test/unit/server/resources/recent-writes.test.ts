// Tests of the writes that later reads of the same caller contain, with a cache that the test changes.
import { expect } from 'chai';
import { RecentWrites } from '../../../../server/resources/recent-writes.ts';

const never = new AbortController().signal;
const ADA = { name: 'ada' };
const PODS = { group: '', plural: 'pods' };

describe('RecentWrites', () => {
  let version: bigint;
  let uids: Map<string, string>;
  let changed: () => void;
  let proofs: boolean[];
  let writes: RecentWrites;
  const written = {
    cache: {
      snapshot: () => ({
        version,
        get: (key: string) => (uids.has(key) ? { uid: uids.get(key) ?? '' } : undefined),
      }),
      onChange: (listener: () => void) => {
        changed = listener;
        return () => undefined;
      },
    },
    proof: { prove: () => Promise.resolve(proofs.shift() ?? false) },
  };
  const pending = (user = ADA, kind = PODS): boolean => writes.pending(user, kind, written);
  const contained = (ms = 1_000): Promise<boolean> => writes.contained(ADA, PODS, written, ms, never);

  beforeEach(() => {
    [version, uids, proofs] = [10n, new Map(), []];
    writes = new RecentWrites(() => true);
  });

  it('waits for the highest version, of this caller and kind only', async () => {
    writes.add(ADA, PODS, { version: 12n });
    writes.add(ADA, PODS, { version: 11n });
    expect(pending({ name: 'bob' })).to.equal(false);
    expect(pending(ADA, { group: 'apps', plural: 'deployments' })).to.equal(false);
    const waiting = contained();
    version = 11n;
    changed();
    await Promise.resolve();
    expect(pending()).to.equal(true);
    version = 12n;
    changed();
    expect(await waiting).to.equal(true);
    expect(pending()).to.equal(false);
  });

  it('waits for a deletion, and accepts a new object of the same name', () => {
    uids.set('a/p', 'old');
    writes.add(ADA, PODS, { key: 'a/p', uid: 'old' });
    expect(pending()).to.equal(true);
    uids.set('a/p', 'new');
    expect(pending()).to.equal(false);
  });

  it('ends the wait for a version that a restored cluster does not reach, after a proof', async () => {
    writes.add(ADA, PODS, { version: 20n });
    // The relist after the restore.
    version = 5n;
    proofs = [true];
    expect(await contained(0)).to.equal(true);
    expect(pending()).to.equal(false);
  });

  it('needs a proof after an unknown write', async () => {
    writes.add(ADA, PODS, 'unknown');
    version = 99n;
    expect(await contained(0)).to.equal(false);
    proofs = [true];
    expect(await contained(0)).to.equal(true);
    expect(pending()).to.equal(false);
  });

  it('does not take a proof for one of a write during the proof', async () => {
    writes.add(ADA, PODS, 'unknown');
    let proven = 0;
    const prove = (): Promise<boolean> => {
      if (++proven === 1) writes.add(ADA, PODS, { version: 20n });
      return Promise.resolve(true);
    };
    expect(await writes.contained(ADA, PODS, { ...written, proof: { prove } }, 0, never)).to.equal(true);
    expect(proven).to.be.greaterThan(1);
  });
});
