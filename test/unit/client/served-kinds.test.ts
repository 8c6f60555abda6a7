// Tests of the kinds that the client library finds in the discovery of a cluster.
import { expect } from 'chai';
import { Client, kindOfReference } from '../../../client/index.ts';
import { json, scriptedServer } from '../../support/scripted-server.ts';

const VERBS = ['get', 'list', 'watch'];

function group(name: string, ...versions: readonly string[]): object {
  const resource = {
    resource: 'widgets',
    responseKind: { kind: 'Widget' },
    scope: 'Namespaced',
    verbs: VERBS,
  };
  return {
    metadata: { name },
    versions: versions.map((version) => ({ version, resources: [resource] })),
  };
}

describe('the kinds of a cluster', () => {
  const server = scriptedServer();

  it('are those of all groups, each in the preferred version', async () => {
    server.respond((request, response) => {
      const groups = request.url === '/api' ? group('', 'v1') : group('example.com', 'v2', 'v1');
      json({ items: [groups] })(request, response);
    });
    const kinds = await new Client({ server: server.url, token: 'T' }).kubernetes.kinds();
    expect(server.asked.sort()).to.deep.equal(['GET /api', 'GET /apis']);
    const widget = { plural: 'widgets', kind: 'Widget', namespaced: true, verbs: VERBS, shortNames: [] };
    expect(kinds).to.deep.equal([
      { ...widget, resource: 'widgets', group: '', isCustom: false, apiVersion: 'v1' },
      {
        ...widget,
        resource: 'widgets.example.com',
        group: 'example.com',
        isCustom: true,
        apiVersion: 'example.com/v2',
      },
    ]);
    const resourceOf = (apiVersion: string, kind: string): string | undefined =>
      kindOfReference(kinds, { apiVersion, kind })?.resource;
    expect(resourceOf('v1', 'Widget')).to.equal('widgets');
    // An owner can have been written in another version.
    expect(resourceOf('example.com/v1', 'Widget')).to.equal('widgets.example.com');
    expect(resourceOf('example.org/v1', 'Widget')).to.equal(undefined);
  });
});
