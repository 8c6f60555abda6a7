// Tests of the discovery handlers.
import { expect } from 'chai';
import { discoveryRouter } from '../../../../../server/endpoints/discovery/discovery-handlers.ts';
import type { DiscoveredResource } from '../../../../../server/endpoints/discovery/documents.ts';
import { nodes } from '../../../../support/cluster/node-cache.ts';
import { servedHandler } from '../../../../support/handler-server.ts';
import { routed } from '../../../../support/routed.ts';

const LOGS: DiscoveredResource = {
  group: 'logging.platform.io',
  version: 'v1alpha2',
  kind: 'Log',
  plural: 'logs',
  singular: 'log',
  namespaced: true,
  verbs: ['get'],
};
const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

describe('discovery', () => {
  const handlers = discoveryRouter([nodes, LOGS, { ...LOGS, version: 'v1alpha1' }]);
  const server = servedHandler(routed(handlers));

  it('lists groups in the order of their definitions, the first version preferred', async () => {
    const group = (name: string, ...names: string[]) => {
      const versions = names.map((version) => ({ groupVersion: `${name}/${version}`, version }));
      return { name, versions, preferredVersion: versions[0] };
    };
    expect(await server.json('/apis')).to.deep.equal({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: [
        group('resources.platform.io', 'v1alpha3'),
        group('logging.platform.io', 'v1alpha2', 'v1alpha1'),
      ],
    });
  });

  it('returns aggregated discovery on request, with its media type', async () => {
    const answer = await server.ask('/apis', { headers: { Accept: `${V2},application/json` } });
    expect(answer.headers['content-type']).to.equal(V2);
    expect(answer.headers['vary']).to.equal('Accept, Origin');
    const list: unknown = JSON.parse(answer.body.toString());
    expect(list).to.have.nested.property('items[0].metadata.name', 'resources.platform.io');
    expect(list).to.have.nested.property('items[0].versions[0].freshness', 'Current');
    expect(list).to.have.deep.nested.property('items[0].versions[0].resources[0]', {
      resource: 'nodes',
      responseKind: { group: 'resources.platform.io', version: 'v1alpha3', kind: 'Node' },
      scope: 'Cluster',
      singularResource: 'node',
      verbs: ['get', 'list', 'watch'],
    });
    expect(list).to.have.nested.property('items[1].versions[1].version', 'v1alpha1');
    expect(list).to.have.nested.property('items[1].versions[0].resources[0].scope', 'Namespaced');
  });

  it('supports v2 and v2beta1 of aggregated discovery only', async () => {
    const older = await server.json('/apis', { headers: { Accept: V2.replace('v=v2', 'v=v2beta1') } });
    expect(older['apiVersion']).to.equal('apidiscovery.k8s.io/v2beta1');
    const other = { headers: { Accept: V2.replace('v=v2', 'v=v3') } };
    expect((await server.ask('/apis', other)).status).to.equal(406);
    const fallback = await server.ask('/apis', {
      headers: { Accept: `${other.headers.Accept},application/json` },
    });
    expect(fallback.headers['content-type']).to.equal('application/json');
  });

  it('returns legacy discovery for groups and versions', async () => {
    const answer = await server.ask('/apis/resources.platform.io/v1alpha3', { headers: { Accept: V2 } });
    expect(answer.status).to.equal(406);
  });

  it('returns 304 for a matching tag of the same format only', async () => {
    const legacy = await server.ask('/apis');
    const aggregated = await server.ask('/apis', { headers: { Accept: V2 } });
    const tag = String(aggregated.headers['etag']);
    expect(tag).to.match(/^"[0-9A-F]{128}"$/);
    expect(tag).not.to.equal(legacy.headers['etag']);
    for (const header of [tag, `"x", W/${tag}`]) {
      const again = await server.ask('/apis', { headers: { Accept: V2, 'If-None-Match': header } });
      expect(again.status).to.equal(304);
      expect(again.body).to.have.length(0);
    }
    const other = await server.ask('/apis', {
      headers: { Accept: 'application/json', 'If-None-Match': tag },
    });
    expect(other.status).to.equal(200);
  });

  it('returns the headers of GET for HEAD', async () => {
    for (const path of ['/apis', '/apis/resources.platform.io', '/apis/resources.platform.io/v1alpha3']) {
      const { headers } = await server.ask(path);
      const head = await server.ask(path, { method: 'HEAD' });
      expect(head.status, path).to.equal(200);
      expect(head.body).to.have.length(0);
      for (const name of ['content-type', 'content-length', 'etag'] as const) {
        expect(head.headers[name], `${path} ${name}`).to.be.a('string').that.equals(headers[name]);
      }
    }
  });

  it('returns 405 for methods other than GET and HEAD', async () => {
    const answer = await server.ask('/apis', { method: 'POST' });
    expect(answer.status).to.equal(405);
    expect(answer.headers['allow']).to.equal('GET, HEAD');
  });
});
