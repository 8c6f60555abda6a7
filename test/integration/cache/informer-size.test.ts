import { expect } from 'chai';
import type { ClusterClient } from '../../../server/cluster/client.ts';
import { LongestTurn } from '../../support/longest-turn.ts';
import { FollowedCluster } from './followed-cluster.ts';

const FEW = 40;
const MANY = 5_000;
/** No turn of the event loop may take longer. */
const LONGEST_MS = 50;

/** A cluster that refuses streaming lists: kube-apiserver itself answers so to parameters that it does not know. */
function withoutStreams(client: ClusterClient): ClusterClient {
  return {
    json: (request) => client.json(request),
    open: ({ path, ...request }) =>
      client.open({
        ...request,
        // Other requests ask for NotOlderThan as well, and are to be answered.
        path: path.includes('sendInitialEvents=')
          ? path.replace('resourceVersionMatch=NotOlderThan', 'resourceVersionMatch=Perhaps')
          : path,
      }),
  };
}

describe('the informer cache of a cluster of 5,000 nodes', function () {
  this.timeout(120_000);
  let cluster: FollowedCluster;

  before(async () => {
    cluster = await FollowedCluster.start();
    await cluster.createNodes(FEW);
  });

  afterEach(() => cluster.settle());
  after(() => cluster?.stop());

  it('follows their arrival without blocking the event loop', async () => {
    const followed = await cluster.synced();
    const turn = new LongestTurn();
    await cluster.createNodes(MANY);
    await cluster.reaches(followed, await cluster.write());
    expect(turn.stop()).to.be.lessThan(LONGEST_MS);
    expect(followed.informer.cache.snapshot().size).to.equal(MANY);
    expect(followed.lists).to.deep.equal(['stream']);
    await cluster.equalsCluster(followed);
  });

  describe('once they are there', () => {
    before(() => cluster.createNodes(MANY));

    for (const [way, through] of [
      ['stream', (client: ClusterClient) => client],
      ['pages', withoutStreams],
    ] as const) {
      it(`lists them by ${way} without blocking the event loop`, async () => {
        const turn = new LongestTurn();
        const followed = await cluster.synced({ through });
        expect(turn.stop()).to.be.lessThan(LONGEST_MS);
        expect(followed.lists).to.deep.equal([way]);
        await cluster.equalsCluster(followed);
      });
    }

    it('takes nothing from a list that was cut in the middle, and lists again', async () => {
      cluster.proxy.cutAfter(10 << 20);
      const followed = cluster.follow();
      await followed.ended('error');
      expect(followed.informer.cache.synced).to.equal(false);
      cluster.proxy.cutAfter(Number.POSITIVE_INFINITY);
      await followed.listed();
      expect(followed.informer.cache.snapshot().size).to.equal(MANY);
      await cluster.equalsCluster(followed);
    });

    it('takes nothing from a list that kube-apiserver ends cleanly in the middle, and lists by pages', async () => {
      // The stream is to end after a second, and slower than that it can not be read.
      cluster.proxy.throttle(12 << 20);
      const followed = cluster.follow({ watchMs: 500, random: () => 0, initialBackoffMs: 1 });
      await followed.listed();
      expect(followed.lists).to.deep.equal(['pages']);
      expect(followed.ends).to.deep.equal(['error', 'error']);
      expect(followed.informer.cache.snapshot().size).to.equal(MANY);
      await cluster.equalsCluster(followed);
    });
  });
});
