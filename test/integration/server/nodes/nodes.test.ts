// Tests of nodes in the aggregated API and under `/kapis`, compared with kube-apiserver. They share one real cluster.
import { describeUsage } from '../lists/usage.ts';
import { describeOpenAPI } from '../rest/described.ts';
import { describeReads } from '../rest/parity.ts';
import { ServedNodes } from '../rest/served-nodes.ts';
import { describeVersions } from '../rest/versions.ts';
import { describeWatches } from '../rest/watch-parity.ts';

describe('nodes of a real cluster', function () {
  this.timeout(120_000);
  let served: ServedNodes;

  before(async () => {
    served = await ServedNodes.start();
  });

  after(() => served?.stop());

  const subject = (): ServedNodes => served;
  describeOpenAPI(subject);
  describeUsage(subject);
  describeReads(subject);
  describeVersions(subject);
  // Last, because it restarts kube-apiserver.
  describeWatches(subject);
});
