// Tests of users, passwords and pod logs, with one platform.
import { describePodLogs } from './logs-of-pods.ts';
import { Platform } from './platform.ts';
import { describeUsers } from './users.ts';

describe('a new platform', function () {
  this.timeout(300_000);
  let platform: Platform;

  before(async () => {
    platform = await Platform.start(1);
  });
  after(() => platform?.stop());

  // First, because it uses the initial password of the administrator.
  describeUsers(() => platform);
  describePodLogs(() => platform);
});
