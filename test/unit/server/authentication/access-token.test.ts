// Tests of the authenticator of access tokens that this server has issued.
import { expect } from 'chai';
import { AccessTokenAuthenticator } from '../../../../server/authentication/access-token.ts';

const scope = { signal: new AbortController().signal };
const CLAIMS = {
  sub: 'alice',
  uid: 'u-1',
  groups: ['developers'],
  jti: 'ks.s-abcdefghijklmnopqrst.AAAAAAAAAAAAAAAA',
};
const EXTRA = 'authentication.kubernetes.io/credential-id';

describe('AccessTokenAuthenticator', () => {
  it('maps claims to the same user as kube-apiserver', () => {
    const authenticator = new AccessTokenAuthenticator({ verify: () => CLAIMS });
    expect(authenticator.authenticate({ text: 'token' }, scope)).to.deep.equal({
      name: 'alice',
      uid: 'u-1',
      groups: ['developers'],
      extra: { [EXTRA]: [`JTI=${CLAIMS.jti}`] },
    });
  });

  it('returns the same user object for the same claims, and undefined for tokens of other issuers', async () => {
    const answers = [CLAIMS, Promise.resolve(CLAIMS), undefined, Promise.resolve(undefined)];
    const authenticator = new AccessTokenAuthenticator({ verify: () => answers.shift() });
    const first = authenticator.authenticate({ text: 'token' }, scope);
    expect(await authenticator.authenticate({ text: 'token' }, scope)).to.equal(first);
    for (let i = 0; i < 2; i++)
      expect(await authenticator.authenticate({ text: 'token' }, scope)).to.equal(undefined);
  });
});
