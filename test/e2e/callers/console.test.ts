// Tests of the lists for consoles against ks-apiserver, with curl and an ordinary user.
import { expect } from 'chai';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { until } from '../../support/until.ts';
import { NODES as NODE_COUNT, type Platform } from '../platform.ts';
import { sharedPlatform } from './shared-platform.ts';

const LISTS = '/kapis/resources.platform.io/v1alpha3';
const NODES = `${LISTS}/nodes`;

interface Response {
  readonly status: number;
  readonly body: string;
}

/** Values of a metadata field of the items. */
function valuesIn({ body }: Response, field: string): string[] {
  return array(record(JSON.parse(body))['items']).map((item) => text(recordIn(item, 'metadata')[field]));
}

describe('the lists for consoles, with curl', () => {
  let platform: Platform;
  let reader: string;
  let tenant: string;

  before(async () => {
    platform = await sharedPlatform();
    [reader, tenant] = [await tokenOf('reader'), await tokenOf('tenant')];
    await platform.bind('platform-nodes-reader', '--serviceaccount=default:reader');
    for (const namespace of ['payments', 'shop', 'monitoring']) {
      await platform.succeeding(`create namespace ${namespace}`);
      await platform.succeeding(`create configmap cart -n ${namespace}`);
      if (namespace === 'monitoring') continue;
      await platform.bind('view', '--serviceaccount=default:tenant', namespace);
    }
    const as = '--as=system:serviceaccount:default';
    await platform.permitted(`list nodes.resources.platform.io ${as}:reader`);
    await platform.permitted(`list configmaps ${as}:tenant --namespace=shop`);
  });

  async function tokenOf(name: string): Promise<string> {
    await platform.succeeding(`create serviceaccount ${name}`);
    return (await platform.succeeding(`create token ${name}`)).trim();
  }

  /** A request as in the specification: a token, a content type, no body. */
  const curl = (token: string, path: string, ...args: readonly string[]): Promise<Response> =>
    platform.curl(token, path, '--header', 'Content-Type: application/json', ...args);

  it('returns a page of nodes to a caller with permission to list nodes', async () => {
    const page = `${NODES}?limit=5&sortBy=name&ascending=true&_=1`;
    const list = await curl(reader, page, '--compressed');
    expect(list.status, list.body).to.equal(200);
    expect(record(JSON.parse(list.body))).to.include({ kind: 'NodeList', totalItems: NODE_COUNT });
    const links = [0, 1, 2, 3, 4].map((index) => `${NODES}/node-0000${index}`);
    expect(valuesIn(list, 'selfLink')).to.deep.equal(links);
    expect((await curl(reader, `${NODES}/node-00003`)).status).to.equal(200);
    expect((await curl(reader, `${NODES}/node-99999`)).status).to.equal(404);
    expect((await curl(reader, `${NODES}?nmae=x`)).status).to.equal(400);
    expect((await curl(reader, NODES, '--request', 'DELETE')).status).to.equal(405);
    expect((await curl(`${reader}x`, NODES)).status).to.equal(401);
  });

  it('returns the objects of the namespaces of a tenant, and nothing about others', async () => {
    const page = 'page=1&limit=10&sortBy=createTime&ascending=false&name=cart&_=1700000000';
    const all = await curl(tenant, `${LISTS}/configmaps?${page}&facets=namespace`);
    expect(all.status, all.body).to.equal(200);
    expect(record(JSON.parse(all.body))).to.deep.include({
      totalItems: 2,
      partial: true,
      facets: { namespace: { payments: 1, shop: 1 } },
    });
    expect(valuesIn(all, 'namespace')).to.have.members(['payments', 'shop']);
    const one = await curl(tenant, `${LISTS}/namespaces/shop/configmaps?${page}`);
    expect(valuesIn(one, 'namespace')).to.deep.equal(['shop']);
    for (const path of ['namespaces/monitoring/configmaps', 'configmaps?namespace=monitoring']) {
      expect((await curl(tenant, `${LISTS}/${path}`)).status, path).to.equal(403);
    }
    const found = await curl(tenant, `${LISTS}/search?q=cart&kinds=configmaps`);
    expect(record(JSON.parse(found.body))).to.include({ totalItems: 2 });
    expect(found.body).not.to.include('monitoring');
  });

  it('forbids a caller without permission to list nodes', async () => {
    const list = await curl(tenant, NODES);
    expect(list.status).to.equal(403);
    expect(record(JSON.parse(list.body))['message']).to.equal(
      'nodes.resources.platform.io is forbidden: User "system:serviceaccount:default:tenant" cannot list resource "nodes" in API group "resources.platform.io" at the cluster scope',
    );
    expect((await curl(tenant, `${NODES}/node-00003`)).status).to.equal(403);
    expect((await curl(tenant, NODES, '--head')).status).to.equal(403);
  });

  it('responds 304 to a poll while nothing has changed', async () => {
    const etags = await platform.write('etag', '');
    const poll = (): Promise<Response> =>
      curl(reader, `${NODES}?limit=5`, '--etag-save', etags, '--etag-compare', etags);
    expect((await poll()).status).to.equal(200);
    expect(await poll()).to.deep.equal({ status: 304, body: '' });
  });

  it("returns the resource requests of a node's pods if configured", async () => {
    const server = await platform.startReplica('usage', {
      resources: { nodes: { usageAnnotations: true } },
    });
    const containers = [{ name: 'c', image: 'none', resources: { requests: { cpu: '300m' } } }];
    const pod = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'taking' } },
      spec: { nodeName: 'node-00001', containers },
    };
    await platform.succeeding('apply -f manifests/components/node-usage/access.yaml');
    await platform.succeeding('apply -f', await platform.write('pod.json', JSON.stringify(pod)));
    const annotation = '"node.platform.io/cpu-requests":"300m"';
    await until(async () =>
      (await curl(reader, `${server.url}${NODES}/node-00001`)).body.includes(annotation),
    );
    const { body } = await curl(reader, `${NODES}/node-00001`);
    expect(body).not.to.include('node.platform.io/cpu-requests');
  });
});
