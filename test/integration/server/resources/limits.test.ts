// Tests of the limits of cached kinds: memory of a kind, number of kinds, and idle time.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../../../support/until.ts';
import type { ResourceCluster, Server } from './resource-cluster.ts';
import { sharedServer } from './shared-server.ts';

/** The kinds that the server follows for its callers. Only these have a maximum of their memory. */
async function followedBy(server: Server): Promise<readonly string[]> {
  const labels = [...(await server.samples('cache_max_bytes')).keys()];
  return labels.map((label) => label.slice('{resource="'.length, -2));
}

describe('limits of followed kinds', () => {
  const NAMESPACE = '/api/v1/namespaces/limits';
  let cluster: ResourceCluster;
  let server: Server;

  before(async () => {
    ({ cluster } = await sharedServer());
    const limits = { maxKinds: 3, idleTimeout: 5_000, syncTimeout: 5_000, memoryBudget: 2 << 20 };
    server = await cluster.serve({}, limits);
    await cluster.create('/api/v1/namespaces', { metadata: { name: 'limits' } });
  });
  after(() => server?.stop());

  const followed = (): Promise<readonly string[]> => followedBy(server);

  it('stop an idle kind, which comes back on demand', async () => {
    expect((await server.page('services')).status).to.equal(200);
    expect(await followed()).to.include('services');
    await until(async () => !(await followed()).includes('services'));
    const { text } = await server.admin.ask('/metrics');
    expect(text).not.to.match(/^(?:cache|reflector)_.*resource="services"/m);
    expect((await server.page('services')).names).to.include('kubernetes');
    expect(await followed()).to.include('services');
  });

  it('bound the number of kinds, without ending live lists', async () => {
    const kinds = ['services', 'endpoints', 'limitranges', 'serviceaccounts', 'persistentvolumes'];
    for (const kind of kinds) {
      expect((await server.page(kind)).status, kind).to.equal(200);
      expect((await followed()).length).to.be.at.most(3);
    }
    const lives = await Promise.all(kinds.slice(0, 3).map((kind) => server.live(kind)));
    for (const live of lives) expect(await live.next()).to.have.property('event', 'page');
    const refused = await server.page('persistentvolumes');
    expect(refused.status).to.equal(503);
    expect(refused.body['message']).to.include('as many kinds as it can');
    expect(await followed()).to.have.members(kinds.slice(0, 3));
    for (const live of lives) live.close();
    await until(async () => (await server.page('persistentvolumes')).status === 200);
  });

  it('release the memory of a kind that grows beyond its budget, and serve the others', async () => {
    const grow = async (name: string): Promise<void> => {
      // Not compressible to less than 600 kB.
      const data = { text: randomBytes(600_000).toString('base64') };
      await cluster.create(`${NAMESPACE}/configmaps`, { metadata: { name }, data });
    };
    await grow('first');
    expect((await server.page('configmaps?limit=1')).status).to.equal(200);
    expect(await followed()).to.include('configmaps');
    await grow('second');
    await until(async () => (await server.page('configmaps?limit=1')).status === 503);
    const { body } = await server.page('configmaps?limit=1');
    expect(body['message']).to.include('more memory than this server has');
    expect(body['details']).to.have.property('retryAfterSeconds').that.is.within(1, 60);
    expect(await followed()).not.to.include('configmaps');
    expect((await server.page('services')).status).to.equal(200);
  });

  it('reject the first list of a kind beyond its budget', async () => {
    const other = await cluster.serve({}, { memoryBudget: 2 << 20 });
    const { status, body } = await other.page('configmaps?limit=1');
    expect(status).to.equal(503);
    expect(body['message']).to.include('more memory than this server has');
    expect(await followedBy(other)).to.deep.equal([]);
    expect((await other.page('services')).status).to.equal(200);
    await other.stop();
  });
});
