// Tests of the conversion between accounts and User objects.
import { expect } from 'chai';
import { accountOf, readUser, userObject } from '../../../../../server/oauth/users/user-directory.ts';

const metadata = { name: 'ada', uid: 'u', resourceVersion: '7' };

describe('a User object', () => {
  it('is read without fields that only the cluster uses, and keeps those of other controllers', () => {
    const held = {
      ...metadata,
      finalizers: ['example.com/keeps'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b', controller: true }],
    };
    const read = readUser({
      metadata: { ...held, managedFields: [{}], labels: { a: 'b', c: 1 } },
      spec: { groups: ['dev', 3] },
    });
    expect(read).to.deep.equal({ metadata: { ...held, labels: { a: 'b' } }, spec: { groups: ['dev'] } });
    const written = userObject('iam.platform.io', { metadata: held, spec: {} });
    expect(written).to.have.deep.property('metadata', held);
  });

  it('disables its user for every value of disabled but false', () => {
    for (const disabled of [true, 'false', 0, null, {}, false]) {
      const user = readUser({ metadata, spec: { disabled } });
      expect(user?.spec.disabled, JSON.stringify(disabled)).to.equal(disabled !== false);
    }
  });

  it('is treated as deleted with a deletionTimestamp, or without name or uid', () => {
    const deleted = { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    for (const object of [{ metadata: deleted }, { metadata: { ...metadata, uid: undefined } }, 'ada']) {
      expect(readUser(object)).to.equal(undefined);
    }
  });

  it('drops reserved groups of Kubernetes, even if they were stored', () => {
    const account = accountOf({ metadata, spec: { groups: ['system:masters', '', 'a:b', 'dev'] } });
    expect(account.groups).to.deep.equal(['dev']);
  });
});
