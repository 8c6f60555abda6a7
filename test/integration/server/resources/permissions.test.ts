// Tests of the permissions for lists under `/kapis`, against RBAC in a real control plane. The tests also count
// SubjectAccessReviews in a cluster with many namespaces.
import { expect } from 'chai';
import { array, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { forEach } from '../../../../hack/simulation/bulk.ts';
import { until } from '../../../support/until.ts';
import { type Caller, type Fields, LISTS, type ResourceCluster, type Server } from './resource-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const NAMESPACES = ['a', 'b', 'c', 'd'];
const CONFIG_MAPS = `${LISTS}/configmaps`;

function namesOf(list: Fields): string[] {
  return array(list['items']).map((item) => text(recordIn(item, 'metadata')['name']));
}

/** The namespaces of the ConfigMaps that a caller lists. */
async function namespacesOf(caller: Caller): Promise<string[]> {
  const items = array((await caller.list(CONFIG_MAPS))['items']);
  return [...new Set(items.map((item) => text(recordIn(item, 'metadata')['namespace'])))];
}

describe('permissions of lists with a real cluster', () => {
  let cluster: ResourceCluster;
  let server: Server;

  before(async () => {
    cluster = await sharedCluster();
    for (const name of NAMESPACES) {
      await cluster.create('/api/v1/namespaces', { metadata: { name } });
      for (const one of ['one', 'two', 'cart']) await createConfigMap(name, one);
    }
    const resources = ['configmaps', 'namespaces', 'events'];
    await role('viewer', [{ apiGroups: [''], resources, verbs: ['get', 'list', 'watch'] }]);
    await role('getter', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]);
    await role('of-one', [
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'], verbs: ['get', 'list'] },
    ]);
    for (const namespace of ['a', 'b']) await cluster.bind('viewer', 'tenant', namespace);
    await cluster.bind('getter', 'getter', 'a');
    await cluster.bind('of-one', 'of-one', 'a');
    await cluster.bind('viewer', { kind: 'ServiceAccount', name: 'robot', namespace: 'a' }, 'a');
    await cluster.bind('viewer', { kind: 'Group', name: 'team', apiGroup: 'rbac.authorization.k8s.io' }, 'c');
    await cluster.bind('viewer', 'leaver', 'd');
    server = await cluster.serve();
    await server.caughtUp('configmaps', '/api/v1/configmaps');
  });

  after(() => server?.stop());

  function createConfigMap(namespace: string, name: string): Promise<Fields> {
    const metadata = { name, labels: { app: name } };
    return cluster.create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata });
  }

  async function role(name: string, rules: readonly object[]): Promise<void> {
    await cluster.create(`${RBAC}/clusterroles`, { metadata: { name }, rules });
  }

  it('return to a tenant what a cluster with only its namespaces would return', async () => {
    const tenant = await server.asUser('tenant');
    for (const query of [
      '',
      'sortBy=name&limit=2&page=2',
      'q=cart',
      'labelSelector=app!%3Done',
      'limit=0&facets=namespace,label:app',
      'status=none',
      'name=w&sortBy=namespace&ascending=true&facets=status,ownerKind',
      'limit=3&page=9',
    ]) {
      const theirs = await server.admin.list(`${CONFIG_MAPS}?${query}&namespaces=a,b`);
      // Namespaces that do not exist and those that are not allowed are alike.
      for (const namespaces of ['', '&namespaces=a,b,c', '&namespaces=a,b,nowhere']) {
        const ours = await tenant.list(`${CONFIG_MAPS}?${query}${namespaces}`);
        expect(ours, query).to.deep.equal({ ...theirs, partial: true });
      }
      expect(await tenant.list(`${CONFIG_MAPS}?${query}&namespaces=a,b`), query).to.deep.equal(theirs);
    }
    expect((await tenant.list(`${LISTS}/namespaces/a/configmaps`))['totalItems']).to.equal(3);
    expect((await tenant.ask(`${LISTS}/namespaces/c/configmaps`)).status).to.equal(403);
    expect((await tenant.ask(`${CONFIG_MAPS}?namespaces=c`)).status).to.equal(403);
  });

  it('keep the entity tag of a tenant, whatever happens in other namespaces', async () => {
    const tenant = await server.asUser('tenant');
    const path = `${CONFIG_MAPS}?facets=namespace&limit=2`;
    const { etag } = (await tenant.ask(path)).headers;
    await createConfigMap('c', 'hidden');
    await cluster.patch('/api/v1/namespaces/d/configmaps/one', { data: { changed: 'yes' } });
    await server.caughtUp('configmaps', '/api/v1/configmaps');
    const same = await tenant.ask(path, { 'if-none-match': text(etag) });
    expect(same.status).to.equal(304);
    await cluster.patch('/api/v1/namespaces/a/configmaps/two', { metadata: { labels: { app: 'new' } } });
    await createConfigMap('b', 'zero');
    await server.caughtUp('configmaps', '/api/v1/configmaps');
    const changed = await tenant.ask(path, { 'if-none-match': text(etag) });
    expect(changed.status).to.equal(200);
    expect(changed.body['totalItems']).to.equal(7);
  });

  it('require list for lists, and get for one object, with the messages of kube-apiserver', async () => {
    for (const [name, path, ours, query] of [
      ['getter', '/api/v1/configmaps', '/configmaps', ''],
      ['getter', '/api/v1/namespaces/a/configmaps', '/namespaces/a/configmaps', ''],
      ['getter', '/api/v1/namespaces/b/configmaps/one', '/namespaces/b/configmaps/one', ''],
      ['getter', '/apis/apps/v1/deployments', '/deployments', ''],
      ['getter', '/apis/apps/v1/namespaces/a/deployments', '/namespaces/a/deployments', ''],
      ['getter', '/api/v1/namespaces', '/namespaces', ''],
      ['getter', '/api/v1/namespaces/a', '/namespaces/a', ''],
      ['getter', '/apis/storage.k8s.io/v1/storageclasses', '/storageclasses', ''],
      ['of-one', '/api/v1/namespaces/a/configmaps', '/namespaces/a/configmaps', ''],
      ['of-one', '/api/v1/namespaces/a/configmaps/two', '/namespaces/a/configmaps/two', ''],
      ['of-one', '/api/v1/configmaps', '/configmaps', '?names=one'],
    ] as const) {
      const pair = await cluster.certificate(name);
      const denied = await cluster.direct({ pair }).ask(path);
      const answer = await server.as({ pair }).ask(`${LISTS}${ours}${query}`);
      expect(answer.status, `${name} ${ours}`).to.equal(403);
      expect(denied.status, `${name} ${path}`).to.equal(403);
      expect(answer.body['message'], ours).to.equal(denied.body['message']);
      expect(answer.body).to.include({ kind: 'Status', reason: 'Forbidden', code: 403 });
    }
    // Nodes have permissions of their own in the group of the server, which it names.
    const nodes = await (await server.asUser('getter')).ask(`${LISTS}/nodes`);
    expect(nodes.body['message']).to.equal(
      'nodes.resources.platform.io is forbidden: User "getter" cannot list resource "nodes" in API group "resources.platform.io" at the cluster scope',
    );
    for (const name of ['getter', 'of-one']) {
      const caller = await server.asUser(name);
      expect((await caller.ask(`${LISTS}/namespaces/a/configmaps/one`)).status).to.equal(200);
    }
  });

  it('for single names allow lists that select the name, as in kube-apiserver', async () => {
    const pair = await cluster.certificate('of-one');
    for (const [selector, status] of [
      ['metadata.name%3Done', 200],
      ['metadata.name%3D%3Done', 200],
      ['metadata.name%3Dtwo', 403],
      ['metadata.name!%3Dtwo', 403],
    ] as const) {
      const query = `fieldSelector=${selector}`;
      const theirs = await cluster.direct({ pair }).ask(`/api/v1/namespaces/a/configmaps?${query}`);
      const ours = await server.as({ pair }).ask(`${LISTS}/namespaces/a/configmaps?${query}`);
      expect([theirs.status, ours.status], selector).to.deep.equal([status, status]);
      if (status === 403) expect(ours.body['message']).to.equal(theirs.body['message']);
      else expect(namesOf(ours.body)).to.deep.equal(['one']);
    }
  });

  it('show the namespaces of a tenant, and no others', async () => {
    const tenant = await server.asUser('tenant');
    expect(namesOf(await tenant.list(`${LISTS}/namespaces?sortBy=name&ascending=true`))).to.deep.equal([
      'a',
      'b',
    ]);
    expect(await tenant.list(`${LISTS}/namespaces`)).to.include({ totalItems: 2, partial: true });
    expect((await tenant.ask(`${LISTS}/namespaces/a`)).status).to.equal(200);
    expect((await tenant.ask(`${LISTS}/namespaces/c`)).status).to.equal(403);
    expect((await tenant.ask(`${LISTS}/namespaces/nowhere`)).status).to.equal(403);
    expect((await tenant.ask(`${LISTS}/namespaces/a/namespaces`)).status).to.equal(404);
  });

  it('apply to ServiceAccounts by namespace and name', async () => {
    const tokenOf = async (namespace: string): Promise<Caller> => {
      const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
      await cluster.create(accounts, { metadata: { name: 'robot' } });
      const { status } = await cluster.create(`${accounts}/robot/token`, { spec: {} });
      return server.as({ token: text(record(status)['token']) });
    };
    const [own, other] = [await tokenOf('a'), await tokenOf('b')];
    expect(await namespacesOf(own)).to.deep.equal(['a']);
    expect((await other.ask(CONFIG_MAPS)).status).to.equal(403);
    expect((await other.ask(`${LISTS}/namespaces/a/configmaps`)).status).to.equal(403);
  });

  it('apply to groups', async () => {
    const member = await server.asUser('someone', ['team']);
    expect(await namespacesOf(member)).to.deep.equal(['c']);
    expect((await (await server.asUser('someone')).ask(CONFIG_MAPS)).status).to.equal(403);
  });

  it('end with the binding, and begin with a new one', async () => {
    const leaver = await server.asUser('leaver');
    expect(namesOf(await leaver.list(CONFIG_MAPS))).to.have.length.above(2);
    await cluster.delete(`${RBAC}/namespaces/d/rolebindings/viewer-leaver`);
    await until(async () => (await leaver.ask(CONFIG_MAPS)).status === 403);
    await cluster.bind('viewer', 'leaver', 'b');
    await until(async () => (await leaver.ask(CONFIG_MAPS)).status === 200);
    expect(await namespacesOf(leaver)).to.deep.equal(['b']);
  });

  it('do not exist for anonymous callers', async () => {
    for (const path of ['configmaps', 'namespaces', 'nodes', 'namespaces/a/configmaps/one']) {
      expect((await server.anonymous().ask(`${LISTS}/${path}`)).status, path).to.equal(403);
    }
  });

  it('do not matter for restricted kinds, which are not served', async () => {
    const identities = ['users', 'credentials', 'sessions'].map((kind) => `/${kind}.iam.platform.io`);
    for (const path of [
      ...['/secrets', '/namespaces/a/secrets', '/namespaces/a/secrets/x', '/users', ...identities],
      ...['/roles', '/rolebindings', '/clusterroles', '/clusterrolebindings.rbac.authorization.k8s.io'],
      '/nodes.resources.platform.io',
    ]) {
      const answer = await server.admin.ask(`${LISTS}${path}`);
      expect(answer.status, path).to.equal(404);
      expect(answer.body, path).to.include({ kind: 'Status', reason: 'NotFound' });
    }
  });

  it('limit the search to kinds and namespaces', async () => {
    const tenant = await server.asUser('tenant');
    const found = await tenant.list(`${LISTS}/search?q=cart&kinds=configmaps,deployments,nodes,namespaces`);
    expect(found['totalItems']).to.equal(2);
    const [group, ...others] = array(found['groups']).map(record);
    expect(others).to.deep.equal([]);
    expect(group).to.include({ resource: 'configmaps', totalItems: 2, partial: true });
    expect(array(group?.['items']).map((item) => recordIn(item, 'metadata')['namespace'])).to.deep.equal([
      'a',
      'b',
    ]);
    const all = await server.admin.list(`${LISTS}/search?q=cart&kinds=configmaps`);
    expect(all['totalItems']).to.equal(4);
    expect(await (await server.asUser('nobody')).list(`${LISTS}/search?q=cart&kinds=configmaps`)).to.include({
      totalItems: 0,
    });
  });

  describe('in many namespaces', () => {
    const REVIEWS = 'apiserver_delegated_authz_request_total';

    /** Far more than the reviews that a tenant may cost. The bench measures 5,000. */
    const MANY = 300;

    /** Returns a list and the number of its SubjectAccessReviews. */
    async function measure(name: string, by: Server): Promise<{ reviews: number; list: Fields }> {
      const caller = await by.asUser(name);
      const before = await by.metric(REVIEWS);
      const list = await caller.list(`${CONFIG_MAPS}?limit=10`);
      return { reviews: (await by.metric(REVIEWS)) - before, list };
    }

    before(async () => {
      const names = Array.from({ length: MANY }, (_, index) => `tenant-${index}`);
      await forEach(names.values(), { signal: new AbortController().signal }, async (name) => {
        await cluster.create('/api/v1/namespaces', { metadata: { name } });
      });
      await server.caughtUp('namespaces', '/api/v1/namespaces');
      for (let index = 0; index < 5; index++) {
        for (const name of ['few', 'all']) await cluster.bind('viewer', name, `tenant-${index * 50}`);
        await createConfigMap(`tenant-${index * 50}`, 'one');
      }
      await server.caughtUp('configmaps', '/api/v1/configmaps');
    });

    it('cost a review for each namespace, if the server must not trust RoleBindings', async () => {
      const all = await cluster.serve({
        authorization: { allowCacheTTL: '10s', reviewAllNamespaces: true },
      });
      await all.admin.list(CONFIG_MAPS);
      const measured = await measure('all', all);
      expect(measured.list).to.include({ totalItems: 5, partial: true });
      expect(measured.reviews)
        .to.be.above(MANY)
        .and.below(MANY + 20);
    });

    it('cost at most 10 reviews for a tenant of 5', async () => {
      const measured = await measure('few', server);
      expect(measured.list).to.include({ totalItems: 5, partial: true });
      expect(measured.reviews).to.be.at.most(10);
    });
  });
});
