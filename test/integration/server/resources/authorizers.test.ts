// Tests of lists, search and log queries with an authorization webhook in front of RBAC.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server as HTTPServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { array, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';
import { until } from '../../../support/until.ts';
import { type Caller, type Fields, LISTS, ResourceCluster, type Server } from './resource-cluster.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

type Decision = 'allow' | 'deny' | 'no opinion';

/**
 * An authorization webhook of kube-apiserver. It sees the requests of users `reviewed-…` and of ServiceAccounts
 * `reviewed`.
 */
class AuthorizationWebhook {
  decide: (spec: Fields) => Decision = () => 'no opinion';
  readonly #server: HTTPServer;
  #dir = '';

  constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on('end', () => {
        const review = record(JSON.parse(body));
        const decision = this.decide(recordIn(review, 'spec'));
        const status = { allowed: decision === 'allow', denied: decision === 'deny', reason: 'the webhook' };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ ...review, status }));
      });
    });
  }

  /** Returns the path of the AuthorizationConfiguration. */
  async start(): Promise<string> {
    const port = await listenOnLoopback(this.#server);
    this.#dir = await mkdtemp(join(tmpdir(), 'authorizer-'));
    const [kubeConfigFile, config] = [join(this.#dir, 'kubeconfig'), join(this.#dir, 'authorization.yaml')];
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'webhook', cluster: { server: `http://127.0.0.1:${port}` } }],
      contexts: [{ name: 'webhook', context: { cluster: 'webhook' } }],
      'current-context': 'webhook',
    };
    const webhook = {
      timeout: '3s',
      authorizedTTL: '1ms',
      unauthorizedTTL: '1ms',
      subjectAccessReviewVersion: 'v1',
      matchConditionSubjectAccessReviewVersion: 'v1',
      failurePolicy: 'Deny',
      matchConditions: [
        { expression: 'request.user.startsWith("reviewed-") || request.user.endsWith(":reviewed")' },
      ],
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
    };
    const configuration = {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthorizationConfiguration',
      authorizers: [
        { type: 'Webhook', name: 'webhook', webhook },
        { type: 'RBAC', name: 'rbac' },
      ],
    };
    await writeFile(kubeConfigFile, stringify(kubeconfig));
    await writeFile(config, stringify(configuration));
    return config;
  }

  async stop(): Promise<void> {
    await closeNow(this.#server);
    await rm(this.#dir, { recursive: true, force: true });
  }
}

describe('lists with an authorization webhook', () => {
  const webhook = new AuthorizationWebhook();
  let cluster: ResourceCluster;
  let server: Server;

  before(async () => {
    const config = await webhook.start();
    cluster = await ResourceCluster.start({ extraApiserverFlags: [`--authorization-config=${config}`] });
    const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
    const container = { name: 'main', image: 'cart', imageID: 'cart', ready: true, restartCount: 0, state };
    for (const namespace of ['a', 'b']) {
      await cluster.create('/api/v1/namespaces', { metadata: { name: namespace } });
      const place = `/api/v1/namespaces/${namespace}`;
      for (const name of ['cart', 'shop']) {
        await cluster.create(`${place}/configmaps`, { metadata: { name, labels: { app: name } } });
      }
      await cluster.create(`${place}/serviceaccounts`, { metadata: { name: 'default' } });
      const pod = `cart-${namespace}`;
      await cluster.create(`${place}/pods`, {
        metadata: { name: pod },
        spec: { nodeName: 'one', containers: [{ name: 'main', image: 'cart' }] },
      });
      const status = { phase: 'Running', containerStatuses: [container] };
      await cluster.patch(`${place}/pods/${pod}/status`, { status });
    }
    for (const name of ['one', 'two']) {
      await cluster.create('/api/v1/nodes', { metadata: { name, labels: { app: name } } });
    }
    server = await cluster.serve({
      logging: { enabled: true, store: 'kubernetes' },
      gateway: { acceleration: true },
    });
    await server.caughtUp('configmaps', '/api/v1/configmaps');
  });

  after(async () => {
    await cluster?.stop();
    await webhook.stop();
  });

  beforeEach(() => {
    webhook.decide = () => 'no opinion';
  });

  const attributesIn = (spec: Fields): Fields => recordIn(spec, 'resourceAttributes');

  const keysOf = (list: Fields): string[] =>
    array(list['items'])
      .map((item) => recordIn(item, 'metadata'))
      .map(({ namespace, name }) => [text(namespace), text(name)].filter((part) => part !== '').join('/'))
      .sort();

  /** The statuses and objects of the same list here and in kube-apiserver. */
  async function compare(
    callers: { readonly ours: Caller; readonly direct: Caller },
    [source, ours]: readonly [string, string],
    query: string,
  ): Promise<{ status: number; keys: readonly string[] }> {
    const theirs = await callers.direct.ask(`${source}${query}`);
    const { status, body } = await callers.ours.ask(`${ours}${query}`);
    expect(status, `${ours}${query}`).to.equal(theirs.status);
    if (status === 200) expect(keysOf(body), `${ours}${query}`).to.deep.equal(keysOf(theirs.body));
    else expect(body['message']).to.equal(theirs.body['message']);
    return { status, keys: keysOf(body) };
  }

  it('follow a denial that beats RBAC', async () => {
    const name = 'reviewed-tenant';
    await cluster.create(`${RBAC}/clusterroles`, {
      metadata: { name: 'viewer' },
      rules: [{ apiGroups: [''], resources: ['configmaps', 'pods/log'], verbs: ['get', 'list'] }],
    });
    for (const namespace of ['a', 'b']) {
      await cluster.bind('viewer', name, namespace);
    }
    const tenant = await server.asUser(name);
    const list = () => tenant.list(`${LISTS}/configmaps?sortBy=name`);
    const search = async () => {
      const { totalItems } = await tenant.list(`${LISTS}/search?q=cart&kinds=configmaps`);
      return totalItems;
    };
    const statusOf = async (path: string) => (await tenant.ask(path)).status;
    /** The containers whose logs a query reads. There is no kubelet, so the response names them. */
    const logs = async () => {
      const { partial } = await tenant.list('/kapis/logging.platform.io/v1alpha2/logs?size=1');
      return JSON.stringify(partial ?? []).match(/[ab]\/cart-[ab]\/main/g) ?? [];
    };
    await until(async () => (await tenant.ask(`${LISTS}/configmaps`)).body['totalItems'] === 4);
    expect(await search()).to.equal(2);
    expect(await statusOf(`${LISTS}/namespaces/b/configmaps/cart`)).to.equal(200);
    expect(await logs()).to.deep.equal(['a/cart-a/main', 'b/cart-b/main']);

    webhook.decide = (spec) => (attributesIn(spec)['namespace'] === 'b' ? 'deny' : 'no opinion');
    await until(async () => (await list())['totalItems'] === 2);
    expect(keysOf(await list())).to.deep.equal(['a/cart', 'a/shop']);
    expect(await tenant.list(`${LISTS}/configmaps?facets=namespace&limit=0`)).to.deep.include({
      facets: { namespace: { a: 2 } },
      partial: true,
    });
    expect(await search()).to.equal(1);
    for (const path of ['namespaces/b/configmaps', 'namespaces/b/configmaps/cart']) {
      // Each permission is cached from its own request on.
      await until(async () => (await statusOf(`${LISTS}/${path}`)) === 403);
    }
    expect(await statusOf(`${LISTS}/namespaces/a/configmaps/cart`)).to.equal(200);
    expect(await statusOf(`${LISTS}/configmaps?namespaces=b`)).to.equal(403);
    await until(async () => (await logs()).length === 1);
    expect(await logs()).to.deep.equal(['a/cart-a/main']);

    webhook.decide = () => 'deny';
    await until(async () => (await statusOf(`${LISTS}/configmaps`)) === 403);
    expect(await search()).to.equal(0);
    await until(async () => (await logs()).length === 0);
  });

  it('allow exactly the selectors that the webhook allows', async () => {
    const name = 'reviewed-selecting';
    webhook.decide = (spec) => {
      const { verb, resource, labelSelector, fieldSelector } = attributesIn(spec);
      if (verb !== 'list' && verb !== 'watch') return 'no opinion';
      const labels = array(record(labelSelector)['requirements']).map(record);
      const fields = array(record(fieldSelector)['requirements']).map(record);
      const isSelected = (requirements: readonly Fields[], key: string, value: string) =>
        requirements.some(
          (requirement) =>
            requirement['key'] === key &&
            requirement['operator'] === 'In' &&
            JSON.stringify(requirement['values']) === JSON.stringify([value]),
        );
      const mayList =
        (resource === 'configmaps' && isSelected(labels, 'app', 'cart')) ||
        (resource === 'nodes' && isSelected(fields, 'metadata.name', 'one'));
      return mayList ? 'allow' : 'no opinion';
    };
    const pair = await cluster.certificate(name);
    const callers = { ours: server.as({ pair }), direct: cluster.direct({ pair }) };
    const configMaps = ['/api/v1/configmaps', `${LISTS}/configmaps`] as const;
    const inA = ['/api/v1/namespaces/a/configmaps', `${LISTS}/namespaces/a/configmaps`] as const;
    expect(await compare(callers, configMaps, '?labelSelector=app%3Dcart')).to.deep.equal({
      status: 200,
      keys: ['a/cart', 'b/cart'],
    });
    expect(await compare(callers, inA, '?labelSelector=app+in+(cart)')).to.deep.equal({
      status: 200,
      keys: ['a/cart'],
    });
    const narrower = '?labelSelector=app%3Dcart,app!%3Dshop&fieldSelector=metadata.namespace%3Db';
    expect(await compare(callers, configMaps, narrower)).to.deep.equal({ status: 200, keys: ['b/cart'] });
    for (const query of [
      '',
      '?labelSelector=app%3Dshop',
      '?labelSelector=app!%3Dcart',
      '?labelSelector=app+in+(cart,shop)',
      '?labelSelector=app',
      '?labelSelector=',
      '?fieldSelector=metadata.name%3Dcart',
    ]) {
      expect(await compare(callers, configMaps, query), query).to.include({ status: 403 });
      expect(await compare(callers, inA, query), query).to.include({ status: 403 });
    }
    // The parameters of this server are not selectors of kube-apiserver.
    for (const query of ['label=app%3Dcart', 'names=cart', 'q=cart', 'labelSelector=app%3D%3D%3Dcart']) {
      expect((await callers.ours.ask(`${LISTS}/configmaps?${query}`)).status, query).to.equal(403);
    }
    const served = '/apis/resources.platform.io/v1alpha3/nodes';
    for (const [path, status] of [
      [`${served}?fieldSelector=metadata.name%3Done`, 200],
      [`${served}?fieldSelector=metadata.name%3Dtwo`, 403],
      [served, 403],
      [`${LISTS}/nodes?fieldSelector=metadata.name%3Done`, 200],
      [`${LISTS}/nodes?fieldSelector=metadata.name%3Dtwo`, 403],
      [`${LISTS}/nodes`, 403],
    ] as const) {
      const answer = await callers.ours.ask(path);
      expect(answer.status, path).to.equal(status);
      if (status === 200) expect(keysOf(answer.body)).to.deep.equal(['one']);
    }
  });

  it('decide about reads that the gateway answers from a cache', async () => {
    const accounts = '/api/v1/namespaces/a/serviceaccounts';
    await cluster.create(accounts, { metadata: { name: 'reviewed' } });
    await cluster.create(`${RBAC}/namespaces/a/roles`, {
      metadata: { name: 'reviewed' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
    });
    await cluster.create(`${RBAC}/namespaces/a/rolebindings`, {
      metadata: { name: 'reviewed' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reviewed' },
      subjects: [{ kind: 'ServiceAccount', name: 'reviewed', namespace: 'a' }],
    });
    const created = await cluster.create(`${accounts}/reviewed/token`, { spec: {} });
    const token = text(recordIn(created, 'status')['token']);
    const [ours, direct] = [server.as({ token }), cluster.direct({ token })];
    /** Compares both responses, when the decision before has expired. */
    const expectStatus = async (path: string, status: 200 | 403) => {
      const detail = status === 200 ? 'hit' : 'permission';
      await until(async () => String((await ours.ask(path)).headers['cache-status']).endsWith(detail));
      const [cached, theirs] = await Promise.all([ours.ask(path), direct.ask(path)]);
      expect([cached.status, theirs.status], path).to.deep.equal([status, status]);
      expect(keysOf(cached.body), path).to.deep.equal(keysOf(theirs.body));
    };
    const [inA, inB] = ['a', 'b'].map((name) => `/api/v1/namespaces/${name}/configmaps?resourceVersion=0`);
    await expectStatus(`${inA}`, 200);
    await expectStatus(`${inB}`, 403);
    // A denial of the review itself is forwarded.
    webhook.decide = (spec) => (attributesIn(spec)['resource'] === 'configmaps' ? 'deny' : 'no opinion');
    await expectStatus(`${inA}`, 403);
    webhook.decide = (spec) => {
      const { verb, labelSelector } = attributesIn(spec);
      const [requirement] = array(record(labelSelector)['requirements']).map(record);
      const isCart = requirement?.['key'] === 'app' && String(requirement['values']) === 'cart';
      return verb === 'list' && isCart ? 'allow' : 'no opinion';
    };
    await expectStatus(`${inA}`, 200);
    await expectStatus(`${inB}&labelSelector=app%3Dcart`, 200);
    await expectStatus(`${inB}&labelSelector=app%3Dshop`, 403);
    await expectStatus(`${inB}`, 403);
  });
});
