// The cluster of the tests of the informer cache and of leader election.
import { shareEnvironment } from '../../../support/shared-environment.ts';
import { FollowedCluster } from './followed-cluster.ts';

export const sharedCluster = shareEnvironment(() => FollowedCluster.start());
