// Tests of the kinds that the client library finds in the discovery of a cluster.
import { expect } from 'chai';
import { Client, kindGroups, kindOfReference, kindsNamed, type ServedKind } from '../../../client/index.ts';
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

function kind(resource: string, ...shortNames: string[]): ServedKind {
  const [plural = '', ...rest] = resource.split('.');
  const group = rest.join('.');
  const isCustom = group.endsWith('.com');
  return {
    resource,
    plural,
    group,
    isCustom,
    shortNames,
    kind: plural,
    title: plural,
    apiVersion: 'v1',
    namespaced: true,
    verbs: VERBS,
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
    const widget = {
      plural: 'widgets',
      kind: 'Widget',
      title: 'Widgets',
      namespaced: true,
      verbs: VERBS,
      shortNames: [],
    };
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

  it('have titles with the capitals of their kind', async () => {
    const resources = [
      ['networkpolicies', 'NetworkPolicy'],
      ['endpointslices', 'EndpointSlice'],
      ['foos', 'Bar'],
    ].map(([resource, kind]) => ({ resource, responseKind: { kind }, scope: 'Namespaced' }));
    const groups = { items: [{ metadata: { name: '' }, versions: [{ version: 'v1', resources }] }] };
    server.respond((request, response) => json(request.url === '/api' ? groups : {})(request, response));
    const kinds = await new Client({ server: server.url, token: 'T' }).kubernetes.kinds();
    expect(kinds.map(({ title }) => title)).to.deep.equal(['NetworkPolicies', 'EndpointSlices', 'foos']);
  });

  it('have groups for a menu, without those that the cluster does not serve', () => {
    const kinds = ['leases.coordination.k8s.io', 'pods', 'widgets.example.com', 'nodes', 'deployments.apps'];
    const groups = kindGroups(kinds.map((resource) => kind(resource)));
    expect(groups.map((group) => [group.title, group.kinds.map(({ resource }) => resource)])).to.deep.equal([
      ['Workloads', ['pods', 'deployments.apps']],
      ['Cluster', ['nodes']],
      ['Custom resources', ['widgets.example.com']],
      ['More', ['leases.coordination.k8s.io']],
    ]);
  });

  it('are found by short names and parts of their plurals', () => {
    const kinds = [
      kind('podtemplates'),
      kind('pods', 'po'),
      kind('pos.example.com'),
      kind('statefulsets.apps', 'sts'),
    ];
    const found = (text: string): string[] => kindsNamed(kinds, text).map(({ resource }) => resource);
    expect(found('PO')).to.deep.equal(['pods', 'pos.example.com', 'podtemplates']);
    expect(found('sts')).to.deep.equal(['statefulsets.apps']);
    expect(found('none')).to.deep.equal([]);
  });
});
