// Tests of reads that the gateway serves from its caches: the decisions, and the equality with kube-apiserver.
import { expect } from 'chai';
import { until } from '../../support/until.ts';
import type { GatewayPlatform, Side } from '../gateway/gateway-platform.ts';
import { cacheResult, type RawResponse } from '../gateway/raw-request.ts';
import { sharedAcceleration } from './shared-acceleration.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const ONE_METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';

/** A read, and the expected result: `hit`, or the reason why the gateway forwards the read. */
interface Decision {
  readonly path: string;
  readonly accept?: string;
  readonly result: string;
}

const PODS = '/api/v1/pods';
const SHOP = '/api/v1/namespaces/shop';

/** Headers that differ between two responses, or that only one of both servers sends. */
const OTHER = new Set([
  'content-security-policy',
  'x-content-type-options',
  'audit-id',
  'date',
  'cache-status',
  'age',
  'content-length',
  'transfer-encoding',
  'connection',
]);

describe('the acceleration', () => {
  let gateway: GatewayPlatform;
  let token: string;
  let version: string;
  let pod: string;

  before(async () => {
    ({ gateway, token } = await sharedAcceleration());
    pod = gateway.pod.name;
    version = JSON.parse((await ask('direct', `${PODS}?limit=1`)).body.toString()).metadata.resourceVersion;
  });

  function ask(
    side: Side,
    path: string,
    accept = 'application/json',
    more: readonly string[] = [],
  ): Promise<RawResponse> {
    return gateway.raw(side, linesOf(path, accept, more));
  }

  function linesOf(path: string, accept: string, more: readonly string[] = []): readonly string[] {
    return [`GET ${path} HTTP/1.1`, `Authorization: Bearer ${token}`, `Accept: ${accept}`, ...more];
  }

  const decisions: readonly Decision[] = [
    { path: `${PODS}?resourceVersion=0`, result: 'hit' },
    { path: `${PODS}?resourceVersion=0&limit=1`, result: 'hit' },
    { path: `${PODS}?resourceVersion=0&resourceVersionMatch=NotOlderThan`, result: 'hit' },
    { path: `${PODS}?resourceVersion=0&labelSelector=app`, result: 'hit' },
    { path: `${PODS}?resourceVersion=0&fieldSelector=status.phase=Running`, result: 'hit' },
    { path: `${PODS}?resourceVersion=0&fieldSelector=spec.nodeName=node-00001`, result: 'hit' },
    { path: `${SHOP}/pods?resourceVersion=0`, result: 'hit' },
    { path: `${SHOP}/pods?resourceVersion=0&fieldSelector=metadata.name=POD`, result: 'hit' },
    { path: `${PODS}?resourceVersion=0&labelSelector=absent=1`, result: 'hit' },
    { path: `${PODS}?resourceVersion=0&labelSelector=absent=1`, accept: METADATA, result: 'hit' },
    { path: `${SHOP}/pods/POD?resourceVersion=0`, result: 'hit' },
    { path: `${SHOP}/pods/POD?resourceVersion=0`, accept: ONE_METADATA, result: 'hit' },
    { path: `${PODS}?resourceVersion=0`, accept: METADATA, result: 'hit' },
    { path: '/api/v1/configmaps?resourceVersion=0', result: 'hit' },
    { path: '/apis/apps/v1/deployments?resourceVersion=0', result: 'hit' },
    { path: '/api/v1/namespaces?resourceVersion=0', result: 'hit' },
    { path: '/api/v1/namespaces/shop?resourceVersion=0', result: 'hit' },
    {
      path: `${PODS}?resourceVersion=0`,
      accept: 'application/vnd.kubernetes.protobuf',
      result: 'media-type',
    },
    { path: '/api/v1/configmaps?resourceVersion=0', accept: TABLE, result: 'columns' },
    { path: `${PODS}?resourceVersion=0&pretty=true`, result: 'parameter' },
    { path: `${PODS}?resourceVersion=0&resourceVersion=1`, result: 'parameter' },
    { path: `${PODS}?resourceVersion=x`, result: 'parameter' },
    { path: `${PODS}?resourceVersionMatch=Exact&resourceVersion=VERSION`, result: 'exact' },
    { path: `${PODS}?limit=2&resourceVersion=VERSION`, result: 'exact' },
    { path: `${PODS}?continue=abc`, result: 'parameter' },
    { path: `${PODS}?resourceVersion=0&fieldSelector=spec.nothing=1`, result: 'error' },
    { path: `${PODS}?resourceVersion=0&labelSelector=a%20b%20c`, result: 'parameter' },
    { path: `${SHOP}/pods/POD`, result: 'current-get' },
    { path: `${SHOP}/pods/absent?resourceVersion=0`, result: 'absent' },
    { path: '/api/v1/secrets?resourceVersion=0', result: 'kind' },
    { path: '/apis/apps/v1beta1/deployments?resourceVersion=0', result: 'kind' },
    // The review of such a path would have the attributes of another permission.
    { path: `${SHOP}/namespaces?resourceVersion=0`, result: 'kind' },
    { path: `${SHOP}/namespaces/default?resourceVersion=0`, result: 'kind' },
    { path: `${SHOP}/namespaces/shop?resourceVersion=0`, result: 'kind' },
    { path: '/api/v1/deployments.apps?resourceVersion=0', result: 'kind' },
    { path: `${SHOP}/deployments.apps?resourceVersion=0`, result: 'kind' },
    { path: `${PODS}/?resourceVersion=0`, result: 'kind' },
  ];

  it('no-cache: a client can request the response of kube-apiserver', async () => {
    const ours = await ask('gateway', `${PODS}?resourceVersion=0`, 'application/json', [
      'Cache-Control: no-cache',
    ]);
    expect(cacheResult(ours)).to.equal('no-cache');
  });

  it('sends the same events, and the bookmark after the initial ones', async () => {
    const kubectl = (line: string) => gateway.platform.succeeding(`-n shop ${line}`);
    const name = 'watched';
    const { client } = gateway.platform.controlPlane;
    const path = `${SHOP}/configmaps/${name}`;
    const label = (step: string) =>
      client.expect(
        path,
        {
          method: 'PATCH',
          body: { metadata: { labels: { step } } },
          contentType: 'application/merge-patch+json',
        },
        [200],
      );
    // Without kubectl, which on a busy machine takes longer than the watches last.
    const changes = async (): Promise<void> => {
      const body = { metadata: { name }, data: { a: '1' } };
      await client.expect(`${SHOP}/configmaps`, { method: 'POST', body }, [201]);
      await label('one');
      await label('two');
      await client.expect(path, { method: 'DELETE' }, [200]);
    };
    // The event of this object brings the cache to the start of the watches.
    await kubectl('create configmap start');
    const start = await kubectl('get configmap start -o jsonpath={.metadata.resourceVersion}');
    await until(
      async () => cacheResult(await ask('gateway', `${SHOP}/configmaps?resourceVersion=${start}`)) === 'hit',
    );
    const watch = 'watch=true&timeoutSeconds=5';
    const queries = [
      `${watch}&resourceVersion=0`,
      `${watch}&resourceVersion=${start}&allowWatchBookmarks=true`,
      `${watch}&resourceVersion=0&labelSelector=step=one`,
      `${watch}&resourceVersion=0&fieldSelector=metadata.name=${name}`,
      `${watch}&resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      `${watch}&resourceVersion=${start}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    ];
    const opened: Promise<void>[] = [];
    const responses = queries.flatMap((query) =>
      ['application/json', ONE_METADATA].map(async (accept) => {
        const lines = linesOf(`${SHOP}/configmaps?${query}`, accept);
        const open = (side: Side): Promise<RawResponse> => {
          const { promise, resolve } = Promise.withResolvers<void>();
          opened.push(promise);
          return gateway.raw(side, lines, '', resolve);
        };
        return { query, accept, sides: await Promise.all([open('direct'), open('gateway')]) };
      }),
    );
    await Promise.all(opened);
    await changes();
    for (const { query, accept, sides } of await Promise.all(responses)) {
      const [direct, ours] = sides;
      expect(cacheResult(ours), query).to.equal('hit');
      expect(eventsIn(ours), `${query}, ${accept}`).to.deep.equal(eventsIn(direct));
      expect(headersOf(ours), `${query}, ${accept}`).to.deep.equal(headersOf(direct));
    }
  });

  describe('permission', () => {
    const kubectl = (line: string) => gateway.platform.succeeding(`-n shop ${line}`);
    const readAs = (caller: string, side: Side, path: string) =>
      gateway.raw(side, [`GET ${path} HTTP/1.1`, `Authorization: Bearer ${caller}`]);
    const create = async (namespace: string, name: string): Promise<string> => {
      await gateway.platform.succeeding(`create serviceaccount ${name} -n ${namespace}`);
      return gateway.serviceAccountToken(namespace, name);
    };
    /** Compares the responses of both sides to a read. */
    const compared = async (caller: string, path: string, result: string): Promise<void> => {
      await until(async () => cacheResult(await readAs(caller, 'gateway', path)) === result);
      const [direct, ours] = await Promise.all([
        readAs(caller, 'direct', path),
        readAs(caller, 'gateway', path),
      ]);
      expect(cacheResult(ours), path).to.equal(result);
      expect(seen(ours), path).to.deep.equal(seen(direct));
      expect(ours.status, path).to.equal(result === 'hit' ? 200 : 403);
    };

    it('in a namespace includes the namespace itself, and no other', async () => {
      const reader = await create('shop', 'reader');
      await kubectl('create rolebinding reader --clusterrole=view --serviceaccount=shop:reader');
      await compared(reader, `${SHOP}/pods?resourceVersion=0`, 'hit');
      await compared(reader, '/api/v1/namespaces/shop?resourceVersion=0', 'hit');
      await compared(reader, '/api/v1/namespaces/default?resourceVersion=0', 'permission');
      await compared(reader, '/api/v1/namespaces/default/pods?resourceVersion=0', 'permission');
      await compared(reader, `${PODS}?resourceVersion=0`, 'permission');
      const namesake = await create('default', 'reader');
      await compared(namesake, `${SHOP}/pods?resourceVersion=0`, 'permission');
    });

    it('ends a watch with 410 when it is lost', async () => {
      const watcher = await create('shop', 'watcher');
      await kubectl('create rolebinding watcher --clusterrole=view --serviceaccount=shop:watcher');
      await compared(watcher, `${SHOP}/pods?resourceVersion=0`, 'hit');
      const path = `${SHOP}/pods?watch=true&resourceVersion=0&timeoutSeconds=60`;
      const watch = readAs(watcher, 'gateway', path);
      await kubectl('delete rolebinding watcher');
      const last = (await watch).body.toString().trim().split('\n').at(-1) ?? '';
      expect(JSON.parse(last)).to.deep.include({ type: 'ERROR' });
      expect(JSON.parse(last).object).to.deep.include({ code: 410, reason: 'Expired' });
      expect((await readAs(watcher, 'gateway', `${SHOP}/pods?resourceVersion=0`)).status).to.equal(403);
    });

    it('for one name allows this name only, also as a list; get does not allow a list', async () => {
      const one = await create('shop', 'one');
      await kubectl(`create role one --verb=get,list --resource=pods --resource-name=${pod}`);
      await kubectl('create role get --verb=get --resource=configmaps');
      for (const role of ['one', 'get']) {
        await kubectl(`create rolebinding ${role} --role=${role} --serviceaccount=shop:one`);
      }
      await compared(one, `${SHOP}/pods/${pod}?resourceVersion=0`, 'hit');
      await compared(one, `${SHOP}/pods?resourceVersion=0&fieldSelector=metadata.name%3D${pod}`, 'hit');
      await compared(one, `${SHOP}/pods?resourceVersion=0`, 'permission');
      await compared(one, `${SHOP}/pods/other?resourceVersion=0`, 'permission');
      await compared(one, `${SHOP}/pods?resourceVersion=0&fieldSelector=metadata.name%3Dother`, 'permission');
      await compared(one, `${SHOP}/configmaps/kube-root-ca.crt?resourceVersion=0`, 'hit');
      await compared(one, `${SHOP}/configmaps?resourceVersion=0`, 'permission');
    });
  });

  it('contains each write in reads of nodes in the aggregated API, with cache.currentReads', async () => {
    const own = '/apis/resources.platform.io/v1alpha3/nodes';
    const { client } = gateway.platform.controlPlane;
    const contentType = 'application/merge-patch+json';
    for (let round = 0; round < 20; round++) {
      const body = { metadata: { labels: { round: `r${round}` } } };
      await client.expect('/api/v1/nodes/node-00001', { method: 'PATCH', contentType, body }, [200]);
      const read = await ask('gateway', `${own}/node-00001`);
      expect(JSON.parse(read.body.toString()).metadata.labels.round).to.equal(`r${round}`);
    }
  });

  describe('of a caller who writes', () => {
    const LISTS = [
      `${SHOP}/configmaps?resourceVersion=0`,
      '/kapis/resources.platform.io/v1alpha3/namespaces/shop/configmaps',
    ];
    const send = (side: Side, method: string, path: string, body: object | '' = '') => {
      const text = body === '' ? '' : JSON.stringify(body);
      const lines = [
        `${method} ${path} HTTP/1.1`,
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        `Content-Length: ${text.length}`,
      ];
      return gateway.raw(side, lines, text);
    };
    const create = (side: Side, name: string) =>
      send(side, 'POST', `${SHOP}/configmaps`, { metadata: { name }, data: { a: '1' } });
    const names = ({ body }: RawResponse): string[] =>
      (JSON.parse(body.toString()) as { items: { metadata: { name: string } }[] }).items.map(
        ({ metadata }) => metadata.name,
      );

    for (const path of LISTS) {
      it(`contains each write of the caller: ${path}`, async () => {
        for (let round = 0; round < 20; round++) {
          const name = `written-${round}`;
          expect((await create('gateway', name)).status).to.equal(201);
          expect(names(await ask('gateway', path))).to.include(name);
          expect((await send('gateway', 'DELETE', `${SHOP}/configmaps/${name}`)).status).to.equal(200);
          expect(names(await ask('gateway', path))).to.not.include(name);
        }
      });
    }

    for (const path of ['/api/v1/configmaps', `${SHOP}/configmaps`]) {
      it(`sends the pages of kube-apiserver: ${path}`, async () => {
        await create('direct', 'paged-1');
        await create('direct', 'paged-2');
        const read = async (side: Side, query: string) => {
          const response = await ask(side, `${path}?limit=2${query}`);
          return { response, list: JSON.parse(response.body.toString()) };
        };
        // The write makes the kind busy, so that the cache is current soon.
        let first = await read('gateway', '');
        for (let round = 0; cacheResult(first.response) !== 'hit'; round++) {
          await send('direct', 'DELETE', `${SHOP}/configmaps/paged-0`);
          await create('direct', 'paged-0');
          first = await read('gateway', '');
        }
        let { metadata } = first.list;
        await create('direct', 'paged-later');
        while (metadata.continue !== undefined) {
          const query = `&continue=${metadata.continue}`;
          const [direct, ours] = await Promise.all([read('direct', query), read('gateway', query)]);
          expect(ours.list).to.deep.equal(direct.list);
          expect(headersOf(ours.response)).to.deep.equal(headersOf(direct.response));
          expect(cacheResult(ours.response)).to.equal('hit');
          expect(direct.list.metadata.resourceVersion).to.equal(first.list.metadata.resourceVersion);
          metadata = ours.list.metadata;
        }
        const names = ['paged-0', 'paged-1', 'paged-2', 'paged-later'];
        for (const name of names) await send('direct', 'DELETE', `${SHOP}/configmaps/${name}`);
      });
    }

    it('contains writes through kube-apiserver in lists without a resourceVersion', async () => {
      const results = new Map<string | undefined, number>();
      for (let round = 0; round < 20; round++) {
        const name = `elsewhere-${round}`;
        await create('direct', name);
        const list = await ask('gateway', `${SHOP}/configmaps`);
        expect(names(list)).to.include(name);
        results.set(cacheResult(list), (results.get(cacheResult(list)) ?? 0) + 1);
        await send('direct', 'DELETE', `${SHOP}/configmaps/${name}`);
      }
      // The kind is busy, because of these writes.
      expect(results.get('hit')).to.be.greaterThan(0);
    });
  });

  for (const { path, accept, result } of decisions) {
    it(`${result}: ${path}${accept ? `, ${accept.split(';')[1] ?? accept}` : ''}`, async () => {
      const sent = path.replace('POD', pod).replace('VERSION', version);
      const [direct, ours] = await Promise.all([ask('direct', sent, accept), ask('gateway', sent, accept)]);
      expect(cacheResult(ours)).to.equal(result);
      expect(seen(ours)).to.deep.equal(seen(direct));
    });
  }
});

