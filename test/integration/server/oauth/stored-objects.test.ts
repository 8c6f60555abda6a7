// Tests of users and sessions as custom resources with one real cluster: stores, admission policies, roles and backups.
import { describeAdmission } from '../iam/admission.ts';
import { describeCustomResources } from '../iam/custom-resources.ts';
import { describeHelpDesk } from '../iam/help-desk.ts';
import { type IamCluster, startIamCluster } from '../iam/iam-cluster.ts';
import { describeRestore } from '../iam/restore.ts';
import { describeClusterUsers } from '../iam/users.ts';
import { describeSessions } from './sessions.ts';

describe('the custom resources of the IAM API', function () {
  // The garbage collector deletes the objects of a deleted user within half a minute, or a minute after a failure.
  this.timeout(300_000);
  let cluster: IamCluster;

  before(async () => {
    cluster = await startIamCluster();
  });
  after(() => cluster?.stop());

  for (const describeSuite of [
    describeClusterUsers,
    describeSessions,
    describeCustomResources,
    describeAdmission,
    describeHelpDesk,
    describeRestore,
  ]) {
    describe('starting without users', () => {
      before(() => cluster.clear());
      describeSuite(() => cluster);
    });
  }
});
