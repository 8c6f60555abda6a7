import { expect } from 'chai';
import { credentialObject, readCredential } from '../../../../../server/oauth/users/credential-object.ts';
import { accountOf, readUser, userObject } from '../../../../../server/oauth/users/user-object.ts';

const metadata = { name: 'ada', uid: 'u', resourceVersion: '7' };

describe('a User object', () => {
  it('is read without what only the cluster needs', () => {
    const object = {
      metadata: { ...metadata, managedFields: [{}], labels: { a: 'b', c: 1 } },
      spec: { groups: ['dev', 3] },
    };
    expect(readUser(object)).to.deep.equal({
      metadata: { ...metadata, labels: { a: 'b' } },
      spec: { groups: ['dev'] },
    });
  });

  it('keeps what others have put there so that it is not deleted before they are done, or with what', () => {
    const held = {
      ...metadata,
      finalizers: ['example.com/keeps'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b', controller: true }],
    };
    expect(readUser({ metadata: held, spec: {} })).to.deep.equal({ metadata: held, spec: {} });
    expect(userObject('iam.platform.io', { metadata: held, spec: {} })).to.have.deep.property(
      'metadata',
      held,
    );
  });

  it('disables its user when it says so in a way that nobody understands', () => {
    for (const disabled of [true, 'false', 0, null, {}]) {
      expect(readUser({ metadata, spec: { disabled } })?.spec.disabled, JSON.stringify(disabled)).to.equal(
        true,
      );
    }
    expect(readUser({ metadata, spec: { disabled: false } })?.spec.disabled).to.equal(false);
  });

  it('counts as gone when it is being deleted, or has no name or uid', () => {
    expect(readUser({ metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })).to.equal(
      undefined,
    );
    expect(readUser({ metadata: { ...metadata, uid: undefined } })).to.equal(undefined);
    expect(readUser('ada')).to.equal(undefined);
  });

  it('gives nobody a group of Kubernetes, however it came in', () => {
    const account = accountOf({ metadata, spec: { groups: ['system:masters', '', 'a:b', 'dev'] } });
    expect(account.groups).to.deep.equal(['dev']);
  });
});

describe('a Credential object', () => {
  const credential = {
    passwordHash: '$argon2id$x',
    userUID: 'u',
    mustChange: true,
    changedAt: 1_700_000_000_123,
  };

  it('comes back as it was written', () => {
    const object = credentialObject('iam.platform.io', 'ada', credential, '7');
    expect(readCredential({ ...object, metadata })).to.deep.equal({
      ...credential,
      uid: 'u',
      resourceVersion: '7',
    });
  });

  it('belongs to its user, so that it goes with it', () => {
    expect(credentialObject('iam.platform.io', 'ada', credential, undefined)).to.have.deep.nested.property(
      'metadata.ownerReferences',
      [{ apiVersion: 'iam.platform.io/v1beta1', kind: 'User', name: 'ada', uid: 'u' }],
    );
  });

  it('is no password without a hash, a uid or a time', () => {
    const spec = { userUID: 'u', passwordHash: 'h', changedTime: '2026-01-01T00:00:00Z' };
    expect(readCredential({ metadata, spec })).not.to.equal(undefined);
    for (const missing of ['userUID', 'passwordHash', 'changedTime']) {
      expect(readCredential({ metadata, spec: { ...spec, [missing]: undefined } }), missing).to.equal(
        undefined,
      );
      expect(readCredential({ metadata, spec: { ...spec, [missing]: 7 } }), missing).to.equal(undefined);
    }
    expect(readCredential({ metadata, spec: { ...spec, changedTime: 'soon' } })).to.equal(undefined);
  });
});
