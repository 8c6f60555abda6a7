// Tests of lists of any kind against a real control plane: changed kinds, live lists, limits and outages.
import { describeLifecycle } from './lifecycle.ts';
import { describeLimits } from './limits.ts';
import { describeLive } from './live.ts';
import { describeOutages } from './outages.ts';
import { ServedCluster, type ServedPlatform } from './served-cluster.ts';

describe('lists of any kind with a real cluster', function () {
  this.timeout(60_000);
  let cluster: ServedCluster;
  let server: ServedPlatform;

  before(async () => {
    cluster = await ServedCluster.start();
    const authorization = { allowCacheTTL: '1s', denyCacheTTL: '1s' };
    server = await cluster.serve({ syncTimeout: '3s', liveInterval: '500ms' }, { authorization });
  });

  after(() => cluster?.stop());

  describeLifecycle(() => ({ cluster, server }));
  describeLive(() => ({ cluster, server }));
  describeLimits(() => ({ cluster }));
  describeOutages(() => ({ cluster, server }));
});
