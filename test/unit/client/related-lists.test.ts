// Tests of the objects below an object, with hostile names and objects.
import { expect } from 'chai';
import { relatedLists, relatedLogs } from '../../../client/related-lists.ts';

const object = {
  apiVersion: 'v1',
  kind: 'A',
  spec: { selector: { matchLabels: 'text', matchExpressions: {} } },
};
const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };

describe('the objects below an object', () => {
  it('are none of a resource with the name of a property of all objects', () => {
    for (const resource of ['constructor', '__proto__', 'toString']) {
      expect(relatedLists(resource, { ...object, metadata }, false)).to.deep.equal([]);
    }
  });

  it('are the pods that it selects, and the objects that it owns', () => {
    const deployment = {
      ...object,
      metadata: { ...metadata, namespace: 'shop' },
      spec: { selector: { matchLabels: { app: 'a', part: 'b' } } },
    };
    expect(relatedLists('deployments.apps', deployment, false)).to.deep.equal([
      { resource: 'pods', query: { namespace: 'shop', labelSelector: 'app=a,part=b' } },
      { resource: 'replicasets.apps', query: { namespace: 'shop', ownerReference: 'u' } },
    ]);
    expect(relatedLists('nodes', { ...object, metadata: { ...metadata, name: 'a=b' } }, false)).to.deep.equal(
      [{ resource: 'pods', query: { fieldSelector: 'spec.nodeName=a\\=b' } }],
    );
  });

  it('have logs, if they are pods or run them', () => {
    const inShop = { ...object, metadata: { ...metadata, namespace: 'shop' } };
    const found = ['pods', 'jobs.batch', 'services'].map((resource) => relatedLogs(resource, inShop));
    expect(found).to.deep.equal([
      { namespaces: ['shop'], pods: ['a'] },
      { namespaces: ['shop'], workloads: ['a'] },
      undefined,
    ]);
  });
});
