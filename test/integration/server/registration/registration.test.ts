// Tests of the registration with kube-apiserver, with one real cluster.
import { describeCABundle } from './ca-bundle-controller.ts';
import { describeDiscovery } from './discovery.ts';
import { type RegisteredCluster, startCluster } from './registered-cluster.ts';

describe('registration with a real cluster', function () {
  // kube-apiserver checks an APIService again after up to half a minute, and its controllers after up to a minute.
  this.timeout(180_000);
  let cluster: RegisteredCluster;

  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster?.stop());

  describeCABundle(() => cluster);
  describeDiscovery(() => cluster);
});
