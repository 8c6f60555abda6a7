// The cluster of the tests of statuses, queries of KubeSphere consoles and permissions.
import { shareEnvironment } from '../../../support/shared-environment.ts';
import { ResourceCluster } from './resource-cluster.ts';

export const sharedCluster = shareEnvironment(() => ResourceCluster.start());
