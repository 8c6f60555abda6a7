// Tests of live lists, and of the metrics of cached kinds. lifecycle.test.ts runs the tests.

import { expect } from 'chai';
import { array, record, recordIn } from '../../../../apis/reading/unknown-value.ts';
import { grant } from '../../../../hack/extension/registration.ts';
import { PasswordHasher } from '../../../../server/oauth/passwords/password-hasher.ts';
import { type Definition, version } from '../../../support/cluster/custom-resource.ts';
import type { LiveEvent } from '../../../support/platform/live-events.ts';
import { until } from '../../../support/until.ts';
import { createCustom, define, definitionPath } from './lifecycle.test.ts';
import type { ResourceCluster, Server } from './resource-cluster.ts';
import { sharedServer } from './shared-server.ts';

const HASHER = new PasswordHasher({
  memory: 7 << 20,
  iterations: 1,
  queue: { concurrency: 1, length: 1, timeoutMs: 30_000 },
});

const totalOf = ({ data }: LiveEvent): number => Number(data['totalItems']);

describe('live lists', () => {
  const MAPS = '/api/v1/namespaces/live/configmaps';
  const PATH = 'namespaces/live/configmaps?limit=5&sortBy=name&columns=true';
  let cluster: ResourceCluster;
  let server: Server;
  let created = 0;

  const createMap = async (): Promise<void> => {
    await cluster.create(MAPS, { metadata: { name: `map-${created++}` } });
  };

  before(async () => {
    ({ cluster, server } = await sharedServer());
    await cluster.create('/api/v1/namespaces', { metadata: { name: 'live' } });
    await until(() => cluster.exists(`${MAPS}/kube-root-ca.crt`));
    await until(async () => (await server.page(PATH)).names.length === 1);
  });

  it('send the page of the list, and the new page after a change', async () => {
    const live = await server.live(PATH);
    const first = await live.next();
    expect(first).to.have.property('event', 'page');
    expect(first?.data).to.deep.equal((await server.page(PATH)).body);
    await createMap();
    const second = await live.next();
    expect(second?.data).to.have.property('totalItems', 2);
    expect(second?.data['items']).to.deep.equal((await server.page(PATH)).body['items']);
    expect(second?.id).not.to.equal(first?.id);
    live.close();
  });

  it('send few events for many changes in an interval', async () => {
    const live = await server.live(`${PATH}&live=page`);
    const first = await live.until(() => true);
    const wanted = totalOf(first) + 50;
    const events: LiveEvent[] = [];
    const reading = live.until((event) => events.push(event) > 0 && totalOf(event) === wanted);
    for (let i = 0; i < 50; i++) await createMap();
    await reading;
    expect(events.length).to.be.within(1, 25);
    live.close();
  });

  it('end with the permission of the caller', async () => {
    const tenant = await server.asUser('live-tenant');
    const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/live/rolebindings';
    await cluster.bind('view', 'live-tenant', 'live');
    await until(async () => (await server.page('configmaps', tenant)).status === 200);
    const [path, all] = [await server.live(PATH, tenant), await server.live('configmaps', tenant)];
    expect(await path.next()).to.have.property('event', 'page');
    expect((await all.next())?.data).to.have.property('partial', true);
    await cluster.delete(`${bindings}/view-live-tenant`);
    const over = new AbortController();
    const failures = Promise.all(
      [path, all].map((live) => live.until(({ event }) => event === 'failure')),
    ).finally(() => over.abort());
    // The permissions are checked before each page.
    while (!over.signal.aborted) await createMap();
    for (const { data } of await failures) {
      expect(data).to.have.property('code', 403);
      expect(data['message']).to.match(/^configmaps is forbidden: User "live-tenant" cannot list resource/);
    }
    expect(await path.next()).to.equal(undefined);
    expect(await all.next()).to.equal(undefined);
  });

  it('follow a changed definition, and end when the kind is removed', async () => {
    const kind: Definition = { plural: 'lamps', kind: 'Lamp' };
    await define(cluster, kind);
    await createCustom(cluster, kind, 'lamp');
    await until(async () => (await server.page('lamps')).names.length === 1);
    const live = await server.live('lamps');
    expect(await live.next()).to.have.property('event', 'page');
    const versions = [version('v1'), version('v2')];
    await cluster.patch(definitionPath('lamps'), { spec: { versions } });
    await live.until(({ data }) => record(array(data['items'])[0])['apiVersion'] === 'example.com/v2');
    await cluster.delete(definitionPath('lamps'));
    const { data } = await live.until(({ event }) => event === 'failure');
    expect(data).to.have.property('code', 404);
    expect(await live.next()).to.equal(undefined);
  });

  it('end with the session of the caller', async () => {
    const password = 'correct horse battery staple';
    await grant(cluster.controlPlane, 9443, AbortSignal.timeout(30_000));
    const iam = '/apis/iam.platform.io/v1beta1';
    const create = async (kind: string, spec: object): Promise<Readonly<Record<string, unknown>>> => {
      const body = { apiVersion: 'iam.platform.io/v1beta1', kind, metadata: { name: 'ada' }, spec };
      return cluster.create(`${iam}/${kind.toLowerCase()}s`, body);
    };
    await until(() => cluster.exists(`${iam}/users`));
    await until(() => cluster.exists(`${iam}/credentials`));
    const { uid } = recordIn(await create('User', {}), 'metadata');
    await create('Credential', {
      userUID: uid,
      passwordHash: await HASHER.hash(password, { caller: 'user test' }),
      changedTime: new Date(0).toISOString(),
    });
    await cluster.bind('view', 'ada');
    const other = await cluster.serve({ oauth: {} });
    const token = await other.signIn('ada', password);
    const live = await other.live(PATH, other.as({ token }));
    expect(await live.next()).to.have.property('event', 'page');
    await cluster.delete(`${iam}/sessions`);
    // The session is checked every 5 seconds, without a change of the list.
    expect(await live.next()).to.equal(undefined);
    await other.stop();
  });

  it('end with a complete response when the server stops', async () => {
    const other = await cluster.serve();
    const live = await other.live(PATH);
    expect(await live.next()).to.have.property('event', 'page');
    await Promise.all([other.stop(), live.until(() => false).catch(() => undefined)]);
    expect(live.complete).to.equal(true);
  });

  it('have metrics of each kind, and none of unknown kinds', async () => {
    const live = await server.live(PATH);
    const label = '{resource="configmaps"}';
    expect((await server.samples('cache_objects')).get(label)).to.be.at.least(created);
    expect((await server.samples('cache_bytes')).get(label)).to.be.greaterThan(1_000);
    expect((await server.samples('cache_max_bytes')).get(label)).to.equal(512 << 20);
    expect((await server.samples('cache_age_seconds')).get(label)).to.be.within(0, 120);
    expect((await server.samples('cache_synced')).get(label)).to.equal(1);
    expect((await server.samples('cache_watchers')).get(label)).to.be.at.least(1);
    live.close();

    const names = async (): Promise<readonly string[]> => {
      const metrics = ['apiserver_request_total', 'reflector_lists_total', 'cache_objects', 'cache_bytes'];
      const samples = await Promise.all(metrics.map((metric) => server.samples(metric)));
      return samples.flatMap((sample) => [...sample.keys()]);
    };
    expect((await server.page('invented')).status).to.equal(404);
    const before = await names();
    const paths = Array.from({ length: 100 }, (_, n) => `invented-${n}`);
    const answers = await Promise.all(paths.map((path) => server.page(path)));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([404]));
    expect(await names()).to.deep.equal(before);
  });
});
