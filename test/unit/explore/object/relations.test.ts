// Tests of the objects below an object, with hostile names and objects.
import { expect } from 'chai';
import { relationsOf } from '../../../../explore/object/relations.ts';

const object = {
  apiVersion: 'v1',
  kind: 'A',
  spec: { selector: { matchLabels: 'text', matchExpressions: {} } },
};
const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };

describe('the objects below an object', () => {
  it('are none of a resource with the name of a property of all objects', () => {
    for (const resource of ['constructor', '__proto__', 'toString']) {
      expect(relationsOf(resource, { ...object, metadata }, false)).to.deep.equal([]);
    }
  });
});
