// Tests of users, passwords and sessions as custom resources, with one real cluster.
import { type IamCluster, startIamCluster } from '../iam/iam-cluster.ts';
import { describeClusterUsers } from '../iam/users.ts';
import { describeSessions } from './sessions.ts';

describe('the custom resources of the authorization server', function () {
  // The garbage collector deletes the objects of a deleted user within half a minute, or a minute after a failure.
  this.timeout(240_000);
  let cluster: IamCluster;

  before(async () => {
    cluster = await startIamCluster();
  });
  after(() => cluster?.stop());

  describeClusterUsers(() => cluster);
  describe('without users', () => {
    before(() => cluster.clear());
    describeSessions(() => cluster);
  });
});