/** The events of a watch. Each side sends bookmarks at its own times, except for the one after the initial events. */
function eventsIn({ body }: RawResponse): unknown[] {
  return body
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; object: { metadata: Record<string, unknown> } })
    .filter(({ type, object }) => type !== 'BOOKMARK' || object.metadata['annotations'] !== undefined)
    .map((event) => {
      if (event.type === 'BOOKMARK') event.object.metadata['resourceVersion'] = '';
      return event;
    });
}

/** The lists of both sides can be of different times, although they have the same items. */
function withoutListVersion(body: { kind: string; metadata: { resourceVersion?: string } }): unknown {
  return body.kind.endsWith('List') ? { ...body, metadata: { ...body.metadata, resourceVersion: '' } } : body;
}

function headersOf({ headers }: Pick<RawResponse, 'headers'>): string[] {
  return headers
    .filter(([name]) => !OTHER.has(name) && !name.startsWith('x-kubernetes-pf-'))
    .map((pair) => pair.join(': '))
    .toSorted();
}

function seen({ status: code, headers, body }: RawResponse): unknown {
  const isJSON = headers.some(([name, value]) => name === 'content-type' && value === 'application/json');
  return {
    code,
    headers: headersOf({ headers }),
    body: isJSON ? withoutListVersion(JSON.parse(body.toString())) : body.toString('base64'),
  };
}
