// Tests of the conversion between credentials and Credential objects.
import { expect } from 'chai';
import { credentialObject, readCredential } from '../../../../../server/oauth/users/credential-store.ts';

const metadata = { name: 'ada', uid: 'u', resourceVersion: '7' };

describe('a Credential object', () => {
  it('is owned by its user, and read as it was written', () => {
    const changedAt = 1_700_000_000_123;
    const credential = { passwordHash: '$argon2id$x', userUID: 'u', mustChange: true, changedAt };
    const object = credentialObject('iam.platform.io', 'ada', credential, '7');
    const owner = { apiVersion: 'iam.platform.io/v1beta1', kind: 'User', name: 'ada', uid: 'u' };
    expect(object).to.have.deep.nested.property('metadata.ownerReferences', [owner]);
    const read = { ...credential, uid: 'u', resourceVersion: '7' };
    expect(readCredential({ ...object, metadata })).to.deep.equal(read);
  });

  it('is invalid without hash, user uid or time', () => {
    const spec = { userUID: 'u', passwordHash: 'h', changedTime: '2026-01-01T00:00:00Z' };
    expect(readCredential({ metadata, spec })).not.to.equal(undefined);
    const invalid = Object.keys(spec).flatMap((field) => [{ [field]: undefined }, { [field]: 7 }]);
    for (const change of [...invalid, { changedTime: 'soon' }]) {
      const object = { metadata, spec: { ...spec, ...change } };
      expect(readCredential(object), JSON.stringify(object)).to.equal(undefined);
    }
  });
});
