// Tests of the gateway and of pod logs with real clients, a real kube-apiserver and simulated pods.
import { describePodLogs } from '../logs-of-pods.ts';
import { describeClients } from './clients.ts';
import { describeDifferences } from './differences.ts';
import { GatewayPlatform } from './gateway-platform.ts';
import { describeHostileClients, MAX_STREAMS } from './hostile.ts';
import { describeIdentity } from './identity.ts';
import { describeKubectl } from './kubectl.ts';
import { describeStreams } from './streams.ts';

describe('the gateway', function () {
  this.timeout(300_000);
  let gateway: GatewayPlatform;

  before(async () => {
    gateway = await GatewayPlatform.start({
      configure: async () => ({ gateway: { acceleration: true, streams: MAX_STREAMS } }),
    });
    await gateway.createUser('ada', ['platform-admins']);
  });
  after(() => gateway?.stop());

  describePodLogs(() => gateway.platform);
  describeClients(() => gateway);
  describeKubectl(() => gateway);
  describeStreams(() => gateway);
  describeDifferences(() => gateway);
  describeIdentity(() => gateway);
  describeHostileClients(() => gateway);
});
