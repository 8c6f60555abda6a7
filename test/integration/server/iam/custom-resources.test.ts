// Tests of the IAM API with kubectl: custom resources, admission policies, roles and backups, with one real cluster.
import { describeAdmission } from './admission.ts';
import { describeCustomResources } from './custom-resources.ts';
import { describeHelpDesk } from './help-desk.ts';
import { type IamCluster, startIamCluster } from './iam-cluster.ts';
import { describeRestore } from './restore.ts';

describe('the IAM API with kubectl', function () {
  this.timeout(300_000);
  let cluster: IamCluster;

  before(async () => {
    cluster = await startIamCluster();
  });
  after(() => cluster?.stop());

  for (const describeSuite of [
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
