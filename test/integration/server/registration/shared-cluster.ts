// The cluster of the tests of the registration with kube-apiserver.
import { shareEnvironment } from '../../../support/shared-environment.ts';
import { startCluster } from './registered-cluster.ts';

export const sharedCluster = shareEnvironment(startCluster);
