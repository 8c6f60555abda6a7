// Tests of lists during outages of webhooks, aggregated APIs and the control plane, and after a restore.
// lifecycle.test.ts runs the tests.
import { cp, rm } from 'node:fs/promises';
import { createServer as createHTTPSServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { array, record } from '../../../../apis/reading/unknown-value.ts';
import { type Definition, version } from '../../../support/cluster/custom-resource.ts';
import { fault } from '../../../support/faults.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';
import { until } from '../../../support/until.ts';
import { createCustom, define, definitionPath } from './lifecycle.test.ts';
import type { ResourceCluster, Server } from './resource-cluster.ts';
import { sharedServer } from './shared-server.ts';

/** The discovery document of an aggregated API with one kind. */
const THINGS = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'late.example.org/v1',
  resources: [
    {
      name: 'things',
      singularName: 'thing',
      namespaced: false,
      kind: 'Thing',
      verbs: ['get', 'list', 'watch'],
    },
  ],
};

describe('outages', () => {
  const sockets = new Set<Socket>();
  /** Accepts connections and never responds. */
  const silent = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
  });
  let cluster: ResourceCluster;
  let server: Server;
  let silentPort: number;

  before(async () => {
    ({ cluster, server } = await sharedServer());
    silentPort = await listenOnLoopback(silent);
    expect((await server.page('configmaps')).status).to.equal(200);
  });
  after(() => {
    silent.close();
    for (const socket of sockets) socket.destroy();
  });

  /** Other kinds respond, followed or not. */
  async function othersRespond(...kinds: readonly string[]): Promise<void> {
    for (const kind of kinds) {
      expect((await server.page(kind)).status, kind).to.equal(200);
    }
  }

  it('of conversion webhooks affect only their kinds, whose lists say so', async () => {
    const webhook = (port: number): object => {
      const caBundle = Buffer.from(cluster.controlPlane.ca).toString('base64');
      const clientConfig = { url: `https://127.0.0.1:${port}/convert`, caBundle };
      return { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } };
    };
    const versions = [version('v1'), version('v2')];
    const unreachable: Definition = { plural: 'unreachables', kind: 'Unreachable', versions };
    const hanging: Definition = { plural: 'hangings', kind: 'Hanging', versions };
    await define(cluster, { ...unreachable, conversion: webhook(1) });
    await define(cluster, { ...hanging, conversion: webhook(silentPort) });
    const kinds = [unreachable, hanging];
    for (const kind of kinds) await createCustom(cluster, kind, 'stored-as-v1');
    const known = ({ plural }: Definition): Promise<void> =>
      until(async () => (await server.page(plural)).status !== 404);
    await Promise.all(kinds.map(known));

    const { configmaps } = await server.lists();
    const [, ...failed] = await Promise.all([
      othersRespond('configmaps', 'services', 'namespaces'),
      ...kinds.map(({ plural }) => server.page(plural)),
    ]);
    for (const { status, body } of failed) {
      expect(status).to.equal(503);
      expect(body['message']).to.match(/^the list of \w+\.example\.com is not available yet: /);
    }
    const reason =
      'conversion webhook for example.com/v1, Kind=Unreachable failed: Post "https://127.0.0.1:1/';
    await until(async () => String((await server.page('unreachables')).body['message']).includes(reason));
    expect((await server.lists())['configmaps']).to.equal(configmaps);

    for (const { plural } of kinds) {
      const conversion = { strategy: 'None', webhook: null };
      await cluster.patch(definitionPath(plural), { spec: { conversion } });
      await until(async () => (await server.page(plural)).names.length === 1);
    }
  });

  it('of an aggregated API affect only its kinds', async () => {
    const { pki } = cluster.controlPlane;
    const tls = await pki.cluster.issueServer({ cn: 'api' }, { dns: ['localhost'], ip: ['127.0.0.1'] });
    let hangs = false;
    const api = createHTTPSServer(tls, (request, response) => {
      if (hangs) return;
      const isFound = request.url?.split('?')[0] === `/apis/${THINGS.groupVersion}`;
      response.writeHead(isFound ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isFound ? THINGS : {}));
    });
    const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
    const register = async (group: string, port: number): Promise<void> => {
      await cluster.create(apiServices, {
        metadata: { name: `v1.${group}` },
        spec: {
          group,
          version: 'v1',
          groupPriorityMinimum: 1000,
          versionPriority: 10,
          insecureSkipTLSVerify: true,
          service: { namespace: 'default', name: 'this-machine', port },
        },
      });
    };
    await cluster.create('/api/v1/namespaces/default/services', {
      metadata: { name: 'this-machine' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    });
    try {
      await register('late.example.org', await listenOnLoopback(api));
      await register('silent.example.org', silentPort);
      await register('unreachable.example.org', 1);
      // The API has responded to discovery, but its list is not available.
      await until(async () => (await server.page('things')).status === 503);
      hangs = true;
      const [hanging] = await Promise.all([
        server.page('things'),
        othersRespond('configmaps', 'services', 'endpoints', 'persistentvolumes'),
      ]);
      expect(hanging.status).to.equal(503);
      for (const group of ['silent.example.org', 'unreachable.example.org']) {
        await until(async () => (await server.page(`things.${group}`)).status === 503);
        const { body } = await server.page(`things.${group}`);
        expect(body['message']).to.include(`the APIService v1.${group} is not available`);
      }
      for (const unknown of ['gizmos', 'things.example.org', 'things.example.com']) {
        expect((await server.page(unknown)).status, unknown).to.equal(404);
      }
      // kube-apiserver detects the outage of the API, and removes its kinds from discovery.
      await closeNow(api);
      // A request for an unknown resource requests discovery.
      await until(async () => (await server.page('others.late.example.org')).status === 503);
      const lost = await server.page('things');
      expect(lost.status).to.equal(503);
      expect(lost.body['message']).to.include('the APIService v1.late.example.org is not available');
      await othersRespond('configmaps', 'services');
      const kind: Definition = { plural: 'newcomers', kind: 'Newcomer' };
      await define(cluster, kind);
      await createCustom(cluster, kind, 'new');
      await until(async () => (await server.page('newcomers')).names.length === 1);
    } finally {
      for (const group of ['late', 'silent', 'unreachable']) {
        await cluster.delete(`${apiServices}/v1.${group}.example.org`);
      }
      await closeNow(api);
    }
  });

  const MAPS = '/api/v1/namespaces/default/configmaps';

  async function namesInDefault(): Promise<readonly string[]> {
    const { status, body } = await server.page('namespaces/default/configmaps');
    expect(status, JSON.stringify(body)).to.equal(200);
    return array(body['items']).map((item) => String(record(record(item)['metadata'])['name']));
  }

  it('of kube-apiserver do not end lists, which are up to date after it', async () => {
    await cluster.create(MAPS, { metadata: { name: 'before' } });
    await until(async () => (await namesInDefault()).includes('before'));
    const { apiserver } = cluster.controlPlane;
    await apiserver.pause();
    expect(await namesInDefault()).to.include('before');
    apiserver.resume();
    await apiserver.kill();
    expect(await namesInDefault()).to.include('before');
    await apiserver.restart();
    await cluster.create(MAPS, { metadata: { name: 'after' } });
    await until(async () => (await namesInDefault()).includes('after'));
  });

  fault('etcd is restored to an older snapshot', async (recovers) => {
    const { apiserver, etcd, folder } = cluster.controlPlane;
    const backup = join(cluster.dir, 'backup');
    // etcd recovers from the files at any moment, as after a crash.
    await etcd.pause();
    await cp(folder.etcd, backup, { recursive: true });
    etcd.resume();
    for (let i = 0; i < 30; i++) await cluster.create(MAPS, { metadata: { name: `lost-${i}` } });
    const kind: Definition = { plural: 'losts', kind: 'Lost' };
    await define(cluster, kind);
    await createCustom(cluster, kind, 'lost');
    await until(async () => (await namesInDefault()).includes('lost-29'));
    await until(async () => (await server.page('losts')).names.includes('lost'));

    await apiserver.kill();
    await etcd.stop();
    await rm(folder.etcd, { recursive: true });
    await cp(backup, folder.etcd, { recursive: true });
    await etcd.start(AbortSignal.timeout(30_000));
    await apiserver.restart();
    await cluster.create(MAPS, { metadata: { name: 'found' } });
    await recovers(
      async () => (await namesInDefault()).includes('found') && (await server.page('losts')).status === 404,
    );
    expect((await namesInDefault()).filter((name) => name.startsWith('lost'))).to.deep.equal([]);
  });
});
