// The gateway with acceleration of all tests in this folder. A proxy can inject faults into the watches of the server.
import { FaultyWatches } from '../../../hack/consistency/faulty-watches.ts';
import { shareEnvironment } from '../../support/shared-environment.ts';
import { until } from '../../support/until.ts';
import { GatewayPlatform } from '../gateway/gateway-platform.ts';
import { cacheResult } from '../gateway/raw-request.ts';

const FOLLOWED = [
  '/api/v1/pods',
  '/api/v1/configmaps',
  '/apis/apps/v1/deployments',
  '/api/v1/namespaces',
] as const;

/** Resolves when the server follows the kinds of the tests. */
export const sharedAcceleration = shareEnvironment(async () => {
  const started = Promise.withResolvers<FaultyWatches>();
  const gateway = await GatewayPlatform.start({
    configure: async ({ controlPlane, dir }) => {
      const proxy = await FaultyWatches.start(controlPlane, dir, 1);
      started.resolve(proxy);
      return {
        kubernetes: { kubeconfig: proxy.kubeconfig },
        gateway: { acceleration: true },
        authorization: { allowCacheTTL: '1s' },
        cache: { currentReads: true },
        resources: {
          nodes: { usageAnnotations: true },
          restricted: ['rolebindings.rbac.authorization.k8s.io'],
        },
      };
    },
  });
  const watches = await started.promise;
  await gateway.createUser('ada', ['platform-admins']);
  const token = await gateway.signIn('ada');
  for (const path of FOLLOWED) {
    const lines = [`GET ${path}?resourceVersion=0 HTTP/1.1`, `Authorization: Bearer ${token}`];
    await until(async () => cacheResult(await gateway.raw('gateway', lines)) === 'hit');
  }
  const stop = async (): Promise<void> => {
    await gateway.stop();
    watches.stop();
  };
  return { gateway, token, watches, stop };
});
