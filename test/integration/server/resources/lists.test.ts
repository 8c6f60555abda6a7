// Tests of lists for consoles: compatibility, statuses and permissions, with one real cluster.
import { describeConsoles } from './compatibility.ts';
import { describePermissions } from './permissions.ts';
import { ResourceCluster } from './resource-cluster.ts';
import { describeStatuses } from './statuses.ts';

describe('lists for consoles', function () {
  this.timeout(180_000);
  let cluster: ResourceCluster;

  before(async () => {
    cluster = await ResourceCluster.start();
  });
  after(() => cluster?.stop());

  // First, because it compares the number of objects in the whole cluster.
  describeConsoles(() => cluster);
  describeStatuses(() => cluster);
  // Last, because it creates many namespaces.
  describePermissions(() => cluster);
});
