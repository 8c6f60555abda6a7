// Tests of the list requests that KubeSphere consoles send, against a real control plane.
import { expect } from 'chai';
import { array, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { type Fields, LISTS, type ResourceCluster, type Server } from './resource-cluster.ts';

const TEMPLATE = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'main', image: 'x' }] } };

export function describeConsoles(subject: () => ResourceCluster): void {
  describe('requests of KubeSphere consoles', () => {
    let cluster: ResourceCluster;
    let server: Server;

    before(async () => {
      cluster = subject();
      for (const name of ['shop', 'other']) {
        await cluster.create('/api/v1/namespaces', {
          metadata: { name, labels: { 'kubesphere.io/workspace': name } },
        });
        for (const app of ['cart', 'web', 'web-admin']) {
          await cluster.create(`/apis/apps/v1/namespaces/${name}/deployments`, {
            metadata: { name: app, labels: { app }, annotations: { 'platform.io/alias-name': `The ${app}` } },
            spec: { selector: { matchLabels: { a: 'b' } }, template: TEMPLATE },
          });
        }
      }
      await cluster.create('/apis/storage.k8s.io/v1/storageclasses', {
        metadata: { name: 'fast' },
        provisioner: 'example.com/disk',
      });
      await cluster.create('/api/v1/nodes', {
        metadata: { name: 'master', labels: { 'node-role.kubernetes.io/master': '' } },
      });
      await cluster.create('/api/v1/nodes', { metadata: { name: 'worker' }, spec: { unschedulable: true } });
      server = await cluster.serve();
      await server.caughtUp('deployments', '/apis/apps/v1/deployments');
      await server.caughtUp('nodes', '/api/v1/nodes');
    });

    after(() => server?.stop());

    function namesOf(list: Fields): string[] {
      return array(list['items']).map((item) => text(recordIn(item, 'metadata')['name']));
    }

    it('get items, totalItems and the objects of the page', async () => {
      for (const [path, names, total] of [
        [
          '/namespaces/shop/deployments?page=1&limit=10&sortBy=name&ascending=true',
          ['cart', 'web', 'web-admin'],
          3,
        ],
        ['/namespaces/shop/deployments?sortBy=name&limit=2&page=2', ['cart'], 3],
        ['/namespaces/shop/deployments?name=web&sortBy=createTime&limit=-1', ['web-admin', 'web'], 2],
        ['/namespaces/shop/deployments?names=web,cart&sortBy=name&ascending=1', ['cart', 'web'], 2],
        ['/deployments?namespace=other&labelSelector=app%3Dcart', ['cart'], 1],
        ['/deployments?label=app%3Dcart&sortBy=name', ['cart', 'cart'], 2],
        ['/deployments?annotation=platform.io%2Falias-name', undefined, 6],
        ['/deployments?limit=0', [], 6],
        ['/deployments?limit=10&page=7', [], 6],
        ['/namespaces?labelSelector=kubesphere.io%2Fworkspace%3Dshop', ['shop'], 1],
        ['/storageclasses?_=1699999999', ['fast'], 1],
        ['/nodes?labelSelector=node-role.kubernetes.io%2Fmaster', ['master'], 1],
        ['/nodes?status=unschedulable', ['worker'], 1],
        ['/nodes?status=running', ['master'], 1],
      ] as const) {
        const list = await server.admin.list(`${LISTS}${path}`);
        if (names) expect(namesOf(list), path).to.deep.equal(names);
        expect(list['totalItems'], path).to.equal(total);
        expect(list['items'], path).to.be.an('array');
      }
      const cart = await server.admin.list(`${LISTS}/namespaces/shop/deployments/cart`);
      expect(cart).to.include({ kind: 'Deployment', apiVersion: 'apps/v1' });
      expect(await server.admin.list(`${LISTS}/storageclasses/fast`)).to.include({ kind: 'StorageClass' });
      const owner = text(recordIn(cart, 'metadata')['uid']);
      expect(
        await server.admin.list(
          `${LISTS}/namespaces/shop/replicasets?ownerReference=${owner}&ownerKind=Deployment`,
        ),
      ).to.include({
        totalItems: 0,
      });
    });

    it('get an error instead of a wrong list', async () => {
      for (const [path, status] of [
        ['/deployments?unknown=1', 400],
        ['/deployments?labelSelector=a+b', 400],
        ['/deployments?label=%3D', 400],
        ['/deployments?annotation=%28', 400],
        ['/deployments?fieldSelector=spec.none%3D1', 400],
        ['/deployments?page=0', 400],
        ['/deployments?page=-1', 400],
        ['/deployments?page=x', 400],
        ['/storageclasses?page=0', 400],
        ['/cronjobs?page=0&limit=5', 400],
        ['/deployments?limit=-2', 400],
        ['/deployments?limit=many', 400],
        ['/deployments?sortBy=nothing', 400],
        ['/deployments?ascending=perhaps', 400],
        ['/nodes?status=unknown', 400],
        ['/namespaces/shop/deployments/none', 404],
        ['/namespaces/none/deployments/cart', 404],
        ['/nodes/none', 404],
        ['/storageclasses/none', 404],
        ['/namespaces/shop/nodes', 404],
        ['/namespaces/shop/storageclasses/fast', 404],
        ['/whatever', 404],
        ['/users', 404],
      ] as const) {
        const answer = await server.admin.ask(`${LISTS}${path}`);
        expect(answer.status, path).to.equal(status);
        expect(answer.body, path).to.include({ kind: 'Status', status: 'Failure', code: status });
      }
    });
  });
}
