// Tests of the conversion between credentials and Credential objects.
import { expect } from 'chai';
import { credentialObject, readCredential } from '../../../../../server/oauth/users/credential-store.ts';

const metadata = { name: 'ada', uid: 'u', resourceVersion: '7' };

describe('a Credential object', () => {
  const credential = {
    passwordHash: '$argon2id$x',
    userUID: 'u',
    mustChange: true,
    changedAt: 1_700_000_000_123,
  };

  it('is owned by its user, and read as it was written', () => {
    const object = credentialObject('iam.platform.io', 'ada', credential, '7');
    const owner = { apiVersion: 'iam.platform.io/v1beta1', kind: 'User', name: 'ada', uid: 'u' };
    expect(object).to.have.deep.nested.property('metadata.ownerReferences', [owner]);
    expect(readCredential({ ...object, metadata })).to.deep.equal({
      ...credential,
      uid: 'u',
      resourceVersion: '7',
    });
  });

  it('is invalid without hash, user uid or time', () => {
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
