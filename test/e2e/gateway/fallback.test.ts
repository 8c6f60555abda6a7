// Tests of impersonation, of an issuer that kube-apiserver does not trust, and of the independence of the aggregated
// APIs from the gateway.
import { FallbackPlatform } from './fallback-platform.ts';
import { describeImpersonation } from './impersonation.ts';
import { describeIndependence } from './independence.ts';
import { describeRecovery, describeTrust } from './trust.ts';

describe('the gateway beside its defaults', function () {
  this.timeout(120_000);
  let platform: FallbackPlatform;

  before(async () => {
    platform = await FallbackPlatform.start();
  });
  after(() => platform?.stop());

  // The recoveries take ten seconds, during which the other tests run.
  describeTrust(() => platform);
  describeImpersonation(() => platform);
  describeIndependence(() => platform);
  describeRecovery(() => platform);
});
