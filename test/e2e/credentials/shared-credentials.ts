// The gateway of all tests in this folder, with a user who may run commands in its pod.
import { shareEnvironment } from '../../support/shared-environment.ts';
import { GatewayPlatform } from '../gateway/gateway-platform.ts';

export const sharedCredentials = shareEnvironment(async () => {
  const gateway = await GatewayPlatform.start({
    // The log then has the user of each request.
    configure: async () => ({ log: { level: 'debug' } }),
    // Any server can then be a kubelet.
    flagsIn: async () => ['--kubelet-certificate-authority='],
  });
  await gateway.createUser('ada', ['platform-admins']);
  await gateway.platform.bind('view', '--user=ada');
  return gateway;
});
