// Tests of TokenVerifier, which verifies access tokens.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { base64url, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { newDeviceCode } from '../../../../../server/oauth/codes/device-codes.ts';
import { newRefreshToken } from '../../../../../server/oauth/sessions/session-creator.ts';
import type { AccessTokenClaims } from '../../../../../server/oauth/tokens/access-token.ts';
import { TokenVerifier } from '../../../../../server/oauth/tokens/token-verifier.ts';
import { memoryKeyRing, signedBy } from '../../../../support/oauth/memory-key-ring.ts';
import { rejection } from '../../../../support/rejection.ts';
import { ALICE, AUDIENCE, CLIENT, CREDENTIAL, ISSUER, NOW, SESSION, TokenFixture } from './token-fixture.ts';

const scope = { signal: new AbortController().signal };

async function response(at: TokenFixture, token: string): Promise<AccessTokenClaims | undefined | number> {
  try {
    return await at.verifier.verify(token, scope);
  } catch (error) {
    return error instanceof Error && 'code' in error ? Number(error.code) : Number.NaN;
  }
}

describe('TokenVerifier', () => {
  let at: TokenFixture;
  beforeEach(async () => {
    at = await TokenFixture.make();
  });

  it('returns the claims of a valid token, synchronously if it is cached', async () => {
    const token = at.token();
    const claims = await response(at, token);
    expect(at.verifier.verify(token, scope)).to.equal(claims);
    expect(claims).to.deep.include({
      iss: ISSUER,
      sub: 'alice',
      aud: [AUDIENCE],
      exp: NOW / 1000 + 7200,
      iat: NOW / 1000,
      client_id: CLIENT.id,
      groups: ALICE.groups,
      sid: SESSION.id,
      uid: ALICE.uid,
    });
  });

  describe('returns undefined for', () => {
    it('a string that is not a compact JWT', async () => {
      const token = at.token();
      const [header = '', payload = '', signature = ''] = token.split('.');
      const json = JSON.stringify({ protected: header, payload, signature });
      for (const other of [
        '',
        'abc',
        `${token}.`,
        `${token}=`,
        `${token}.x`,
        json,
        ` ${token}`,
        `${header}..${signature}`,
      ]) {
        expect(await response(at, other), other).to.equal(undefined);
      }
    });

    it('a token of another issuer, however similar its URL', async () => {
      for (const iss of [
        'https://kubernetes.default.svc.cluster.local',
        `${ISSUER}/`,
        ISSUER.toUpperCase(),
        '',
        undefined,
      ]) {
        expect(await response(at, at.sign({ iss })), iss).to.equal(undefined);
      }
    });

    it('a token longer than 48 KiB', async () => {
      expect(await response(at, at.sign({ more: 'x'.repeat(37_000) }))).to.equal(undefined);
    });
  });

  describe('rejects', () => {
    it('a signature of another key', async () => {
      const other = await memoryKeyRing();
      const header = { alg: 'ES256', typ: 'at+jwt', kid: at.keys.signing().kid };
      const token = signedBy(other.signing(), header, at.claims());
      expect(await response(at, token)).to.equal(401);
    });

    it('a changed payload', async () => {
      const [header, payload = '', signature] = at.token().split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
      const changed = base64url.encode(JSON.stringify({ ...claims, sub: 'bob' }));
      expect(await response(at, `${header}.${changed}.${signature}`)).to.equal(401);
    });

    it('a missing signature and a signature of zeros', async () => {
      const [header, payload] = at.token().split('.');
      expect(await response(at, `${header}.${payload}.${base64url.encode(new Uint8Array(64))}`)).to.equal(
        401,
      );
      const unsecured = new UnsecuredJWT(at.claims()).encode();
      expect(await response(at, `${unsecured}AA`)).to.equal(401);
    });

    it('other algorithms, such as HMAC with our public key', async () => {
      const { kid } = at.keys.signing();
      const secret = new TextEncoder().encode(JSON.stringify(at.keys.jwks().keys[0]));
      const hmac = await new SignJWT(at.claims())
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid })
        .sign(secret);
      expect(await response(at, hmac)).to.equal(401);
      const { privateKey } = await generateKeyPair('ES384');
      const es384 = await new SignJWT(at.claims())
        .setProtectedHeader({ alg: 'ES384', typ: 'at+jwt', kid })
        .sign(privateKey);
      expect(await response(at, es384)).to.equal(401);
    });

    it('a key inside or referenced by the token', async () => {
      const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
      const jwk = await exportJWK(publicKey);
      for (const header of [
        { jwk },
        { jwk, kid: at.keys.signing().kid },
        { jku: 'https://evil.example/keys' },
      ]) {
        const token = await new SignJWT(at.claims())
          .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...header })
          .sign(privateKey);
        expect(await response(at, token), JSON.stringify(header)).to.equal(401);
      }
    });

    it('an ID token, and any other type', async () => {
      const subject = { client: CLIENT, account: ALICE, session: SESSION, scopes: ['openid'] };
      expect(await response(at, at.issuer.idToken(subject))).to.equal(401);
      const sameAudience = { ...subject, client: { ...CLIENT, id: AUDIENCE } };
      expect(await response(at, at.issuer.idToken(sameAudience))).to.equal(401);
      for (const typ of ['JWT', 'at+JWT+x', ''])
        expect(await response(at, at.sign({}, { typ })), typ).to.equal(401);
    });

    it('a refresh token and a code, without a TokenReview', async () => {
      const device = newDeviceCode({ sessionID: SESSION.id, requestID: SESSION.id }, NOW, randomBytes);
      for (const { text } of [
        newRefreshToken(SESSION.id, randomBytes),
        { text: `pac_${SESSION.id}_${'c'.repeat(43)}` },
        device,
      ]) {
        expect(await response(at, text), text).to.equal(401);
      }
    });

    it('unknown critical extensions', async () => {
      expect(await response(at, at.sign({}, { crit: ['x'], x: 1 }))).to.equal(401);
    });

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
      ['the id of an ID token', { jti: `ki.${SESSION.id}.AAAAAAAAAAAAAAAA` }],
      ['a foreign id', { jti: 'something', sid: 'something' }],
      ['no client', { client_id: undefined }],
      ['groups that are not a list', { groups: 'developers' }],
      ['groups that are not all strings', { groups: ['a', 1] }],
      ['no uid', { uid: undefined }],
      ['a group without a name', { groups: [''] }],
      ['a token that is not valid yet', { nbf: NOW / 1000 + 5 }],
    ] as const) {
      it(what, async () => {
        expect(await response(at, at.sign(claims))).to.equal(401);
      });
    }

    it('a token at the second of its expiry, cached or not', async () => {
      const token = at.token();
      at.now = NOW + 7200_000 - 1;
      expect(await response(at, token)).to.be.an('object');
      at.now = NOW + 7200_000;
      expect(await response(at, token)).to.equal(401);
    });
  });

  it('re-reads the keys once for an unknown kid, and rejects it if it stays unknown', async () => {
    const token = at.token();
    at.keys = await memoryKeyRing();
    expect(await response(at, token)).to.equal(401);
    expect(at.rereads).to.equal(1);
  });

  describe('checks at every use:', () => {
    let token: string;
    beforeEach(async () => {
      token = at.token();
      expect(await response(at, token)).to.be.an('object');
    });

    for (const [what, change] of [
      ['a terminated session', (now: TokenFixture) => (now.stored = now.cached = undefined)],
      ['a session of another user', (now: TokenFixture) => (now.cached = { ...SESSION, user: 'bob' })],
      [
        'a session of another client',
        (now: TokenFixture) => (now.cached = { ...SESSION, clientID: 'other' }),
      ],
      ['an expired session', (now: TokenFixture) => (now.cached = { ...SESSION, notAfter: NOW })],
      [
        'a session that was idle too long',
        (now: TokenFixture) => (now.cached = { ...SESSION, idleNotAfter: NOW }),
      ],
      ['a deleted user', (now: TokenFixture) => (now.account = undefined)],
      ['a disabled user', (now: TokenFixture) => (now.account = { ...ALICE, disabled: true })],
      ['a recreated user', (now: TokenFixture) => (now.account = { ...ALICE, uid: 'other' })],
      [
        'a password that was changed since',
        (now: TokenFixture) => {
          now.credential = { ...CREDENTIAL, changedAt: SESSION.createdAt + 1 };
        },
      ],
    ] as const) {
      it(`${what} is rejected`, async () => {
        change(at);
        expect(await response(at, token)).to.equal(401);
      });
    }

    it('accepts a session that is not cached yet', async () => {
      at.cached = undefined;
      expect(await response(at, token)).to.be.an('object');
      expect(at.reads).to.equal(1);
    });

    it('accepts a young session whose user is not cached yet', async () => {
      at.cached = { ...SESSION, createdAt: at.now - 1_000 };
      at.account = undefined;
      expect(await response(at, token)).to.be.an('object');
      expect(at.lookups).to.equal(1);
    });

    it('rejects a young session when the cluster has no user, or a disabled one', async () => {
      at.cached = { ...SESSION, createdAt: at.now - 1_000 };
      for (const account of [undefined, { ...ALICE, disabled: true }]) {
        at.account = account;
        at.storedAccount = account;
        expect(await response(at, token)).to.equal(401);
      }
      expect(at.lookups).to.equal(2);
    });

    it('throws ServiceUnavailable while there are no keys', async () => {
      const { issuer, keys } = at;
      const unready = new TokenVerifier({
        keys: { ready: false, verification: (kid) => keys.verification(kid) },
        issuer: () => ISSUER,
        audience: AUDIENCE,
        revocation: { check: () => undefined },
      });
      const subject = { client: CLIENT, account: ALICE, session: SESSION, scopes: [] };
      const { token: access } = issuer.accessToken(subject);
      expect(await rejection(Promise.resolve().then(() => unready.verify(access, scope)))).to.have.property(
        'code',
        503,
      );
    });

    it('throws ServiceUnavailable while the caches are stale', async () => {
      for (const [cache, property] of [
        [at.stands.sessions, 'fresh'],
        [at.stands.users, 'synced'],
        [at.stands.credentials, 'synced'],
      ] as const) {
        Object.assign(cache, { [property]: false });
        expect(await response(at, token)).to.equal(503);
        Object.assign(cache, { [property]: true });
      }
    });

    it('uses the last known state if configured, and rejects what it does not know', async () => {
      at.stands.acceptWhenStale = true;
      at.stands.sessions.fresh = false;
      at.stands.users.synced = false;
      expect(await response(at, token)).to.be.an('object');
      for (const forget of [
        () => (at.account = undefined),
        () => (at.credential = undefined),
        () => (at.cached = undefined),
      ]) {
        [at.account, at.credential, at.cached] = [ALICE, CREDENTIAL, SESSION];
        forget();
        expect(await response(at, token), String(forget)).to.equal(503);
      }
    });
  });
});

