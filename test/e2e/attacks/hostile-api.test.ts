// Attacks on the caches of kinds: aggregated APIs that show each caller other objects, and callers without permissions.
import { expect } from 'chai';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ServerProcess } from '../../../hack/extension/server-process.ts';
import { AggregatedAPI, thing } from '../../support/cluster/aggregated-api.ts';
import { until } from '../../support/until.ts';
import { cacheResult, type RawResponse, rawRequest } from '../gateway/raw-request.ts';
import { Platform } from '../platform.ts';

const LISTS = '/kapis/resources.platform.io/v1alpha3';
const GROUP = 'filtering.example.org';
const THINGS = `things.${GROUP}`;
const TENANTS = ['ada', 'bob'];

describe('hostile APIs and callers', () => {
  let platform: Platform;
  let api: AggregatedAPI;
  /** Tokens of ServiceAccounts, by name. */
  const tokens = new Map<string, string>();

  before(async () => {
    platform = await Platform.start(0, {
      configure: async () => ({
        gateway: { acceleration: true },
        authorization: { allowCacheTTL: '1s' },
        resources: { preload: ['configmaps'] },
      }),
    });
    api = await AggregatedAPI.start(platform.controlPlane, GROUP);
    api.owners = TENANTS.map((name) => `system:serviceaccount:default:${name}`);
    await api.register();
    await until(async () => (await platform.kubectl('get things')).code === 0);
    await createRole('things', THINGS);
    // The server could list everything, so that only its own decision protects the objects of others.
    await platform.bind('cluster-admin', '--serviceaccount=platform-system:ks-apiserver');
    for (const name of ['admin', 'stranger', ...TENANTS]) {
      await platform.succeeding('create serviceaccount', name);
      tokens.set(name, (await platform.succeeding('create token', name)).trim());
    }
    await platform.bind('cluster-admin', '--serviceaccount=default:admin');
    for (const name of TENANTS) await platform.bind('things', `--serviceaccount=default:${name}`);
    await until(async () => (await ask('ada', api.path)).status === 200);
  });
  after(async () => {
    await api?.stop();
    await platform?.stop();
  });

  async function createRole(name: string, resource: string): Promise<void> {
    await platform.succeeding(`create clusterrole ${name} --verb=get,list,watch --resource=${resource}`);
  }

  function ask(
    caller: string,
    path: string,
    accept = 'application/json',
    url = platform.server.url,
  ): Promise<RawResponse> {
    const target = { port: Number(new URL(url).port), ca: platform.controlPlane.ca };
    const authorization = `Authorization: Bearer ${tokens.get(caller)}`;
    return rawRequest(target, [`GET ${path} HTTP/1.1`, authorization, `Accept: ${accept}`]);
  }

  function jsonOf({ body }: RawResponse): Readonly<Record<string, unknown>> {
    return record(JSON.parse(body.toString()));
  }

  function namesIn(response: RawResponse): readonly string[] {
    return array(jsonOf(response)['items']).map((item) => text(recordIn(item, 'metadata')['name']));
  }

  /** The kinds that the server follows. */
  async function followed(): Promise<readonly string[]> {
    const lines = (await ask('admin', '/metrics')).body.toString();
    return [...lines.matchAll(/^cache_synced\{resource="([^"]*)"\}/gm)].map(([, kind = '']) => kind);
  }

  it('shows each caller only its own objects of an aggregated API', async () => {
    const control = '/api/v1/configmaps?resourceVersion=0';
    await until(async () => cacheResult(await ask('admin', control)) === 'hit');
    for (const query of ['', '?resourceVersion=0', '?limit=1&resourceVersion=0']) {
      for (const caller of ['admin', ...TENANTS]) {
        const own = caller === 'admin' ? [] : [`of-${caller}`];
        const listed = await ask(caller, `${api.path}${query}`);
        expect(namesIn(listed), `${caller} ${query}`).to.deep.equal(own);
        expect(cacheResult(listed)).to.equal('kind');
      }
    }
    expect(await followed()).not.to.include(THINGS);
  });

  it('serves no lists, objects, live lists and searches of an aggregated API, and says why', async () => {
    for (const resource of ['things', THINGS]) {
      for (const path of [resource, `${resource}/of-bob`, `${resource}?facets=status`]) {
        const { status, body } = await ask('ada', `${LISTS}/${path}`);
        expect(status, path).to.equal(404);
        expect(body.toString(), path).to.include('resources.callerIndependent').and.not.include('uid-of-bob');
      }
      const live = await ask('ada', `${LISTS}/${resource}`, 'text/event-stream');
      expect(live.status).to.equal(404);
      const named = await ask('ada', `${LISTS}/search?q=of&kinds=${resource}`);
      expect(named.status).to.equal(400);
      expect(named.body.toString()).to.include('resources.callerIndependent');
    }
    const all = jsonOf(await ask('admin', `${LISTS}/search?q=of`));
    expect(all['kinds']).to.include('configmaps').and.not.include(THINGS);
    expect(await followed()).not.to.include(THINGS);
  });

  describe('that the operator names', () => {
    let url: string;
    let replica: ServerProcess;

    /** Each test starts with another state of the API, so it has a replica of its own, which does not follow the kind yet. */
    beforeEach(async () => {
      const resources = { callerIndependent: [`*.${GROUP}`] };
      replica = await platform.startReplica('named', { gateway: { acceleration: true }, resources });
      ({ url } = replica);
    });
    afterEach(() => replica.stop());

    const list = (): Promise<RawResponse> => ask('ada', `${LISTS}/${THINGS}`, 'application/json', url);

    it('are listed for every caller, although they ignore WatchList, and are not accelerated', async () => {
      await until(async () => (await list()).status !== 404);
      expect(namesIn(await list())).to.have.members(['of-ada', 'of-bob']);
      const direct = await ask('ada', `${api.path}?resourceVersion=0`, 'application/json', url);
      expect(namesIn(direct)).to.deep.equal(['of-ada']);
      expect(cacheResult(direct)).to.equal('kind');
    });

    it('are listed without objects that have no name, if the list has no resourceVersion', async () => {
      const objects = [thing('a', 'ada', 'x'), thing('b', 'bob', '200/201'), { metadata: {} }, 7, null];
      api.respond = ({ response }) => {
        const body = JSON.stringify({ items: [...objects, ...objects] });
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      };
      const listed = await list();
      expect(listed.status, listed.body.toString()).to.equal(200);
      expect(namesIn(listed)).to.have.members(['a', 'b']);
    });

    it('get a 503 with the cause after a redirect, which is not followed', async () => {
      api.respond = ({ response }) => response.writeHead(302, { location: 'https://127.0.0.1:1/' }).end();
      const listed = await list();
      expect(listed.status).to.equal(503);
      expect(jsonOf(listed)['message']).to.match(
        /^the list of things\.filtering\.example\.org is not available yet: /,
      );
    });
  });

  it('stops serving a custom resource when an aggregated API takes over its group', async () => {
    const group = 'taken.example.org';
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: 'Cluster',
        names: { plural: 'things', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    };
    const taking = await AggregatedAPI.start(platform.controlPlane, group);
    try {
      await platform.succeeding('apply -f', await platform.write('crd.json', JSON.stringify(definition)));
      await platform.succeeding(`wait --for=condition=Established crd/things.${group}`);
      const local = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'local' } };
      await platform.succeeding('apply -f', await platform.write('local.json', JSON.stringify(local)));
      await until(async () => (await ask('admin', `${LISTS}/things.${group}`)).status === 200);
      expect(await followed()).to.include(`things.${group}`);
      await taking.takeOver();
      await until(async () => (await ask('admin', `${LISTS}/things.${group}`)).status === 404);
      expect(await followed()).not.to.include(`things.${group}`);
      const { body } = await ask('admin', `${LISTS}/things.${group}`);
      expect(body.toString()).to.include('resources.callerIndependent');
      for (let i = 0; i < 3; i++) {
        expect(cacheResult(await ask('admin', `${taking.path}?resourceVersion=0`))).to.equal('kind');
      }
    } finally {
      await taking.stop();
    }
  });

  it('follows no kind for a caller without permissions, and then still accelerates others', async () => {
    const before = await followed();
    const kinds = [
      ...['services', 'endpoints', 'pods', 'persistentvolumes', 'limitranges', 'resourcequotas'].map(
        (plural) => [plural, `/api/v1/${plural}`],
      ),
      ...['deployments', 'daemonsets', 'statefulsets', 'replicasets'].map((plural) => [
        `${plural}.apps`,
        `/apis/apps/v1/${plural}`,
      ]),
    ];
    for (const [name, path] of kinds) {
      for (const query of ['', '?resourceVersion=0', '?watch=true', '?fieldSelector=metadata.name%3Dx']) {
        expect((await ask('stranger', `${path}${query}`)).status, `${path}${query}`).to.equal(403);
      }
      for (const accept of ['application/json', 'text/event-stream']) {
        expect((await ask('stranger', `${LISTS}/${name}`, accept)).status, name).to.equal(403);
      }
      await ask('stranger', `${LISTS}/search?q=a&kinds=${name}`);
    }
    expect((await followed()).toSorted()).to.deep.equal(before.toSorted());
    await until(async () => cacheResult(await ask('admin', '/api/v1/services?resourceVersion=0')) === 'hit');
  });

  it('keeps serving its own aggregated groups', async () => {
    const nodes = await ask('admin', '/apis/resources.platform.io/v1alpha3/nodes');
    expect(nodes.status).to.equal(200);
    expect((await ask('admin', `${LISTS}/nodes`)).status).to.equal(200);
  });
});
