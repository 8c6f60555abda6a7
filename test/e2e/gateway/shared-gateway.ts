// The gateway of all tests in this folder, with a real kube-apiserver and simulated pods.
import { shareEnvironment } from '../../support/shared-environment.ts';
import { GatewayPlatform } from './gateway-platform.ts';

/** The value of `requests.streams`. */
export const MAX_STREAMS = 200;

export const sharedGateway = shareEnvironment(async () => {
  const gateway = await GatewayPlatform.start({
    configure: async () => ({ gateway: { acceleration: true }, requests: { streams: MAX_STREAMS } }),
  });
  await gateway.createUser('ada', ['platform-admins']);
  return gateway;
});
