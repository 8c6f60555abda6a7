// Tests of lists with resourceVersion and resourceVersionMatch, for parity with kube-apiserver.
import { expect } from 'chai';
import { array, record } from '../../../../apis/reading/unknown-value.ts';
import { CORE, OURS, type ServedNodes, type Spoken } from './served-nodes.ts';
import { sharedNodes } from './shared-nodes.ts';

function seen({ status, body }: Spoken): unknown {
  if (status !== 200) return { status, reason: record(body)['reason'] };
  return {
    status,
    items: array(record(body)['items']).map((item) => {
      const { name, resourceVersion } = record(record(item)['metadata']);
      return `${String(name)}@${String(resourceVersion)}`;
    }),
  };
}

function versionOf({ body }: Spoken): string {
  return String(record(record(body)['metadata'])['resourceVersion']);
}

describe('resourceVersions of lists, compared with kube-apiserver', () => {
  let served: ServedNodes;

  before(async () => {
    served = await sharedNodes();
  });
  const versions: string[] = [];

  before(async () => {
    for (let change = 0; change < 4; change += 1) {
      versions.push(await served.patch('node-00002', { metadata: { labels: { change: String(change) } } }));
    }
    await served.caughtUp();
  });

  async function same(query: string): Promise<void> {
    const theirs = seen(await served.askCluster(CORE + query));
    expect(seen(await served.askUs(OURS + query)), query).to.deep.equal(theirs);
  }

  it('returns exactly the requested version', async () => {
    for (const version of versions) await same(`?resourceVersion=${version}&resourceVersionMatch=Exact`);
  });

  it('treats a version with a limit as exact', async () => {
    for (const version of versions) await same(`?resourceVersion=${version}&limit=4`);
  });

  it('returns the current version for a version with a limit and one name', async () => {
    for (const version of versions) {
      await same(`?resourceVersion=${version}&limit=4&fieldSelector=metadata.name%3Dnode-00002`);
    }
  });

  it('returns the current version for NotOlderThan', async () => {
    for (const version of versions) {
      await same(`?resourceVersion=${version}`);
      await same(`?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`);
    }
  });

  it('accepts a version of another kind that no node has', async () => {
    const { body } = await served.controlPlane.client.expect(
      '/api/v1/namespaces/default/configmaps',
      { method: 'POST', body: { metadata: { generateName: 'other-' } } },
      [201],
    );
    const version = String(record(record(JSON.parse(body))['metadata'])['resourceVersion']);
    const ours = await served.askUs(`${OURS}?resourceVersion=${version}`);
    expect(ours.status).to.equal(200);
    expect(BigInt(versionOf(ours)) >= BigInt(version)).to.equal(true);
    await same(`?resourceVersion=${version}&resourceVersionMatch=Exact`);
  });

  it('serves pages from one snapshot while nodes change', async () => {
    const first = await served.askUs(`${OURS}?limit=2`);
    const token = String(record(record(first.body)['metadata'])['continue']);
    await served.patch('node-00003', { metadata: { labels: { later: 'yes' } } });
    await served.caughtUp();
    const rest = await served.askUs(`${OURS}?continue=${token}`);
    expect(versionOf(rest)).to.equal(versionOf(first));
    expect(JSON.stringify(rest.body)).not.to.contain('"later"');
  });
});
