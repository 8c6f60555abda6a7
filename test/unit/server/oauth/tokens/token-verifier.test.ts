// Tests of TokenVerifier, which verifies access tokens.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { base64url, decodeJwt, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { newDeviceCode } from '../../../../../server/oauth/codes/device-codes.ts';
import { newRefreshToken } from '../../../../../server/oauth/sessions/session-creator.ts';
import type { AccessTokenClaims, TokenClaims } from '../../../../../server/oauth/tokens/access-token.ts';
import { SESSION_ENDED, TokenIDCheck } from '../../../../../server/oauth/tokens/revocation-check.ts';
import {
  TokenVerifier,
  type TokenVerifierOptions,
} from '../../../../../server/oauth/tokens/token-verifier.ts';
import { accessTokens, idTokensOf } from '../../../../../server/oauth/tokens/token-verifiers.ts';
import { memoryKeyRing, signedBy } from '../../../../support/oauth/memory-key-ring.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { AUDIENCE, ISSUER } from '../../../../support/oauth/sign-in-site.ts';
import { ALICE, type Login, type Replica, SignedInCluster } from '../../../../support/oauth/signed-in.ts';
import { rejection } from '../../../../support/rejection.ts';

const scope = { signal: new AbortController().signal };

describe('TokenVerifier', () => {
  let at: SignedInCluster;
  let replica: Replica;
  let login: Login;
  beforeEach(async () => {
    at = await SignedInCluster.start();
    replica = await at.replica();
    login = await replica.signIn();
    // The session is older than the delay of the caches.
    at.state.now += 60_000;
  });
  afterEach(() => at.close());

  /** The claims, undefined for a token of another issuer, or the status code of the error. */
  async function response(
    token: string,
    verifier: Pick<TokenVerifier<TokenClaims>, 'verify'> = replica.site.verifier,
  ): Promise<TokenClaims | undefined | number> {
    try {
      return await verifier.verify(token, scope);
    } catch (error) {
      return error instanceof Error && 'code' in error ? Number(error.code) : Number.NaN;
    }
  }

  async function rejected(...tokens: readonly string[]): Promise<void> {
    for (const token of tokens) expect(await response(token), token).to.equal(401);
  }

  /** A token with our signature and any claims. */
  function signed(claims: object, header: object = {}): string {
    const key = at.state.keys.signing();
    const all = { alg: 'ES256', typ: 'at+jwt', kid: key.kid, ...header };
    return signedBy(key, all, { ...decodeJwt(login.access), ...claims });
  }

  function newVerifier<Claims extends TokenClaims = AccessTokenClaims>(
    changes: Partial<TokenVerifierOptions<Claims>> & Pick<TokenVerifierOptions<Claims>, 'kind'>,
  ): TokenVerifier<Claims> {
    const { keys } = at.state;
    const { revocation } = replica.site;
    const now = (): number => at.state.now;
    return new TokenVerifier({ keys, issuer: () => ISSUER, revocation, now, ...changes });
  }

  it('returns the claims of a valid token, synchronously and without an AbortSignal if it is cached', async () => {
    const claims = await response(login.access);
    const lazy = {
      get signal(): AbortSignal {
        throw new Error('the AbortSignal was created');
      },
    };
    expect(replica.site.verifier.verify(login.access, lazy)).to.equal(claims);
    const start = login.session.createdAt / 1000;
    expect(claims).to.deep.include({
      iss: ISSUER,
      sub: 'alice',
      aud: [AUDIENCE],
      exp: start + 7200,
      iat: start,
      client_id: 'console',
      groups: ALICE.groups,
      sid: login.session.id,
      uid: ALICE.uid,
    });
  });

  describe('returns undefined for', () => {
    it('a string that is not a compact JWT, or is longer than 48 KiB', async () => {
      const token = login.access;
      const [header = '', payload = '', signature = ''] = token.split('.');
      const json = JSON.stringify({ protected: header, payload, signature });
      const unsigned = `${header}..${signature}`;
      const texts = ['', 'abc', `${token}.`, `${token}=`, `${token}.x`, ` ${token}`, unsigned, json];
      for (const other of [...texts, signed({ more: 'x'.repeat(37_000) })]) {
        expect(await response(other), other.slice(0, 400)).to.equal(undefined);
      }
    });

    it('a token of another issuer, however similar its URL', async () => {
      const cluster = 'https://kubernetes.default.svc.cluster.local';
      for (const iss of [cluster, `${ISSUER}/`, ISSUER.toUpperCase(), '', undefined]) {
        expect(await response(signed({ iss })), iss).to.equal(undefined);
      }
    });
  });

  it('accepts no ID token, even with the audience of access tokens', async () => {
    const client = newClient(AUDIENCE);
    const subject = { client, account: ALICE, session: login.session, scopes: ['openid'] };
    for (const token of [login.id, replica.site.tokens.idToken(subject), signed({}, { typ: 'JWT' })]) {
      expect(await response(token)).to.equal(undefined);
    }
  });

  describe('rejects', () => {
    it('a signature of another key', async () => {
      const other = await memoryKeyRing();
      const header = { alg: 'ES256', typ: 'at+jwt', kid: at.state.keys.signing().kid };
      await rejected(signedBy(other.signing(), header, decodeJwt(login.access)));
    });

    it('a changed payload', async () => {
      const [header, , signature] = login.access.split('.');
      const changed = base64url.encode(JSON.stringify({ ...decodeJwt(login.access), sub: 'bob' }));
      await rejected(`${header}.${changed}.${signature}`);
    });

    it('a missing signature and a signature of zeros', async () => {
      const [header, payload] = login.access.split('.');
      const unsigned = new UnsecuredJWT(decodeJwt(login.access)).encode();
      await rejected(`${unsigned}AA`, `${header}.${payload}.${base64url.encode(new Uint8Array(64))}`);
    });

    it('other algorithms, such as HMAC with our public key', async () => {
      const { kid } = at.state.keys.signing();
      const secret = new TextEncoder().encode(JSON.stringify(at.state.keys.jwks().keys[0]));
      const { privateKey } = await generateKeyPair('ES384');
      for (const [alg, key] of [
        ['HS256', secret],
        ['ES384', privateKey],
      ] as const) {
        const token = new SignJWT(decodeJwt(login.access)).setProtectedHeader({ alg, typ: 'at+jwt', kid });
        await rejected(await token.sign(key));
      }
    });

    it('an access token that is signed with the RSA key of ID tokens', async () => {
      const key = at.state.keys.signing('RS256');
      const header = { alg: 'RS256', typ: 'at+jwt', kid: key.kid };
      const claims = decodeJwt(login.access);
      await rejected(signedBy(key, header, claims), signedBy(key, { ...header, alg: 'ES256' }, claims));
    });

    it('a key inside or referenced by the token', async () => {
      const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
      const jwk = await exportJWK(publicKey);
      const { kid } = at.state.keys.signing();
      for (const header of [{ jwk }, { jwk, kid }, { jku: 'https://evil.example/keys' }]) {
        const all = { alg: 'ES256', typ: 'at+jwt', ...header };
        await rejected(await new SignJWT(decodeJwt(login.access)).setProtectedHeader(all).sign(privateKey));
      }
    });

    it('any other type', async () => {
      const logout = replica.site.tokens.logoutToken(newClient(AUDIENCE), {
        id: login.session.id,
        user: 'alice',
      });
      await rejected(logout, ...['at+JWT+x', 'jwt', ''].map((typ) => signed({}, { typ })));
    });

    it('a refresh token and a code, without a TokenReview', async () => {
      const { id } = login.session;
      const device = newDeviceCode({ sessionID: id, requestID: id }, at.state.now, randomBytes);
      await rejected(newRefreshToken(id, randomBytes).text, `pac_${id}_${'c'.repeat(43)}`, device.text);
    });

    it('unknown critical extensions', () => rejected(signed({}, { crit: ['x'], x: 1 })));

    for (const [what, claims] of [
      ['another audience', { aud: 'console' }],
      ['no audience', { aud: undefined }],
      ['no expiry', { exp: undefined }],
      ['an expiry that is a string', { exp: '9999999999' }],
      ['no issue time', { iat: undefined }],
      ['no subject', { sub: undefined }],
      ['a subject that is not a string', { sub: 7 }],
      ['no id', { jti: undefined }],
      ['an id of another session', { jti: 'ks.s-bbbbbbbbbbbbbbbbbbbb.AAAAAAAAAAAAAAAA' }],
      ['a foreign id', { jti: 'something', sid: 'something' }],
      ['no client', { client_id: undefined }],
      ['groups that are not a list', { groups: 'developers' }],
      ['groups that are not all strings', { groups: ['a', 1] }],
      ['no uid', { uid: undefined }],
      ['a group without a name', { groups: [''] }],
      ['a group of Kubernetes', { groups: ['developers', 'system:masters'] }],
      ['a user of Kubernetes', { sub: 'system:admin' }],
      ['a token that is not valid yet', { nbf: Date.parse('2026-11-22T12:00:00Z') / 1000 }],
    ] as const) {
      it(what, () => rejected(signed(claims)));
    }

    it('the id of an ID token', () => rejected(signed({ jti: `ki.${login.session.id}.AAAAAAAAAAAAAAAA` })));

    it('a token at the second of its expiry, cached or not', async () => {
      at.state.now = login.session.createdAt + 7200_000 - 1;
      expect(await response(login.access)).to.be.an('object');
      at.state.now++;
      await rejected(login.access);
    });
  });

  it('re-reads the keys once for an unknown kid, and rejects it if it stays unknown', async () => {
    const kind = accessTokens(AUDIENCE);
    let rereads = 0;
    const reread = async () => void rereads++;
    const verifier = newVerifier({ kind, keys: { ready: true, verification: () => undefined, reread } });
    expect(await response(login.access, verifier)).to.equal(401);
    expect(rereads).to.equal(1);
    const unready = newVerifier({ kind, keys: { ready: false, verification: () => undefined } });
    expect(await response(login.access, unready), 'while there are no keys').to.equal(503);
  });

  describe('checks at every use:', () => {
    beforeEach(async () => {
      expect(await response(login.access)).to.be.an('object');
    });

    const change = (changes: object): unknown =>
      at.state.sessions.objects.set(login.session.id, { ...login.session, ...changes });
    const account = (changes: object): unknown => at.state.accounts.set('alice', { ...ALICE, ...changes });
    for (const [what, spoil] of [
      ['a terminated session', () => at.state.sessions.objects.clear()],
      ['a session of another user', () => change({ user: 'bob' })],
      ['a session of another client', () => change({ clientID: 'other' })],
      ['an expired session', () => change({ notAfter: at.state.now })],
      ['a session that was idle too long', () => change({ idleNotAfter: at.state.now })],
      ['a deleted user', () => at.state.accounts.clear()],
      ['a disabled user', () => account({ disabled: true })],
      ['a recreated user', () => account({ uid: 'other' })],
      ['a password that was changed since', () => at.changePassword()],
    ] as const) {
      it(`${what} is rejected`, async () => {
        spoil();
        await rejected(login.access);
      });
    }

    it('accepts a session that is not cached yet', async () => {
      replica.site.store.lag();
      const { access } = await (await at.replica()).signIn();
      expect(await response(access)).to.be.an('object');
      expect(replica.site.store.reads).to.equal(1);
    });

    it('accepts a young session whose user is not cached yet, if the cluster has the user enabled', async () => {
      at.state.now = login.session.createdAt + 1_000;
      for (const [stored, expected] of [
        [ALICE, 'object'],
        [{ ...ALICE, disabled: true }, 'number'],
        [undefined, 'number'],
      ] as const) {
        const catchUp = async () => void (stored && at.state.accounts.set('alice', stored));
        Object.assign(at.state.users, { catchUp });
        at.state.accounts.clear();
        expect(await response(login.access)).to.be.a(expected);
      }
    });

    it('throws ServiceUnavailable while the caches are stale', async () => {
      for (const [cache, property] of [
        [replica.site.store, 'fresh'],
        [at.state.users, 'synced'],
        [at.state.credentials, 'synced'],
      ] as const) {
        Object.assign(cache, { [property]: false });
        expect(await response(login.access)).to.equal(503);
        Object.assign(cache, { [property]: true });
      }
    });
  });

  describe('of ID tokens', () => {
    const SEND = 'this is an ID token; send the access token';
    let verifier: TokenVerifier<TokenClaims>;
    beforeEach(() => {
      verifier = newVerifier<TokenClaims>({ kind: idTokensOf(['console']) });
    });

    /** The message of the rejection of a token. */
    const reason = async (token: string): Promise<string> =>
      (await rejection(Promise.try(() => verifier.verify(token, scope)))).message;

    /** An ID token of alice with other claims. */
    function idToken(claims: object, header: object = {}): string {
      const key = at.state.keys.signing();
      const all = { alg: 'ES256', typ: 'JWT', kid: key.kid, ...header };
      return signedBy(key, all, { ...decodeJwt(login.id), ...claims });
    }

    it('returns the user of either algorithm, with groups only from the token', async () => {
      const subject = { account: ALICE, session: login.session };
      const rsa = { ...subject, client: newClient('console', { idTokenAlgorithm: 'RS256' }) };
      const es = { ...subject, client: newClient('console') };
      for (const token of [
        replica.site.tokens.idToken({ ...es, scopes: ['openid', 'groups'] }),
        replica.site.tokens.idToken({ ...rsa, scopes: ['openid', 'groups'] }),
      ]) {
        const { uid, groups } = ALICE;
        expect(await response(token, verifier)).to.deep.include({ sub: 'alice', uid, groups });
      }
      const ungrouped = replica.site.tokens.idToken({ ...es, scopes: ['openid'] });
      expect(await response(ungrouped, verifier)).to.deep.include({ sub: 'alice', groups: [] });
    });

    it('names the cure for a genuine ID token of any other client, whatever its session', async () => {
      const other = await replica.signIn('other');
      expect(await reason(other.id)).to.equal(SEND);
      at.state.sessions.objects.clear();
      expect(await reason(other.id)).to.equal(SEND);
      expect(await reason(idToken({ aud: ['console'] }))).to.equal(SEND);
      expect(await reason(idToken({ aud: undefined }))).to.equal(SEND);
    });

    it('says nothing about a token that is not genuine or has expired', async () => {
      const other = await replica.signIn('other');
      const [header, payload] = other.id.split('.');
      const foreign = await memoryKeyRing();
      const { kid } = at.state.keys.signing();
      const forged = signedBy(foreign.signing(), { alg: 'ES256', typ: 'JWT', kid }, decodeJwt(other.id));
      const unsigned = `${new UnsecuredJWT(decodeJwt(other.id)).encode()}AA`;
      const renamed = `${header}.${payload}.${login.id.split('.')[2]}`;
      for (const token of [forged, unsigned, renamed, idToken({ aud: 'other' }, { alg: 'RS256' })]) {
        expect(await reason(token)).to.equal('Unauthorized');
      }
      at.state.now += 7200_000;
      expect(await reason(other.id)).to.equal('Unauthorized');
      expect(await reason(login.id)).to.equal('Unauthorized');
    });

    for (const [what, claims] of [
      [
        'the id of an access token',
        { jti: 'ks.s-bbbbbbbbbbbbbbbbbbbb.AAAAAAAAAAAAAAAA', sid: 's-bbbbbbbbbbbbbbbbbbbb' },
      ],
      ['the id of a logout token', { jti: 'kl.AAAAAAAAAAAAAAAA' }],
      ['a user of Kubernetes', { sub: 'system:admin' }],
      ['a group of Kubernetes', { groups: ['system:masters'] }],
      ['another user', { sub: 'bob' }],
      ['another uid', { uid: 'other' }],
      ['no expiry', { exp: undefined }],
    ] as const) {
      it(`rejects ${what}`, async () => {
        expect(await reason(idToken(claims))).to.equal('Unauthorized');
      });
    }

    it('rejects a session of another client, and the id of an access token of the same session', async () => {
      const { sid, jti } = decodeJwt((await replica.signIn('other')).id);
      expect(await reason(idToken({ sid, jti }))).to.equal('Unauthorized');
      expect(await reason(idToken({ jti: decodeJwt(login.access).jti }))).to.equal('Unauthorized');
    });

    it('rejects an access token, a logout token, and any other type', async () => {
      const logout = replica.site.tokens.logoutToken(newClient('console'), {
        id: login.session.id,
        user: 'alice',
      });
      for (const token of [login.access, logout, idToken({}, { typ: 'at+jwt' }), idToken({}, { typ: '' })]) {
        expect(await reason(token)).to.equal('Unauthorized');
      }
    });

    it('rejects the token when its session, its user or the password is no longer valid', async () => {
      for (const spoil of [
        () => at.state.sessions.objects.clear(),
        () => at.state.accounts.set('alice', { ...ALICE, disabled: true }),
        () => at.changePassword(),
      ]) {
        const { id } = await replica.signIn();
        at.state.now += 60_000;
        expect(await response(id, verifier)).to.be.an('object');
        spoil();
        expect(await reason(id)).to.equal(SESSION_ENDED);
        at.state.accounts.set('alice', ALICE);
      }
    });
  });

  describe('TokenIDCheck', () => {
    const alice = { name: 'alice', uid: ALICE.uid };

    it('checks our own ids only', async () => {
      const ids = new TokenIDCheck(replica.site.revocation);
      for (const kind of ['ks', 'ki']) {
        const ours = `${kind}.${login.session.id}.AAAAAAAAAAAAAAAA`;
        expect(ids.check(ours, alice, scope)).to.equal(undefined);
        at.state.sessions.objects.clear();
        expect(ids.check('b1946ac9-2492-4d8a-9f3e-0d6e5a0c0c0c', alice, scope)).to.equal(undefined);
        expect(await rejection(Promise.resolve(ids.check(ours, alice, scope)))).to.have.property('code', 401);
        at.state.sessions.objects.set(login.session.id, login.session);
      }
    });

    it('accepts a missing uid, and rejects another uid and the id of a token of another user', () => {
      const ids = new TokenIDCheck(replica.site.revocation);
      const ours = `ks.${login.session.id}.AAAAAAAAAAAAAAAA`;
      expect(ids.check(ours, { name: 'alice', uid: '' }, scope)).to.equal(undefined);
      for (const other of [
        { name: 'alice', uid: 'other' },
        { name: 'bob', uid: 'b' },
      ]) {
        expect(() => ids.check(ours, other, scope)).to.throw('Unauthorized');
      }
    });
  });
});
