// Tests of the informer cache and leader election during failures, with one real cluster.
import { FollowedCluster } from './followed-cluster.ts';
import { describeFaults } from './informer-faults.ts';
import { describeManyNodes } from './informer-size.ts';
import { describeLease } from './lease.ts';
import { describeQuietWatches } from './quiet-watches.ts';

describe('clients of a real cluster', function () {
  this.timeout(300_000);
  let cluster: FollowedCluster;

  before(async () => {
    cluster = await FollowedCluster.start();
  });
  after(() => cluster?.stop());

  describeLease(() => cluster);
  describeQuietWatches(() => cluster);
  describeFaults(() => cluster);
  describeManyNodes(() => cluster);
});
