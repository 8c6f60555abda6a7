// Tests of the number of watches that a replica with all features has open at kube-apiserver.
import { expect } from 'chai';
import type { FaultyWatches } from '../../../hack/consistency/faulty-watches.ts';
import { until } from '../../support/until.ts';
import type { GatewayPlatform } from '../gateway/gateway-platform.ts';
import { cacheResult, type RawResponse } from '../gateway/raw-request.ts';
import { sharedAcceleration } from './shared-acceleration.ts';

const CONSOLE = '/kapis/resources.platform.io/v1alpha3';

/** The kinds that a feature needs, and their resource under `/kapis`. */
const KINDS = [
  ['/api/v1/nodes', 'nodes'],
  ['/api/v1/pods', 'pods'],
  ['/api/v1/namespaces', 'namespaces'],
  ['/apis/rbac.authorization.k8s.io/v1/rolebindings', 'rolebindings'],
  ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'customresourcedefinitions'],
  ['/apis/apiregistration.k8s.io/v1/apiservices', 'apiservices'],
] as const;

describe('watches of a replica', () => {
  let gateway: GatewayPlatform;
  let watches: FaultyWatches;
  let token: string;

  before(async () => {
    ({ gateway, token, watches } = await sharedAcceleration());
  });

  const ask = (path: string): Promise<RawResponse> =>
    gateway.raw('gateway', [`GET ${path} HTTP/1.1`, `Authorization: Bearer ${token}`]);

  for (const [path, resource] of KINDS) {
    it(`are one for ${resource}, for lists, the acceleration and the features that need them`, async () => {
      await until(async () => (await ask(`${CONSOLE}/${resource}?limit=1`)).status === 200);
      await until(async () => cacheResult(await ask(`${path}?resourceVersion=0`)) === 'hit');
      await until(() => watches.open.get(path) === 1);
    });
  }

  it('are at most one for each kind', async () => {
    await until(() => [...watches.open.values()].every((open) => open <= 1));
    expect([...watches.open.keys()]).to.include.members(KINDS.map(([path]) => path));
  });
});
