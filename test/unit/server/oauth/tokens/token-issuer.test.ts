// Tests of TokenIssuer, which signs access tokens and ID tokens.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { sessionOfAny } from '../../../../../server/oauth/tokens/access-token.ts';
import { ALICE, CLIENT, ISSUER, NOW, SESSION, TokenFixture } from './token-fixture.ts';

describe('TokenIssuer', () => {
  let at: TokenFixture;
  beforeEach(async () => {
    at = await TokenFixture.make();
  });
  const subject = { client: CLIENT, account: ALICE, session: SESSION, scopes: ['openid'] };

  it('sets typ and kid in the header', () => {
    const { token } = at.issuer.accessToken(subject);
    expect(decodeProtectedHeader(token)).to.deep.equal({
      alg: 'ES256',
      typ: 'at+jwt',
      kid: at.keys.signing().kid,
    });
  });

  it('issues unique token ids that contain the session id', () => {
    const [one, two] = [1, 2].map(() => decodeJwt(at.issuer.accessToken(subject).token).jti ?? '');
    expect(one).not.to.equal(two);
    expect([one, two].map((jti) => sessionOfAny(jti ?? ''))).to.deep.equal([SESSION.id, SESSION.id]);
  });

  it('expires no later than the session', () => {
    const ending = { ...SESSION, notAfter: NOW + 90_500 };
    const { token, expiresIn } = at.issuer.accessToken({ ...subject, session: ending });
    expect(expiresIn).to.equal(90);
    expect(decodeJwt(token).exp).to.equal(NOW / 1000 + 90);
  });

  it('issues no token that exceeds the accepted length', () => {
    const groups = Array.from({ length: 1500 }, (_, i) => `a-group-with-a-long-name-${i}`);
    expect(() => at.issuer.accessToken({ ...subject, account: { ...ALICE, groups } }))
      .to.throw()
      .with.property('code', 'server_error');
  });

  it('issues ID tokens bound to nonce and access token, with the claims of the scopes', () => {
    const { token } = at.issuer.accessToken(subject);
    const { jti, ...bare } = decodeJwt(at.issuer.idToken(subject, { nonce: 'n', accessToken: token }));
    expect(jti).to.match(new RegExp(`^ki\\.${SESSION.id}\\.[\\w-]{16}$`));
    expect(bare).to.deep.equal({
      iss: ISSUER,
      sub: 'alice',
      aud: CLIENT.id,
      exp: NOW / 1000 + 7200,
      iat: NOW / 1000,
      auth_time: SESSION.createdAt / 1000,
      sid: SESSION.id,
      uid: ALICE.uid,
      nonce: 'n',
      at_hash: createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url'),
    });
    const scopes = ['openid', 'profile', 'email', 'groups'];
    expect(decodeJwt(at.issuer.idToken({ ...subject, scopes }))).to.deep.include({
      preferred_username: 'alice',
      name: 'Alice',
      email: 'alice@example.com',
      groups: ALICE.groups,
    });
  });
});
