// Tests of TokenIssuer, which signs access tokens and ID tokens.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { IDTokenHints } from '../../../../../server/oauth/endpoints/presented-tokens.ts';
import { sessionOfAny } from '../../../../../server/oauth/tokens/access-token.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { ALICE, ISSUER, type Login, SignedInCluster } from '../../../../support/oauth/signed-in.ts';

describe('TokenIssuer', () => {
  const client = newClient('console');
  let at: SignedInCluster;
  let session: Login['session'];
  beforeEach(async () => {
    at = await SignedInCluster.start();
    ({ session } = await at.replica().signIn());
  });
  const subject = (scopes = ['openid']) => ({ client, account: ALICE, session, scopes });

  it('sets typ and kid, and unique token ids that contain the session id', () => {
    const tokens = [1, 2].map(() => at.issuer.accessToken(subject()).token);
    const header = { alg: 'ES256', typ: 'at+jwt', kid: at.keys.signing().kid };
    for (const token of tokens) expect(decodeProtectedHeader(token)).to.deep.equal(header);
    const ids = tokens.map((token) => decodeJwt(token).jti ?? '');
    expect(new Set(ids).size).to.equal(2);
    expect(ids.map((jti) => sessionOfAny(jti))).to.deep.equal([session.id, session.id]);
  });

  it('signs ID tokens with the algorithm of the client, and access tokens with ES256', async () => {
    const rsa = { ...subject(), client: newClient('console', { idTokenAlgorithm: 'RS256' }) };
    const { access_token: access, id_token: id = '' } = at.issuer.tokenResponse(rsa);
    const { kid } = at.keys.signing('RS256');
    expect(decodeProtectedHeader(id)).to.deep.equal({ alg: 'RS256', typ: 'JWT', kid });
    await jwtVerify(id, createLocalJWKSet({ keys: [...at.keys.jwks().keys] }), {
      algorithms: ['RS256'],
      currentDate: new Date(at.now),
    });
    expect(decodeProtectedHeader(access)).to.include({ alg: 'ES256' });
    const hints = new IDTokenHints({ keys: at.keys, issuer: () => ISSUER });
    const named = { session: session.id, clientID: 'console', user: 'alice', userUID: ALICE.uid };
    expect(await hints.read(id)).to.deep.equal({ ...named, authTime: decodeJwt(id)['auth_time'] });
  });

  it('names the user in the claim that KubeSphere consoles read', () => {
    const { sub, username } = decodeJwt<{ username: string }>(at.issuer.accessToken(subject()).token);
    expect([sub, username]).to.deep.equal([ALICE.name, ALICE.name]);
  });

  it('issues no token that outlives its session, or exceeds the accepted length', () => {
    session = { ...session, notAfter: at.now + 90_500 };
    const { token, expiresIn } = at.issuer.accessToken(subject());
    expect(expiresIn).to.equal(90);
    expect(decodeJwt(token).exp).to.equal(at.now / 1000 + 90);
    const groups = Array.from({ length: 1500 }, (_, i) => `a-group-with-a-long-name-${i}`);
    expect(() => at.issuer.accessToken({ ...subject(), account: { ...ALICE, groups } }))
      .to.throw()
      .with.property('code', 'server_error');
  });

  it('names the time of the authentication, not that of the session', () => {
    const authentication = session.authentication && { ...session.authentication, authTime: at.now - 90_500 };
    session = { ...session, ...(authentication ? { authentication } : {}) };
    for (const token of [at.issuer.accessToken(subject()).token, at.issuer.idToken(subject())]) {
      expect(decodeJwt(token)['auth_time']).to.equal(Math.floor(at.now / 1000 - 90.5));
    }
  });

  it('issues ID tokens bound to nonce and access token, with the groups and without the claims of userinfo', () => {
    const { token } = at.issuer.accessToken(subject());
    const { jti, ...bare } = decodeJwt(at.issuer.idToken(subject(), { nonce: 'n', accessToken: token }));
    expect(jti).to.match(new RegExp(`^ki\\.${session.id}\\.[\\w-]{16}$`));
    expect(bare).to.deep.equal({
      iss: ISSUER,
      sub: 'alice',
      aud: client.id,
      exp: at.now / 1000 + 7200,
      iat: at.now / 1000,
      auth_time: session.createdAt / 1000,
      acr: '1fa',
      amr: ['pwd'],
      sid: session.id,
      uid: ALICE.uid,
      nonce: 'n',
      at_hash: createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url'),
    });
    const scopes = ['openid', 'profile', 'email', 'groups'];
    const withScopes = decodeJwt(at.issuer.idToken(subject(scopes)));
    expect(withScopes).to.deep.include({ groups: ALICE.groups });
    expect(withScopes).not.to.have.any.keys('preferred_username', 'name', 'email', 'email_verified');
  });
});
