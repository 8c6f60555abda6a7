// Tests of the first sign-in, lists for consoles, access tokens, users and `npm run login`. They share one server with
// one control plane.
import { describeConsoles } from './console.ts';
import { describeFirstSignIn } from './first-sign-in.ts';
import { describeIdentity } from './identity.ts';
import { describeLogin } from './login.ts';
import { NODES, Platform } from './platform.ts';
import { describeUsers } from './users.ts';

describe('callers of ks-apiserver', function () {
  this.timeout(300_000);
  let platform: Platform;

  before(async () => {
    platform = await Platform.start(NODES);
  });
  after(() => platform?.stop());

  // First, because it uses the initial password of the administrator.
  describeFirstSignIn(() => platform);
  describeConsoles(() => platform);
  describeIdentity(() => platform);
  describeUsers(() => platform);
  describeLogin(() => platform);
});
