// Tests of the catalog of kinds that the server can list.
import { expect } from 'chai';
import { pino } from 'pino';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { exactName, type Kind, PODS } from '../../../../../server/resources/kind.ts';
import { KindCatalog } from '../../../../../server/resources/kinds/kind-catalog.ts';
import { KindCopies } from '../../../../../server/resources/kinds/kind-copies.ts';
import { refuse } from '../../../../support/cluster/scripted-cluster.ts';
import { CUSTOM_DEFINITIONS_PATH, KindCluster } from '../../../../support/platform/kind-cluster.ts';
import { until } from '../../../../support/until.ts';

const kind = (name: string, version = 'v1'): Kind => {
  const [plural = '', ...group] = name.split('.');
  return { group: group.join('.'), version, plural, kind: plural, namespaced: true };
};
const WIDGETS = kind('widgets.example.com');

describe('KindCatalog', () => {
  const log = pino({ level: 'silent' });
  const { signal } = new AbortController();
  let cluster: KindCluster;
  let stop: AbortController;
  let running: Promise<unknown> | undefined;
  let changes: number;

  async function catalogOf(kinds: readonly Kind[], allowed: readonly string[] = []): Promise<KindCatalog> {
    cluster = await KindCluster.start(...kinds);
    const { client } = cluster;
    const copies = new KindCopies({ client, log, domain: 'platform.io' });
    const options = { client, copies, log, domain: 'platform.io', allowed, callerIndependent: [] };
    const catalog = new KindCatalog({ ...options, changed: () => changes++ });
    running = Promise.all([copies, catalog].map((each) => each.run(stop.signal)));
    return catalog;
  }

  beforeEach(() => {
    stop = new AbortController();
    changes = 0;
    running = undefined;
  });

  afterEach(async () => {
    stop.abort();
    await running;
    await cluster.stop();
  });

  async function failure(catalog: KindCatalog, resource: string): Promise<StatusError> {
    try {
      await catalog.resolve(resource, { signal });
    } catch (error) {
      if (error instanceof StatusError) return error;
      throw error;
    }
    throw new Error(`${resource} was found`);
  }

  async function resolved(catalog: KindCatalog, resource: string): Promise<string> {
    return exactName(await catalog.resolve(resource, { signal }));
  }

  it('prefers the built-in kind, and reports an ambiguous plural of custom resources', async () => {
    const catalog = await catalogOf([
      kind('services'),
      kind('services.serving.example.dev'),
      kind('ingresses.networking.k8s.io'),
      kind('ingresses.example.com'),
      kind('backups.b.example.com'),
      kind('backups.a.example.com'),
    ]);
    expect(await resolved(catalog, 'services')).to.equal('services');
    expect(await resolved(catalog, 'services.serving.example.dev')).to.equal('services.serving.example.dev');
    expect(await resolved(catalog, 'ingresses')).to.equal('ingresses.networking.k8s.io');
    const ambiguous = await failure(catalog, 'backups');
    expect(ambiguous.code).to.equal(400);
    expect(ambiguous.message).to.include('use one of backups.a.example.com, backups.b.example.com');
  });

  it('has the kinds of the group of APIServices, which has no APIService itself', async () => {
    const services = kind('apiservices.apiregistration.k8s.io');
    const catalog = await catalogOf([services, WIDGETS]);
    expect(await resolved(catalog, 'widgets')).to.equal('widgets.example.com');
    cluster.serveBy('DELETED', services);
    cluster.serveBy('DELETED', WIDGETS);
    await until(() => catalog.current('widgets.example.com') === undefined);
    expect(catalog.current('apiservices.apiregistration.k8s.io')?.apiService?.aggregated).to.equal(false);
  });

  it('does not take a custom resource for a built-in kind because of its group', async () => {
    // CustomResourceDefinitions of the project itself are in groups of k8s.io.
    const [custom, aggregated] = [kind('pods.metrics.k8s.io'), kind('gateways.gateway.networking.k8s.io')];
    const catalog = await catalogOf([PODS, custom, aggregated, kind('gateways.example.com')]);
    expect(await resolved(catalog, 'pods')).to.equal('pods');
    expect((await failure(catalog, 'gateways')).code).to.equal(400);
  });

  it('responds with 503 for custom resources until their definitions are known', async () => {
    const names = ['widgets', 'widgets.example.com', 'gateways.gateway.networking.k8s.io'];
    const ingresses = kind('ingresses.networking.k8s.io');
    const catalog = await catalogOf([PODS, ingresses, WIDGETS, kind(names[2] ?? '')]);
    cluster.responses.set(CUSTOM_DEFINITIONS_PATH, ({ response }) => refuse(response, 403, 'Forbidden'));
    for (const name of names) {
      const { code, message, details } = await failure(catalog, name);
      expect(code, name).to.equal(503);
      expect(details?.retryAfterSeconds).to.equal(1);
      expect(message).to.include('not allowed to list customresourcedefinitions');
      expect(catalog.absence(name).code).to.equal(503);
      expect(catalog.has(name)).to.equal(false);
    }
    for (const name of ['pods', 'ingresses']) await resolved(catalog, name);
    const { code, message } = await failure(catalog, 'gadgets');
    expect([code, message]).to.deep.equal([
      404,
      'the cluster has no resource "gadgets" that can be listed and watched: use a NAME of kubectl api-resources, such as pods or deployments.apps',
    ]);
    cluster.responses.clear();
    await until(() => names.every((name) => catalog.has(name)));
    for (const name of names.slice(1)) expect(catalog.current(name)?.custom, name).to.be.an('object');
  });

  it('responds with 503 for a plural of which a definition is not known yet, and keeps the others', async () => {
    const [known, added] = [kind('backups.a.example.com'), kind('backups.b.example.com')];
    const catalog = await catalogOf([known]);
    expect(await resolved(catalog, 'backups')).to.equal('backups.a.example.com');
    cluster.responses.set(CUSTOM_DEFINITIONS_PATH, ({ response }) => refuse(response, 500, 'InternalError'));
    cluster.disconnect(CUSTOM_DEFINITIONS_PATH);
    cluster.kinds = [known, added];
    await until(async () => {
      await failure(catalog, 'unknown');
      return catalog.absence('backups.b.example.com').code === 503;
    });
    for (const name of ['backups', 'backups.b.example.com'])
      expect((await failure(catalog, name)).code, name).to.equal(503);
    expect(await resolved(catalog, 'backups.a.example.com')).to.equal('backups.a.example.com');
    cluster.responses.clear();
    await until(() => {
      cluster.define('ADDED', added);
      return catalog.has('backups.b.example.com');
    });
    expect((await failure(catalog, 'backups')).code).to.equal(400);
  });

  it('responds with 404 for unknown resources, after a new request for discovery', async () => {
    const catalog = await catalogOf([PODS]);
    for (const name of ['widgets', 'widgets.example.com', 'pods.example.com', 'constructor', '']) {
      expect((await failure(catalog, name)).code, name).to.equal(404);
    }
    // Not for each of them.
    expect(cluster.requests('/api')).to.equal(1);
    cluster.kinds = [PODS, WIDGETS];
    await until(async () => {
      try {
        return (await resolved(catalog, 'widgets')) === 'widgets.example.com';
      } catch {
        return false;
      }
    });
  });

  it('does not serve restricted kinds unless they are allowed', async () => {
    const restricted = [
      'secrets',
      'roles.rbac.authorization.k8s.io',
      'rolebindings.rbac.authorization.k8s.io',
    ];
    const kinds = [PODS, ...restricted.map((name) => kind(name))];
    const catalog = await catalogOf(kinds, ['roles.rbac.authorization.k8s.io']);
    expect(await resolved(catalog, 'roles')).to.equal('roles.rbac.authorization.k8s.io');
    for (const name of ['secrets', 'rolebindings', 'rolebindings.rbac.authorization.k8s.io']) {
      const { code, message } = await failure(catalog, name);
      expect(code).to.equal(404);
      expect(message).to.include('resources.restricted');
    }
  });

  it('says where to find users, sessions and nodes of the platform', async () => {
    const iam = ['users', 'sessions'].map((plural) => kind(`${plural}.iam.platform.io`, 'v1beta1'));
    const catalog = await catalogOf([PODS, ...iam, kind('nodes.resources.platform.io', 'v1alpha3')]);
    for (const [name, place] of [
      ['users', 'users.iam.platform.io are restricted: use /kapis/iam.platform.io/v1beta1/users'],
      ['users.iam.platform.io', 'use /kapis/iam.platform.io/v1beta1/users'],
      ['sessions.iam.platform.io', 'are restricted: use /apis/iam.platform.io/v1beta1/sessions'],
      ['nodes.resources.platform.io', 'are those of the core group: use nodes'],
    ] as const) {
      const { code, message } = await failure(catalog, name);
      expect(code).to.equal(404);
      expect(message).to.include(place);
    }
  });

  it('responds with 503 until discovery has responded, and keeps the kinds of a failed discovery', async () => {
    const catalog = await catalogOf([PODS]);
    cluster.responses.set('/apis', ({ response }) => refuse(response, 500, 'InternalError'));
    expect((await failure(catalog, 'pods')).code).to.equal(503);
    cluster.responses.clear();
    await until(async () => {
      try {
        return (await resolved(catalog, 'pods')) === 'pods';
      } catch {
        return false;
      }
    });
    cluster.responses.set('/apis', ({ response }) => refuse(response, 500, 'InternalError'));
    await until(async () => {
      expect((await failure(catalog, 'widgets')).code).to.equal(404);
      return cluster.requests('/apis') > 2;
    });
    expect(await resolved(catalog, 'pods')).to.equal('pods');
    expect(changes).to.equal(1);
  });
});
