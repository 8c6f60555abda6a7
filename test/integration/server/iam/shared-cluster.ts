// The cluster of the tests of users and sessions as custom resources.
import { shareEnvironment } from '../../../support/shared-environment.ts';
import { type IamCluster, startIamCluster } from './iam-cluster.ts';

const sharedCluster = shareEnvironment(startIamCluster);

/** The cluster, without users. */
export async function clearedCluster(): Promise<IamCluster> {
  const cluster = await sharedCluster();
  await cluster.clear();
  return cluster;
}
