// Tests of the lists for consoles against ks-apiserver, with curl and an ordinary user.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { array, record, text } from '../../apis/reading/unknown-value.ts';
import { SERVICE_ACCOUNT } from '../../hack/extension/registration.ts';
import { ServerProcess } from '../../hack/extension/server-process.ts';
import { freePort } from '../../hack/system/ports.ts';
import { NODES as NODE_COUNT, type Platform } from './platform.ts';

const LISTS = '/kapis/resources.platform.io/v1alpha3';
const NODES = `${LISTS}/nodes`;

export function describeConsoles(subject: () => Platform): void {
  describe('the lists for consoles, with curl', () => {
    let platform: Platform;
    let reader: string;
    let nobody: string;
    let operator: string;
    let tenant: string;

    before(async () => {
      platform = subject();
      for (const name of ['reader', 'nobody', 'operator', 'tenant']) {
        await platform.succeeding('create', 'serviceaccount', name);
      }
      await platform.succeeding(
        ...['create', 'clusterrolebinding', 'console', '--clusterrole=platform-nodes-reader'],
        '--serviceaccount=default:reader',
      );
      await platform.succeeding('create', 'clusterrole', 'core-nodes', '--verb=get,list', '--resource=nodes');
      await platform.succeeding(
        ...['create', 'clusterrolebinding', 'core-nodes', '--clusterrole=core-nodes'],
        '--serviceaccount=default:operator',
      );
      for (const namespace of ['payments', 'shop', 'monitoring']) {
        await platform.succeeding('create', 'namespace', namespace);
        await platform.succeeding('create', 'configmap', 'cart', '--namespace', namespace);
        if (namespace === 'monitoring') continue;
        await platform.succeeding(
          ...['create', 'rolebinding', 'tenant', '--namespace', namespace, '--clusterrole=view'],
          '--serviceaccount=default:tenant',
        );
      }
      const as = '--as=system:serviceaccount:default';
      await platform.permitted('list', 'nodes.resources.platform.io', `${as}:reader`);
      await platform.permitted('list', 'nodes', `${as}:operator`);
      await platform.permitted('list', 'configmaps', `${as}:tenant`, '--namespace=shop');
      [reader = '', nobody = '', operator = '', tenant = ''] = await Promise.all(
        ['reader', 'nobody', 'operator', 'tenant'].map(async (name) =>
          (await platform.succeeding('create', 'token', name)).trim(),
        ),
      );
    });

    /** A request as in the specification: a token, a content type, no body. */
    const curl = (
      token: string,
      path: string,
      ...args: readonly string[]
    ): Promise<{ status: number; body: string }> =>
      platform.curl(token, path, '--header', 'Content-Type: application/json', ...args);

    it('returns a page of nodes to a caller with permission to list nodes', async () => {
      const { status, body } = await curl(
        reader,
        `${NODES}?limit=5&sortBy=name&ascending=true&_=1`,
        '--compressed',
      );
      expect(status, body).to.equal(200);
      const list = record(JSON.parse(body));
      expect(list).to.include({ kind: 'NodeList', totalItems: NODE_COUNT });
      const links = array(list['items']).map((item) => text(record(record(item)['metadata'])['selfLink']));
      expect(links).to.deep.equal([0, 1, 2, 3, 4].map((index) => `${NODES}/node-0000${index}`));
      expect((await curl(reader, `${NODES}/node-00003`)).status).to.equal(200);
      expect((await curl(reader, `${NODES}/node-99999`)).status).to.equal(404);
      expect((await curl(reader, `${NODES}?nmae=x`)).status).to.equal(400);
    });

    it('accepts the permission for the nodes of the core group', async () => {
      expect((await curl(operator, `${NODES}?limit=1`)).status).to.equal(200);
      expect((await curl(operator, `${NODES}/node-00003`)).status).to.equal(200);
    });

    it('returns the objects of the namespaces of a tenant, and nothing about others', async () => {
      const page = 'page=1&limit=10&sortBy=createTime&ascending=false&name=cart&_=1700000000';
      const namespacesIn = (body: string): string[] =>
        array(record(JSON.parse(body))['items']).map((item) =>
          text(record(record(item)['metadata'])['namespace']),
        );
      const all = await curl(tenant, `${LISTS}/configmaps?${page}&facets=namespace`);
      expect(all.status, all.body).to.equal(200);
      expect(record(JSON.parse(all.body))).to.deep.include({
        totalItems: 2,
        partial: true,
        facets: { namespace: { payments: 1, shop: 1 } },
      });
      expect(namespacesIn(all.body)).to.have.members(['payments', 'shop']);
      const one = await curl(tenant, `${LISTS}/namespaces/shop/configmaps?${page}`);
      expect(namespacesIn(one.body)).to.deep.equal(['shop']);
      expect((await curl(tenant, `${LISTS}/configmaps?${page}&namespace=shop`)).body).to.equal(one.body);
      for (const path of ['namespaces/monitoring/configmaps', 'configmaps?namespace=monitoring', 'nodes']) {
        expect((await curl(tenant, `${LISTS}/${path}`)).status, path).to.equal(403);
      }
      const found = await curl(tenant, `${LISTS}/search?q=cart&kinds=configmaps`);
      expect(record(JSON.parse(found.body))).to.include({ totalItems: 2 });
      expect(found.body).not.to.include('monitoring');
    });

    it('forbids a caller without permission to list nodes', async () => {
      const list = await curl(nobody, NODES);
      expect(list.status).to.equal(403);
      expect(record(JSON.parse(list.body))['message']).to.equal(
        'nodes.resources.platform.io is forbidden: User "system:serviceaccount:default:nobody" cannot list resource "nodes" in API group "resources.platform.io" at the cluster scope',
      );
      expect((await curl(nobody, `${NODES}/node-00003`)).status).to.equal(403);
      expect((await curl(nobody, NODES, '--head')).status).to.equal(403);
      expect((await curl(`${reader}x`, NODES)).status).to.equal(401);
      expect((await curl(reader, NODES, '--request', 'DELETE')).status).to.equal(405);
    });

    it('responds 304 to a poll while nothing has changed', async () => {
      const etags = await platform.write('etag', '');
      const poll = (): Promise<{ status: number; body: string }> =>
        curl(reader, `${NODES}?limit=5`, '--etag-save', etags, '--etag-compare', etags);
      expect((await poll()).status).to.equal(200);
      expect(await poll()).to.deep.equal({ status: 304, body: '' });
    });

    it("returns the resource requests of a node's pods if configured", async () => {
      const { pki, ca } = platform.controlPlane;
      const { cert, key } = await pki.cluster.issueServer(
        { cn: 'usage' },
        { dns: ['localhost'], ip: ['127.0.0.1'] },
      );
      const dir = await mkdtemp(join(tmpdir(), 'console-'));
      const server = await ServerProcess.start({
        dir,
        kubeconfig: await platform.controlPlane.kubeconfigFor(SERVICE_ACCOUNT),
        port: await freePort(),
        certificate: {
          cert: await platform.write('usage.crt', cert),
          key: await platform.write('usage.key', key),
          ca: await platform.write('usage-ca.crt', ca),
        },
        configuration: { resources: { nodes: { usageAnnotations: true } } },
        signal: platform.signal,
      });
      try {
        const pod = {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'taking' },
          spec: {
            nodeName: 'node-00001',
            containers: [{ name: 'c', image: 'example.org/none', resources: { requests: { cpu: '300m' } } }],
          },
        };
        const access = 'manifests/components/node-usage/access.yaml';
        await platform.succeeding('apply', '-f', access);
        await platform.succeeding('apply', '-f', await platform.write('pod.json', JSON.stringify(pod)));
        for (let taken = ''; taken !== '300m'; ) {
          const { body } = await curl(reader, `${server.url}${NODES}/node-00001`);
          const { annotations } = record(record(JSON.parse(body))['metadata']);
          taken = text(record(annotations)['node.platform.io/cpu-requests']);
          if (taken !== '300m') await once(AbortSignal.timeout(100), 'abort');
        }
        const { body } = await curl(reader, `${NODES}/node-00001`);
        expect(body).not.to.include('node.platform.io/cpu-requests');
      } finally {
        await server.stop();
        await rm(dir, { recursive: true, force: true });
      }
    });
  });
}
