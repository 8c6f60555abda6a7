// Tests of Tables that the gateway serves from its caches: their equality with kube-apiserver.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { until } from '../../support/until.ts';
import type { GatewayPlatform, Side } from '../gateway/gateway-platform.ts';
import { cacheResult, type RawResponse } from '../gateway/raw-request.ts';
import { sharedAcceleration } from './shared-acceleration.ts';
import { createPods, createWidgets, labelPod } from './table-objects.ts';

const V1 = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const V1BETA1 = 'application/json;as=Table;v=v1beta1;g=meta.k8s.io';
/** As kubectl sends it. */
const KUBECTL = `${V1},${V1BETA1},application/json`;

const PODS = '/api/v1/pods';
const SHOP = '/api/v1/namespaces/shop/pods';
const WIDGETS = '/apis/example.com/v1/widgets';
const ANY = 'resourceVersion=0';

describe('accelerated Tables', () => {
  let gateway: GatewayPlatform;
  let token: string;

  before(async () => {
    ({ gateway, token } = await sharedAcceleration());
    const { client } = gateway.platform.controlPlane;
    await createPods(client);
    await createWidgets(client);
  });

  function ask(side: Side, path: string, accept = KUBECTL): Promise<RawResponse> {
    return gateway.raw(side, [`GET ${path} HTTP/1.1`, `Authorization: Bearer ${token}`, `Accept: ${accept}`]);
  }

  for (const path of [PODS, '/api/v1/nodes', WIDGETS, '/apis/example.com/v1/gadgets']) {
    it(`follows ${path}`, async () => {
      await until(async () => {
        const [ours, direct] = await Promise.all([
          ask('gateway', `${path}?${ANY}`, 'application/json'),
          ask('direct', `${path}?${ANY}`, 'application/json'),
        ]);
        return cacheResult(ours) === 'hit' && isDeepStrictEqual(seen(ours), seen(direct));
      });
    });
  }

  for (const [result, path, accept] of [
    ['hit', `${PODS}?${ANY}`],
    ['hit', `${PODS}?${ANY}`, V1],
    ['hit', `${PODS}?${ANY}`, V1BETA1],
    ['hit', `${PODS}?${ANY}`, `application/json,${V1}`],
    ['hit', `${SHOP}?${ANY}&includeObject=None`],
    ['hit', `${SHOP}?${ANY}&includeObject=Metadata`],
    ['hit', `${SHOP}?${ANY}&includeObject=Object`],
    ['hit', `${SHOP}?${ANY}&labelSelector=table=running`],
    ['hit', `${SHOP}?${ANY}&labelSelector=absent=1`],
    ['hit', `${SHOP}/table-crashing?${ANY}`],
    ['hit', `${SHOP}/table-completed?${ANY}&includeObject=Object`],
    ['hit', `/api/v1/nodes?${ANY}`],
    ['hit', `/api/v1/nodes/node-00001?${ANY}&includeObject=None`],
    ['hit', `${WIDGETS}?${ANY}`],
    ['hit', `${WIDGETS}?${ANY}&includeObject=Object`],
    ['hit', `/apis/example.com/v1/namespaces/shop/widgets/w1?${ANY}`],
    ['hit', `/apis/example.com/v1/gadgets?${ANY}`],
    ['hit', `/apis/example.com/v1/maps?${ANY}`],
    ['columns', `/apis/example.com/v1/descents?${ANY}`],
    ['columns', `/api/v1/configmaps?${ANY}`],
    ['error', `${PODS}?${ANY}&includeObject=All`],
    ['current-get', `${SHOP}/table-crashing`],
  ] as const) {
    it(`${result}: ${path}${accept ? `, ${accept}` : ''}`, async () => {
      // A list of all objects starts to follow a kind.
      const list = `${path.replace(/[?].*$/, '').replace(/\/namespaces\/shop|\/(?:table-|w1|node-).*$/g, '')}?${ANY}`;
      await until(async () => cacheResult(await ask('gateway', list)) !== 'kind');
      const { ours, direct } = await atOneTime(path, accept);
      expect(cacheResult(ours)).to.equal(result);
      expect(seen(ours)).to.deep.equal(seen(direct));
    });
  }

  /** Reads between two equal responses of kube-apiserver, because ages change each second. */
  async function atOneTime(
    path: string,
    accept?: string,
  ): Promise<Readonly<Record<'ours' | 'direct', RawResponse>>> {
    for (;;) {
      const before = await ask('direct', path, accept);
      const ours = await ask('gateway', path, accept);
      const direct = await ask('direct', path, accept);
      if (isDeepStrictEqual(seen(before), seen(direct))) return { ours, direct };
    }
  }

  it('sends the same events to a watch', async () => {
    const version = await labelPod(gateway.platform.controlPlane.client, 'one');
    const newer = await labelPod(gateway.platform.controlPlane.client, 'two');
    await until(async () => cacheResult(await ask('gateway', `${SHOP}?resourceVersion=${newer}`)) === 'hit');
    const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watches = [
      `${SHOP}?resourceVersion=${version}`,
      `${SHOP}?${ANY}&${initial}`,
      `${WIDGETS}?${ANY}&${initial}`,
    ].flatMap((path) =>
      ['', '&includeObject=None'].map((include) => `${path}&watch=true&timeoutSeconds=4${include}`),
    );
    const responses = watches.map((path) => Promise.all([ask('direct', path), ask('gateway', path)]));
    for (const [direct, ours] of await Promise.all(responses)) {
      expect(cacheResult(ours)).to.equal('hit');
      expect(events(ours)).to.deep.equal(events(direct)).and.not.to.deep.equal([]);
    }
  });

  it('serves the list of kubectl get pods', async () => {
    const { client } = gateway.platform.controlPlane;
    let round = 0;
    // The event of the write proves that the cache is current.
    await until(async () => {
      await labelPod(client, `r${round++}`);
      return cacheResult(await ask('gateway', `${PODS}?limit=500`)) === 'hit';
    });
  });
});

/** The lists of both sides can be of different times, although they have the same rows. */
function seen({ status: code, body }: RawResponse): object {
  return { code, table: { ...JSON.parse(body.toString()), metadata: undefined } };
}

/** The events except bookmarks without an annotation, and without ages and resourceVersions of bookmarks. */
function events({ body }: RawResponse): unknown[] {
  return body
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ type, object }) => type !== 'BOOKMARK' || object.rows[0].object?.metadata.annotations)
    .map(({ type, object }) => {
      for (const each of object.rows) {
        each.cells = each.cells.map((cell: unknown) => (/^\d+m?s$/.test(String(cell)) ? 'age' : cell));
      }
      if (type !== 'BOOKMARK') return { type, object };
      return {
        type,
        object: JSON.parse(
          JSON.stringify(object).replace(/"resourceVersion":"\d+"/g, '"resourceVersion":""'),
        ),
      };
    });
}
