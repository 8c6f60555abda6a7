// Tests of kinds and namespaces that are added, changed, removed and recreated. lifecycle.test.ts runs the tests.
import { expect } from 'chai';
import { array, record, recordIn } from '../../../../apis/reading/unknown-value.ts';
import { type Definition, definitionOf, version } from '../../../support/cluster/custom-resource.ts';
import { until } from '../../../support/until.ts';
import type { ResourceCluster, Server } from './resource-cluster.ts';
import { sharedServer } from './shared-server.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export async function define(cluster: ResourceCluster, definition: Definition): Promise<void> {
  await cluster.create(DEFINITIONS, definitionOf(definition));
}

export const definitionPath = (plural: string): string => `${DEFINITIONS}/${plural}.example.com`;

export async function createCustom(
  cluster: ResourceCluster,
  { plural, kind }: Definition,
  name: string,
  spec: object = {},
): Promise<void> {
  const object = { apiVersion: 'example.com/v1', kind, metadata: { name }, spec };
  await cluster.createSoon(`/apis/example.com/v1/${plural}`, object);
}

describe('kinds and namespaces', () => {
  const WIDGETS: Definition = { plural: 'widgets', kind: 'Widget' };
  const GADGETS: Definition = { plural: 'gadgets', kind: 'Gadget' };

  let cluster: ResourceCluster;
  let server: Server;

  before(async () => {
    ({ cluster, server } = await sharedServer());
  });

  it('are served after a definition is created', async () => {
    expect((await server.page('widgets')).status).to.equal(404);
    await define(cluster, WIDGETS);
    await define(cluster, GADGETS);
    await createCustom(cluster, WIDGETS, 'small-blue', { color: 'blue', size: 9 });
    await createCustom(cluster, WIDGETS, 'large-red', { color: 'red', size: 10 });
    await createCustom(cluster, GADGETS, 'gadget');
    await until(async () => (await server.page('widgets')).names.length === 2);
    await until(async () => (await server.page('gadgets.example.com')).names.length === 1);
    expect((await server.page('widgets/small-blue')).body).to.have.property('kind', 'Widget');
  });

  /** Runs `change`, which may relist only the kind. */
  async function relistsOnly(kind: string, change: () => Promise<void>): Promise<void> {
    for (const other of ['widgets', 'gadgets', 'configmaps', 'namespaces']) {
      expect((await server.page(other)).status).to.equal(200);
    }
    const { [kind]: _before, ...others } = await server.lists();
    await change();
    const { [kind]: after, ...unaffected } = await server.lists();
    expect(unaffected).to.deep.equal(others);
    // The server drops the kind, and its metrics start again.
    expect(after).to.be.within(1, 2);
  }

  it('get new sort keys and selectable fields with a new definition, which relists only the kind', async () => {
    expect((await server.page('widgets?sortBy=Size')).status).to.equal(400);
    await relistsOnly('widgets.example.com', async () => {
      const columns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }];
      const v1 = version('v1', {
        additionalPrinterColumns: columns,
        selectableFields: [{ jsonPath: '.spec.color' }],
      });
      await cluster.patch(definitionPath('widgets'), { spec: { versions: [v1] } });
      await until(async () => (await server.page('widgets?sortBy=Size')).status === 200);
      await until(async () => (await server.page('gadgets')).status === 200);
    });
    const sorted = await server.page('widgets?sortBy=Size&ascending=true');
    expect(sorted.names).to.deep.equal(['small-blue', 'large-red']);
    expect((await server.page('widgets?fieldSelector=spec.color%3Dred')).names).to.deep.equal(['large-red']);
  });

  it('have new default values', async () => {
    // A live list relists at once, when kube-apiserver may still have the old defaults.
    const live = await server.live('gadgets');
    for (const color of ['white', 'grey', 'black']) {
      const schema = {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: { color: { type: 'string', default: color } } },
          },
        },
      };
      await cluster.patch(definitionPath('gadgets'), { spec: { versions: [version('v1', { schema })] } });
      await live.until(({ data }) => recordIn(array(data['items'])[0], 'spec')['color'] === color);
    }
    live.close();
  });

  it('are listed in the version that becomes preferred', async () => {
    await relistsOnly('widgets.example.com', async () => {
      const versions = [version('v1'), version('v2')];
      await cluster.patch(definitionPath('widgets'), { spec: { versions } });
      await until(async () => {
        const { status, body } = await server.page('widgets');
        const [first] = array(body['items']).map(record);
        expect(status, JSON.stringify(body)).to.equal(200);
        return first?.['apiVersion'] === 'example.com/v2';
      });
    });
  });

  it('are unknown after their definition is removed, and come back without old objects', async () => {
    const { 'gadgets.example.com': gadgets } = await server.lists();
    await cluster.delete(definitionPath('widgets'));
    await until(async () => (await server.page('widgets')).status === 404);
    expect((await server.page('widgets.example.com')).status).to.equal(404);
    await until(async () => !(await cluster.exists(definitionPath('widgets'))));
    await define(cluster, WIDGETS);
    await createCustom(cluster, WIDGETS, 'new');
    await until(async () => {
      const { status, names } = await server.page('widgets');
      expect(names).not.to.include('large-red');
      return status === 200 && names.length > 0;
    });
    expect((await server.page('widgets')).names).to.deep.equal(['new']);
    expect((await server.lists())['gadgets.example.com']).to.equal(gadgets);
  });

  it('come back without old objects when a definition is replaced at once', async () => {
    await cluster.delete(definitionPath('widgets'));
    await until(async () => {
      const { status } = await cluster.controlPlane.client.send(DEFINITIONS, {
        method: 'POST',
        body: definitionOf(WIDGETS),
      });
      return status === 201;
    });
    await createCustom(cluster, WIDGETS, 'newer');
    await until(async () => (await server.page('widgets')).names.includes('newer'));
    expect((await server.page('widgets')).names).to.deep.equal(['newer']);
  });

  it('never show old objects of a recreated namespace', async () => {
    const tenant = await server.asUser('tenant');
    const maps = '/api/v1/namespaces/reused/configmaps';
    const seen = async (caller?: typeof tenant): Promise<readonly string[]> =>
      (await server.page('namespaces/reused/configmaps?sortBy=name', caller)).names.filter(
        (name) => name !== 'kube-root-ca.crt',
      );
    await cluster.create('/api/v1/namespaces', { metadata: { name: 'reused' } });
    await cluster.create(maps, { metadata: { name: 'old' } });
    await cluster.bind('view', 'tenant', 'reused');
    await until(async () => (await seen(tenant)).includes('old'));
    await until(async () => (await server.page('configmaps', tenant)).names.includes('old'));

    await cluster.delete('/api/v1/namespaces/reused');
    await until(async () => !(await cluster.exists('/api/v1/namespaces/reused')));
    await cluster.create('/api/v1/namespaces', { metadata: { name: 'reused' } });
    await cluster.create(maps, { metadata: { name: 'new' } });
    await until(async () => (await seen()).includes('new'));
    expect(await seen()).to.deep.equal(['new']);
    // The binding of the tenant was deleted with the old namespace.
    await until(async () => (await server.page('configmaps', tenant)).status === 403);
    await until(async () => (await server.page('namespaces/reused/configmaps', tenant)).status === 403);
    expect(recordIn((await server.page('namespaces/reused')).body, 'metadata')['name']).to.equal('reused');
  });
});
