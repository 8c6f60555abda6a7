// Tests of lists for consoles: statuses, queries of KubeSphere consoles and permissions, with one real cluster.
import { describeConsoleQueries } from './console-queries.ts';
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

  describeStatuses(() => cluster);
  describeConsoleQueries(() => cluster);
  // Last, because it creates many namespaces.
  describePermissions(() => cluster);
});
