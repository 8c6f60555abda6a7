// Tests of faults of the cluster, the network and clients, with one control plane and four servers.
import { describeClientFaults } from './client-faults.suite.ts';
import { describeBadNetwork, describeOutage, describeResponses } from './cluster-faults.suite.ts';
import { FaultPlatform } from './fault-platform.ts';
import { describeMachineFaults } from './machine-faults.suite.ts';
import { describeRotations } from './rotations.suite.ts';

describe('faults', () => {
  let platform: FaultPlatform;

  before(async () => {
    platform = await FaultPlatform.start();
  });
  after(() => platform?.stop());

  describeBadNetwork(() => platform);
  // The outage of one replica takes 30 s, during which the other replicas have other faults.
  describeOutage(
    () => platform,
    () => {
      describeResponses(() => platform);
      describeClientFaults(() => platform);
      describeMachineFaults(() => platform);
    },
  );
  describeRotations(() => platform);
});
