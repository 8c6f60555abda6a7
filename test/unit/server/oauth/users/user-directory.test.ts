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
    const object = {
      metadata: { ...held, managedFields: [{}], labels: { a: 'b', c: 1 } },
      spec: { groups: ['dev', 3] },
    };
    expect(readUser(object)).to.deep.equal({
      metadata: { ...held, labels: { a: 'b' } },
      spec: { groups: ['dev'] },
    });
    expect(userObject('iam.platform.io', { metadata: held, spec: {} })).to.have.deep.property(
      'metadata',
      held,
    );
  });

  it('disables its user for every value of disabled but false', () => {
    for (const disabled of [true, 'false', 0, null, {}]) {
      expect(readUser({ metadata, spec: { disabled } })?.spec.disabled, JSON.stringify(disabled)).to.equal(
        true,
      );
    }
    expect(readUser({ metadata, spec: { disabled: false } })?.spec.disabled).to.equal(false);
  });

  it('is treated as deleted with a deletionTimestamp, or without name or uid', () => {
    expect(readUser({ metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })).to.equal(
      undefined,
    );
    expect(readUser({ metadata: { ...metadata, uid: undefined } })).to.equal(undefined);
    expect(readUser('ada')).to.equal(undefined);
  });

  it('drops reserved groups of Kubernetes, even if they were stored', () => {
    const account = accountOf({ metadata, spec: { groups: ['system:masters', '', 'a:b', 'dev'] } });
    expect(account.groups).to.deep.equal(['dev']);
  });
});