describe('TokenIDCheck', () => {
  for (const kind of ['ks', 'ki']) {
    it(`checks our own ids only, here one with the prefix ${kind}`, async () => {
      const at = await TokenFixture.make();
      const alice = { name: 'alice', uid: ALICE.uid };
      const ours = `${kind}.${SESSION.id}.AAAAAAAAAAAAAAAA`;
      expect(at.ids.check(ours, alice, scope)).to.equal(undefined);
      at.cached = undefined;
      at.stored = undefined;
      expect(at.ids.check('b1946ac9-2492-4d8a-9f3e-0d6e5a0c0c0c', alice, scope)).to.equal(undefined);
      const refused = await rejection(Promise.resolve(at.ids.check(ours, alice, scope)));
      expect(refused).to.have.property('code', 401);
      expect(at.reads).to.equal(1);
    });
  }

  it('accepts a missing uid, and rejects another uid and the id of a token of another user', async () => {
    const at = await TokenFixture.make();
    const ours = `ks.${SESSION.id}.AAAAAAAAAAAAAAAA`;
    expect(at.ids.check(ours, { name: 'alice', uid: '' }, scope)).to.equal(undefined);
    for (const other of [
      { name: 'alice', uid: 'other' },
      { name: 'bob', uid: 'b' },
    ]) {
      expect(() => at.ids.check(ours, other, scope)).to.throw('Unauthorized');
    }
  });
});
