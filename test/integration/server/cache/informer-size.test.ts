// Tests of the informer cache with 1,000 nodes, against a real kube-apiserver.
import { expect } from 'chai';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { WorkPerTurn } from '../../../support/work-per-turn.ts';
import { type FollowedCluster } from './followed-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

/** About 8 MB. The bench measures 5,000 nodes. */
const MANY = 1_000;
/** Maximum number of nodes that one turn of the event loop may read. The bench measures the time that this takes. */
const MOST_A_TURN = 500;

/** Wraps a client so that kube-apiserver rejects streaming lists as unsupported. */
function withoutStreams(client: ClusterClient): ClusterClient {
  return {
    json: (request) => client.json(request),
    open: ({ path, ...request }) =>
      client.open({
        ...request,
        // Other requests use NotOlderThan too and must succeed.
        path: path.includes('sendInitialEvents=')
          ? path.replace('resourceVersionMatch=NotOlderThan', 'resourceVersionMatch=Perhaps')
          : path,
      }),
  };
}

describe('informer cache with 1,000 nodes', () => {
  let cluster: FollowedCluster;

  before(async () => {
    cluster = await sharedCluster();
  });

  afterEach(() => cluster.settle());

  it('applies their creation in time slices', async () => {
    const work = new WorkPerTurn();
    const followed = await cluster.synced({ onObject: () => work.note() });
    await cluster.createNodes(MANY);
    await cluster.reaches(followed, await cluster.write());
    expect(work.most).to.be.within(1, MOST_A_TURN);
    expect(followed.informer.cache.snapshot().size).to.equal(MANY);
    expect(followed.lists).to.deep.equal(['stream']);
    await cluster.equalsCluster(followed);
  });

  describe('with all nodes', () => {
    before(() => cluster.createNodes(MANY));

    for (const [way, through] of [
      ['stream', (client: ClusterClient) => client],
      ['pages', withoutStreams],
    ] as const) {
      it(`lists them by ${way} in time slices`, async () => {
        const work = new WorkPerTurn();
        const followed = await cluster.synced({ through, onObject: () => work.note() });
        expect(work.most).to.be.within(1, MOST_A_TURN);
        expect(followed.lists).to.deep.equal([way]);
        await cluster.equalsCluster(followed);
      });
    }

    it('discards a truncated list and relists', async () => {
      cluster.proxy.cutAfter(4 << 20);
      const followed = cluster.follow();
      await followed.ended('error');
      expect(followed.informer.cache.synced).to.equal(false);
      cluster.proxy.cutAfter(Number.POSITIVE_INFINITY);
      await followed.listed();
      expect(followed.informer.cache.snapshot().size).to.equal(MANY);
      await cluster.equalsCluster(followed);
    });

    it('discards a list that kube-apiserver ends early, and lists by pages', async () => {
      // A slow connection: the stream cannot be read within a second, and then kube-apiserver ends it.
      cluster.proxy.throttle(2 << 20);
      const followed = cluster.follow({ watchMs: 500, random: () => 0, initialBackoffMs: 1 });
      await followed.listed();
      expect(followed.lists).to.deep.equal(['pages']);
      expect(followed.ends).to.deep.equal(['error', 'error']);
      expect(followed.informer.cache.snapshot().size).to.equal(MANY);
      await cluster.equalsCluster(followed);
    });
  });
});
