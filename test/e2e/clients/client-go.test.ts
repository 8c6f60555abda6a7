// Tests of client-go informers against the nodes of ks-apiserver, through the aggregation layer.
import { expect } from 'chai';
import { realisticNode } from '../../../hack/simulation/realistic-node.ts';
import { NODES, type Platform, RESOURCE } from '../platform.ts';
import { sharedPlatform } from '../shared-platform.ts';
import { INFORMERS, type InformerName, InformerProgram, type Versions } from './informer-program.ts';

const CHANGES = 200;
const SELECTED = 'step=odd';

describe('client-go informers with default settings, through the aggregation layer', () => {
  let platform: Platform;
  let informers: InformerProgram;

  before(async () => {
    platform = await sharedPlatform();
    const user = { name: 'informer' };
    await platform.bind('platform-nodes-reader', '--user=informer');
    await platform.permitted('watch', RESOURCE, '--as=informer');
    informers = await InformerProgram.start({
      kubeconfig: await platform.controlPlane.kubeconfigFor(user),
      resource: 'nodes.v1alpha3.resources.platform.io',
      selector: SELECTED,
      signal: platform.signal,
    });
  });

  after(() => informers?.stop());

  /** The expected contents of an informer, from kube-apiserver. */
  async function coreNodes(informer: InformerName): Promise<Versions> {
    const query = informer === 'selector' ? `?labelSelector=${encodeURIComponent(SELECTED)}` : '';
    const list = (await platform.controlPlane.client.get(`/api/v1/nodes${query}`)) as CoreList;
    return Object.fromEntries(list.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  }

  async function inStep(): Promise<void> {
    for (const informer of INFORMERS) {
      const expected = await coreNodes(informer);
      await informers.reaches(informer, expected);
      expect(await informers.store(informer), informer).to.deep.equal(expected);
    }
  }

  /** Changes nodes one by one: labels that enter and leave the selector, new nodes, deletions. */
  async function change(count: number, round: string): Promise<void> {
    const { client } = platform.controlPlane;
    const nodes = '/api/v1/nodes';
    const remove = async (step: number): Promise<void> => {
      const { name } = realisticNode(1000 + step).metadata;
      await client.expect(`${nodes}/${name}`, { method: 'DELETE' }, [200]);
    };
    for (let step = 0; step < count; step++) {
      if (step % 10 === 8) {
        await client.expect(nodes, { method: 'POST', body: realisticNode(1000 + step) }, [201]);
      } else if (step % 20 === 19) {
        await remove(step - 1);
      } else {
        const name = `node-${String(step % NODES).padStart(5, '0')}`;
        const labels = { step: step % 3 === 0 ? 'odd' : 'even', round: `${round}-${step}` };
        const patch = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const;
        await client.expect(`${nodes}/${name}`, { ...patch, body: { metadata: { labels } } }, [200]);
      }
    }
    for (let step = 8; step < count; step += 20) await remove(step);
  }

  it('sync all nodes', async () => {
    await inStep();
    expect(Object.keys(await informers.store('dynamic'))).to.have.lengthOf(NODES);
    expect(await informers.store('selector')).to.deep.equal({});
  });

  it(`stay consistent through ${CHANGES} changes`, async () => {
    await change(CHANGES, 'first');
    await inStep();
    expect(Object.keys(await informers.store('selector'))).to.not.have.lengthOf(0);
  });

  it('use only WatchList', () => {
    expect(informers.log).to.not.match(/falling back|watch-?list/i);
  });

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`are consistent again after our server is stopped by ${signal} and restarted`, async () => {
      await Promise.all([change(30, signal), platform.restartServer(signal)]);
      await inStep();
      await change(10, `${signal}-after`);
      await inStep();
    });
  }

  it('are consistent again after kube-apiserver is killed and restarted', async () => {
    const { apiserver } = platform.controlPlane;
    await apiserver.kill();
    await apiserver.restart();
    await change(30, 'restarted');
    await inStep();
  });
});

interface CoreList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
  }[];
}
