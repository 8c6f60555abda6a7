// The cluster of the tests of replicas of the authorization server and their clients. Each file resets it at its end.
import { shareEnvironment } from '../../../support/shared-environment.ts';
import { OAuthCluster } from './oauth-cluster.ts';

export const sharedCluster = shareEnvironment(() => OAuthCluster.start());
