// Tests of the first sign-in, consoles and users with access tokens, with one platform.
import { describeConsoles } from './console.ts';
import { describeFirstSignIn } from './first-sign-in.ts';
import { describeIdentity } from './identity.ts';
import { NODES, Platform } from './platform.ts';

describe('callers of ks-apiserver', function () {
  this.timeout(300_000);
  let platform: Platform;

  before(async () => {
    platform = await Platform.start(NODES);
  });
  after(() => platform?.stop());

  describeFirstSignIn(() => platform);
  describeConsoles(() => platform);
  describeIdentity(() => platform);
});
