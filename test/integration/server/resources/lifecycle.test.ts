// Tests of lists of any kind against a real control plane: changed kinds, live lists, limits and outages.
import { describeDocuments } from './documents.ts';
import { describeLifecycle } from './lifecycle.ts';
import { describeLimits } from './limits.ts';
import { describeLive } from './live.ts';
import { describeOutages, SYNC_MS } from './outages.ts';
import { ResourceCluster, type Server } from './resource-cluster.ts';

describe('lists of any kind with a real cluster', function () {
  this.timeout(60_000);
  let cluster: ResourceCluster;
  let server: Server;

  before(async () => {
    cluster = await ResourceCluster.start({ controllers: true });
    const callerIndependent = ['late', 'silent', 'unreachable'].map((name) => `*.${name}.example.org`);
    server = await cluster.serve(
      { resources: { memoryBudget: '1Gi', callerIndependent } },
      { syncTimeout: SYNC_MS },
    );
  });

  after(() => cluster?.stop());

  describeLifecycle(() => ({ cluster, server }));
  describeLive(() => ({ cluster, server }));
  describeDocuments(() => ({ cluster }));
  describeLimits(() => ({ cluster }));
  describeOutages(() => ({ cluster, server }));
});
