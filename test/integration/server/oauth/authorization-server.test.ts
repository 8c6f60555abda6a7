// Tests of replicas of the authorization server and their clients, with one real cluster.
import { describeClientRequests } from './client-requests.ts';
import { describeClients } from './clients.ts';
import { OAuthCluster } from './oauth-cluster.ts';
import { describePasswordGrant } from './password-grant.ts';
import { describeReplicas } from './two-replicas.ts';

describe('the authorization server with a real cluster', function () {
  this.timeout(120_000);
  let cluster: OAuthCluster;

  before(async () => {
    cluster = await OAuthCluster.start();
  });
  after(() => cluster?.stop());

  // Each resets the cluster at its end.
  describePasswordGrant(() => cluster);
  describeReplicas(() => cluster);
  describeClients(() => cluster);
  describeClientRequests(() => cluster);
});
