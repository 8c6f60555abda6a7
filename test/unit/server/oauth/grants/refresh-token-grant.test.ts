// Tests of the refresh_token grant.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { OAuthError } from '../../../../../apis/oauth/oauth-error.ts';
import { REPEAT_MS } from '../../../../../server/oauth/grants/refresh-token-grant.ts';
import { newRefreshToken } from '../../../../../server/oauth/sessions/session-creator.ts';
import { sessionOfAny } from '../../../../../server/oauth/tokens/access-token.ts';
import type { TokenResponse } from '../../../../../server/oauth/tokens/token-issuer.ts';
import { ALICE, type Login, type Replica, SignedInCluster } from '../../../../support/oauth/signed-in.ts';
import { rejection } from '../../../../support/rejection.ts';

const UNAVAILABLE = '503 temporarily_unavailable';

describe('the refresh_token grant', () => {
  let cluster: SignedInCluster;
  let replica: Replica;
  let login: Login;

  beforeEach(async () => {
    cluster = await SignedInCluster.start();
    replica = await cluster.replica();
    login = await replica.signIn();
  });
  afterEach(() => cluster.close());

  /** `expected`: status and code of the error. */
  async function refused(response: Promise<TokenResponse>, expected = '400 invalid_grant'): Promise<void> {
    const error = await rejection(response);
    expect(error instanceof OAuthError ? `${error.status} ${error.code}` : String(error)).to.equal(expected);
  }
  const kept = () => cluster.state.sessions.objects.get(login.session.id);
  const next = (response: TokenResponse): string => response.refresh_token ?? '';

  describe('with a valid token', () => {
    it('issues an access token, a new refresh token and an ID token', async () => {
      const response = await replica.refresh(login.refresh);
      expect(response).to.include({ token_type: 'Bearer', expires_in: 7200, scope: 'openid email' });
      expect(next(response)).to.match(/^prt_/).and.not.equal(login.refresh);
      expect(response.id_token).to.match(/^[\w-]+\.[\w-]+\.[\w-]+$/);
      expect(await replica.accepts(response.access_token)).to.equal(true);
      expect(await replica.accepts(next(response))).to.equal(true);
      expect(await replica.accepts(login.access)).to.equal(true);
      expect(replica.site.refreshes).to.deep.equal(['refreshed console']);
    });

    it('extends the idle expiry up to the absolute expiry', async () => {
      cluster.state.now += 6 * 86_400_000;
      let token = next(await replica.refresh(login.refresh));
      expect(kept()).to.include({
        lastUsedAt: cluster.state.now,
        idleNotAfter: cluster.state.now + 7 * 86_400_000,
        notAfter: login.session.notAfter,
      });
      for (let i = 0; i < 3; i++) {
        cluster.state.now += 6 * 86_400_000;
        token = next(await replica.refresh(token));
      }
      const { notAfter } = login.session;
      expect(kept()).to.include({ idleNotAfter: notAfter, notAfter });
      cluster.state.now = notAfter - 90_000;
      const last = await replica.refresh(token);
      expect([last.expires_in, decodeJwt(last.access_token).exp]).to.deep.equal([
        90,
        cluster.state.now / 1000 + 90,
      ]);
    });

    it('issues tokens with ids of their own, which name the session', async () => {
      const tokens = [login.access, (await replica.refresh(login.refresh)).access_token];
      const ids = tokens.map((token) => decodeJwt(token).jti ?? '');
      expect(new Set(ids).size).to.equal(2);
      expect(ids.map((jti) => sessionOfAny(jti))).to.deep.equal([login.session.id, login.session.id]);
    });

    it('narrows scopes for one access token only', async () => {
      const narrow = await replica.refresh(login.refresh, { scope: 'email' });
      expect(narrow.scope).to.equal('email');
      expect(narrow).to.not.have.property('id_token');
      expect((await replica.refresh(next(narrow))).scope).to.equal('openid email');
    });

    it('drops scopes that the client has lost', async () => {
      cluster.configure('console', { scopes: ['email'] });
      const response = await replica.refresh(login.refresh);
      expect(response.scope).to.equal('email');
      expect(response).to.not.have.property('id_token');
      await refused(replica.refresh(next(response), { scope: 'openid' }), '400 invalid_scope');
    });
  });

  describe('with an invalid token', () => {
    it('rejects a malformed token and leaves every session unchanged', async () => {
      const forged = newRefreshToken(login.session.id, randomBytes).text;
      const unknown = newRefreshToken(`s-${'a'.repeat(20)}`, randomBytes).text;
      const texts = [login.access, login.id, forged, unknown, 'x', login.refresh.toUpperCase()];
      const errors = await Promise.all(texts.map((text) => rejection(replica.refresh(text))));
      for (const error of errors) expect(error).to.include({ status: 400, code: 'invalid_grant' });
      expect(new Set(errors.map(String)).size, 'does not reveal the reason').to.equal(1);
      expect(kept()).to.deep.equal(login.session);
      await replica.refresh(login.refresh);
    });

    it('rejects invented tokens and those of another client without lookups, and the token stays valid', async () => {
      await refused(replica.refresh(login.refresh, {}, 'other'));
      const used = await replica.refresh(login.refresh);
      const before = replica.site.store.reads;
      const forged = newRefreshToken(login.session.id, randomBytes).text;
      await refused(replica.refresh(forged));
      expect(await replica.accepts(forged)).to.equal(false);
      await refused(replica.refresh(login.refresh, {}, 'other'));
      expect(replica.site.store.reads).to.equal(before);
      await replica.refresh(next(used));
    });

    it('rejects a scope that the session lacks, and the token stays valid', async () => {
      await refused(replica.refresh(login.refresh, { scope: 'email groups' }), '400 invalid_scope');
      await replica.refresh(login.refresh);
    });

    it('rejects a token after the idle expiry or the absolute expiry', async () => {
      for (const end of [login.session.idleNotAfter, login.session.notAfter]) {
        cluster.state.now = end;
        await refused(replica.refresh(login.refresh));
      }
    });
  });

  describe('with the token before the current one', () => {
    it('returns the current token again at every replica, with a valid access token', async () => {
      const first = await replica.refresh(login.refresh);
      const written = kept();
      cluster.state.now += REPEAT_MS - 1;
      for (const at of [replica, await cluster.replica()]) {
        const again = await at.refresh(login.refresh, { scope: 'email' });
        expect(next(again)).to.equal(next(first));
        expect(again.scope).to.equal('email');
        expect(await replica.accepts(again.access_token)).to.equal(true);
        expect(at.site.refreshes.at(-1)).to.equal('repeated console');
      }
      expect(kept(), 'no write').to.deep.equal(written);
      await replica.refresh(next(first));
    });

    it('terminates the session after ten seconds, or after another refresh', async () => {
      await replica.refresh(login.refresh);
      cluster.state.now += REPEAT_MS;
      await refused(replica.refresh(login.refresh));
      expect(kept()).to.equal(undefined);
      login = await replica.signIn();
      await replica.refresh(next(await replica.refresh(login.refresh)));
      await refused(replica.refresh(login.refresh));
      expect(kept()).to.equal(undefined);
    });

    it('rejects it for another client, a disabled user and a terminated session', async () => {
      await replica.refresh(login.refresh);
      await refused(replica.refresh(login.refresh, {}, 'other'));
      cluster.state.accounts.set('alice', { ...ALICE, disabled: true });
      await refused(replica.refresh(login.refresh));
      cluster.state.accounts.set('alice', ALICE);
      cluster.state.sessions.objects.delete(login.session.id);
      await refused(replica.refresh(login.refresh));
    });
  });

  describe('with a used token', () => {
    it('terminates the session and all its tokens at every replica, and no other session', async () => {
      const other = await cluster.replica();
      const second = await replica.signIn();
      const response = await replica.refresh(login.refresh);
      cluster.state.now += REPEAT_MS;
      await refused(other.refresh(login.refresh));
      expect(kept()).to.equal(undefined);
      await refused(replica.refresh(next(response)));
      for (const at of [replica, other]) {
        expect(await at.accepts(response.access_token)).to.equal(false);
        expect(await at.accepts(login.access)).to.equal(false);
      }
      expect(other.site.refreshes).to.deep.equal(['reused console']);
      await replica.refresh(second.refresh);
    });

    it('recognizes a used token however old it is, even while its cache is stale', async () => {
      const behind = await cluster.replica();
      behind.site.store.lag();
      let token = login.refresh;
      for (let i = 0; i < 4; i++) token = next(await replica.refresh(token));
      expect(kept()).to.include({ generation: 4, familyHash: login.session.familyHash });
      await refused(behind.refresh(login.refresh));
      expect(kept()).to.equal(undefined);
    });

    it('returns 503 when the session cannot be terminated', async () => {
      await replica.refresh(login.refresh);
      cluster.state.now += REPEAT_MS;
      replica.site.store.beforeWrite = () => {
        throw newServiceUnavailable('not now');
      };
      await refused(replica.refresh(login.refresh), UNAVAILABLE);
      expect(kept()).to.not.equal(undefined);
    });
  });

  describe('at two replicas', () => {
    it('accepts the newest token although the cache is stale', async () => {
      const behind = await cluster.replica();
      behind.site.store.lag();
      const response = await replica.refresh(login.refresh);
      const second = await behind.refresh(next(response));
      expect(await replica.accepts(second.access_token)).to.equal(true);
      expect(behind.site.refreshes).to.deep.equal(['refreshed console']);
    });

    it('accepts the first token although the cached session is pending', async () => {
      const behind = await cluster.replica();
      // The pending session, before its code is presented.
      const pending = { ...login.session, refreshHash: 'c'.repeat(64), familyHash: '' };
      cluster.state.sessions.objects.set(login.session.id, pending);
      behind.site.store.lag();
      cluster.state.sessions.objects.set(login.session.id, { ...login.session, resourceVersion: '1000' });
      await behind.refresh(login.refresh);
    });

    it('gives two concurrent refreshes the same new token', async () => {
      const other = await cluster.replica();
      // Each waits before its write, so both have read the same version.
      let waiting = 0;
      const { promise: bothHere, resolve } = Promise.withResolvers<void>();
      const meet = (): Promise<void> => {
        if (++waiting === 2) resolve();
        return bothHere;
      };
      for (const at of [replica, other]) at.site.store.beforeWrite = meet;
      const [one, two] = await Promise.all([replica, other].map((at) => at.refresh(login.refresh)));
      expect(one && next(one)).to.equal(two && next(two));
      expect(kept()).to.include({ generation: 1 });
      for (const won of [one, two]) expect(await replica.accepts(won?.access_token ?? '')).to.equal(true);
    });

    it('terminates the session although it is rotated during the check of the used token', async () => {
      const behind = await cluster.replica();
      let newest = next(await replica.refresh(login.refresh));
      cluster.state.now += REPEAT_MS;
      // Another replica rotates between the read and the delete.
      let rotated = false;
      behind.site.store.beforeWrite = async () => {
        if (rotated) return;
        rotated = true;
        newest = next(await replica.refresh(newest));
      };
      await refused(behind.refresh(login.refresh));
      expect(rotated).to.equal(true);
      expect(kept()).to.equal(undefined);
    });

    it('does not terminate a session whose current token is compared with a stale read', async () => {
      const behind = await cluster.replica();
      behind.site.store.lag();
      const first = next(await replica.refresh(login.refresh));
      const late = kept();
      const newest = next(await replica.refresh(first));
      const read = behind.site.store.read.bind(behind.site.store);
      let requested = 0;
      behind.site.store.read = (id) => (requested++ === 0 ? Promise.resolve(late) : read(id));
      await behind.refresh(newest);
      expect(requested).to.equal(2);
      expect(kept()).to.include({ generation: 3 });
    });

    it('retries when the session was labelled in the meantime, then returns 503 and keeps the token', async () => {
      const other = await cluster.replica();
      let labels = 0;
      let limit = 2;
      replica.site.store.beforeWrite = async () => {
        const found = kept();
        if (labels++ < limit && found) await other.site.store.replace(found);
      };
      const token = next(await replica.refresh(login.refresh));
      expect(labels).to.equal(3);
      limit = 1_000;
      await refused(replica.refresh(token), UNAVAILABLE);
      replica.site.store.beforeWrite = () => undefined;
      await replica.refresh(token);
      expect(kept()).to.include({ generation: 2 });
    });
  });

  describe('of a client without rotation', () => {
    beforeEach(() => cluster.configure('console', { rotatesRefreshTokens: false }));

    it('returns the same token with new access tokens, up to the absolute expiry', async () => {
      for (let i = 0; i < 4; i++) {
        cluster.state.now += 6 * 86_400_000;
        const response = await replica.refresh(login.refresh);
        expect(next(response)).to.equal(login.refresh);
        expect(await replica.accepts(response.access_token)).to.equal(true);
      }
      const { notAfter } = login.session;
      expect(kept()).to.include({ generation: 4, lastUsedAt: cluster.state.now, idleNotAfter: notAfter });
      await refused(replica.refresh(login.refresh, {}, 'other'));
      cluster.state.now = notAfter;
      await refused(replica.refresh(login.refresh));
    });

    it('accepts concurrent refreshes at all replicas and writes once', async () => {
      cluster.state.now += 60_000;
      const replicas = [replica, await cluster.replica()];
      let writes = 0;
      for (const at of replicas) at.site.store.afterWrite = () => void writes++;
      const tenAt = (at: Replica) => Array.from({ length: 10 }, () => at.refresh(login.refresh));
      const responses = await Promise.all(replicas.flatMap(tenAt));
      expect(new Set(responses.map(next))).to.deep.equal(new Set([login.refresh]));
      expect(writes).to.equal(1);
      expect(kept()).to.include({ generation: 1, lastUsedAt: cluster.state.now });
    });

    it('still terminates the session for an earlier token', async () => {
      cluster.configure('console');
      const newest = next(await replica.refresh(login.refresh));
      cluster.configure('console', { rotatesRefreshTokens: false });
      expect(next(await replica.refresh(newest))).to.equal(newest);
      await refused(replica.refresh(login.refresh));
      expect(kept()).to.equal(undefined);
    });
  });

  describe('when a write fails', () => {
    it('returns the tokens when the write succeeded but its response was lost', async () => {
      replica.site.store.afterWrite = () => {
        throw newServiceUnavailable('cut');
      };
      const response = await replica.refresh(login.refresh);
      replica.site.store.afterWrite = () => undefined;
      await replica.refresh(next(response));
    });

    it('keeps the token valid while there is no signing key', async () => {
      const { tokens } = replica.site;
      const sign = tokens.accessToken.bind(tokens);
      tokens.accessToken = () => {
        throw newServiceUnavailable('no key');
      };
      await refused(replica.refresh(login.refresh), UNAVAILABLE);
      tokens.accessToken = sign;
      await replica.refresh(login.refresh);
    });

    it('returns 503 while the session or user cache is stale, and the token stays valid', async () => {
      for (const [cache, property] of [
        [replica.site.store, 'fresh'],
        [cluster.state.users, 'synced'],
        [cluster.state.credentials, 'synced'],
      ] as const) {
        Object.assign(cache, { [property]: false });
        await refused(replica.refresh(login.refresh), UNAVAILABLE);
        Object.assign(cache, { [property]: true });
      }
      await replica.refresh(login.refresh);
    });

    it('rejects the token when the session was terminated in between', async () => {
      replica.site.store.beforeWrite = () => {
        cluster.state.sessions.objects.delete(login.session.id);
      };
      await refused(replica.refresh(login.refresh));
    });
  });

  it('rejects the token of a disabled user or of an old password, and issues tokens with the current groups', async () => {
    cluster.state.accounts.set('alice', { ...ALICE, disabled: true });
    await refused(replica.refresh(login.refresh));
    cluster.state.accounts.set('alice', { ...ALICE, groups: ['operators'] });
    const renewed = await replica.refresh(login.refresh);
    expect(decodeJwt(renewed.access_token)['groups']).to.deep.equal(['operators']);
    cluster.state.now += 1000;
    cluster.changePassword();
    await refused(replica.refresh(next(renewed)));
  });
});
