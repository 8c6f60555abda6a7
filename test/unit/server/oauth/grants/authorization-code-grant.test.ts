// Tests of the authorization_code grant.
import { hash } from 'node:crypto';
import { expect } from 'chai';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { isUsedMark, MARKS_PER_CLIENT } from '../../../../../server/oauth/codes/authorization-code.ts';
import { REPEAT_MS } from '../../../../../server/oauth/grants/refresh-token-grant.ts';
import type { StoredSession } from '../../../../../server/oauth/sessions/session.ts';
import { ISSUER, SignInSite } from '../../../../support/oauth/sign-in-site.ts';
import { REDIRECT, SiteState } from '../../../../support/oauth/sign-in-state.ts';
import { codeFor, EXCHANGE, REQUEST } from '../../../../support/oauth/sign-in-visit.ts';

/** The content of a code with these changes, and the MAC of the code. */
function forged(code: string, changes: Readonly<Record<string, unknown>>): string {
  const [payload = '', mac] = code.slice('pac_'.length).split('.');
  const { content, ...body } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
    content: object;
  };
  const changed = JSON.stringify({ ...body, content: { ...content, ...changes } });
  return `pac_${Buffer.from(changed).toString('base64url')}.${mac}`;
}

describe('the authorization_code grant', () => {
  let state: SiteState;
  let site: SignInSite;
  before(async () => {
    state = await SiteState.make();
    site = await SignInSite.start(state);
  });
  after(() => site.close());
  beforeEach(async () => {
    state.sessions.objects.clear();
    site.store.fresh = true;
    site.store.beforeWrite = () => undefined;
    site.store.afterWrite = () => undefined;
    await state.add('alice');
  });

  const exchange = (changes: Record<string, string>, at = site) => at.token({ ...EXCHANGE, ...changes });

  async function refresh(token: unknown): Promise<number> {
    const form = { grant_type: 'refresh_token', client_id: 'console', refresh_token: String(token) };
    return (await site.token(form)).status;
  }

  async function refused(changes: Record<string, string>, error = 'invalid_grant'): Promise<void> {
    const { status, json } = await exchange(changes);
    expect(status).to.equal(error === 'invalid_client' ? 401 : 400);
    expect(json['error']).to.equal(error);
  }

  it('keeps the code after a failed client authentication, by either method', async () => {
    const binding = { client_id: 'backend', redirect_uri: `${REDIRECT}?tenant=1` };
    const code = await codeFor(site, binding);
    const form = {
      grant_type: 'authorization_code',
      code,
      ...binding,
      code_verifier: EXCHANGE.code_verifier,
    };
    const header = (secret: string) => `Basic ${Buffer.from(`backend:${secret}`).toString('base64')}`;
    const inHeader = await site.ask('/oauth/token', { form, headers: { authorization: header('wrong') } });
    expect(inHeader.status).to.equal(401);
    await refused({ code, ...binding, client_secret: 'wrong' }, 'invalid_client');
    expect((await exchange({ code, ...binding, client_secret: 'secret of backend' })).status).to.equal(200);
  });

  it('issues tokens of the session of the sign-in, and an ID token with nonce and auth_time', async () => {
    const known = state.credentials.get('alice');
    if (!known) throw new Error('alice has no password');
    await state.credentials.set('alice', { ...known, changedAt: state.now + 86_400_000 });
    const code = await codeFor(site);
    const signedInAt = state.now;
    state.now += 50_000;
    const { status, json } = await exchange({ code });
    expect(status).to.equal(200);
    expect(json).to.include({ token_type: 'Bearer', expires_in: 7200, scope: 'openid email' });
    const [session] = state.sessions.ofClients;
    expect(json['refresh_token']).to.match(new RegExp(`^prt_${session?.id}_`));
    expect(session?.notAfter).to.equal(signedInAt + 30 * 86_400_000);
    const keys = createLocalJWKSet({ keys: [...state.keys.jwks().keys] });
    const { payload } = await jwtVerify(String(json['id_token']), keys, {
      issuer: ISSUER,
      audience: 'console',
      currentDate: new Date(state.now),
    });
    const authTime = Math.floor(signedInAt / 1000);
    expect(payload).to.include({ sub: 'alice', nonce: REQUEST['nonce'], auth_time: authTime });
    const digest = hash('sha256', String(json['access_token']), 'buffer');
    expect(payload).to.have.property('at_hash', digest.subarray(0, 16).toString('base64url'));
    expect(payload, 'is in userinfo').to.not.have.property('email');
  });

  it('begins no session for a user whose groups do not fit into a token', async () => {
    const alice = state.accounts.get('alice');
    if (!alice) throw new Error('no alice');
    const code = await codeFor(site);
    const groups = Array.from({ length: 500 }, (_, i) => `${i}`.repeat(40));
    state.accounts.set('alice', { ...alice, groups });
    const { status, json } = await exchange({ code });
    expect(status).to.equal(500);
    expect(json['error_description']).to.match(/an administrator must remove some/);
    expect(state.sessions.ofClients.length).to.equal(0);
  });

  it('accepts a code when its clock lags behind the one of the sign-in', async () => {
    const code = await codeFor(site);
    const signedInAt = state.now;
    state.now -= 2000;
    expect((await exchange({ code })).status).to.equal(200);
    const [session] = state.sessions.ofClients;
    expect(session?.lastUsedAt).to.equal(signedInAt);
  });

  it('rejects a code when the password changed during the sign-in', async () => {
    state.replaceMeanwhile();
    await refused({ code: await codeFor(site) });
  });

  it('issues no ID token without the scope openid', async () => {
    const { json } = await exchange({ code: await codeFor(site, { scope: undefined }) });
    expect(json).not.to.have.any.keys('id_token', 'scope');
  });

  it('issues no refresh token to a client without the grant', async () => {
    const redirect = `${REDIRECT}?tenant=1`;
    const code = await codeFor(site, { client_id: 'backend', redirect_uri: redirect });
    const client = { client_id: 'backend', client_secret: 'secret of backend', redirect_uri: redirect };
    const { status, json } = await exchange({ ...client, code });
    expect(status).to.equal(200);
    expect(json).not.to.have.property('refresh_token');
    // The session expires with its only access token.
    const end = state.now + Number(json['expires_in']) * 1000;
    const [session] = state.sessions.ofClients;
    expect(session).to.include({ notAfter: end, idleNotAfter: end });
    await refused({ ...client, code });
    expect(state.sessions.ofClients.length).to.equal(0);
  });

  it('issues a refresh token whose reuse terminates the session', async () => {
    const { json } = await exchange({ code: await codeFor(site) });
    expect(await refresh(json['refresh_token'])).to.equal(200);
    state.now += REPEAT_MS;
    expect(await refresh(json['refresh_token'])).to.equal(400);
    expect(state.sessions.ofClients.length).to.equal(0);
  });

  it('returns the tokens when the response of the write was lost, and 503 when the write failed', async () => {
    const code = await codeFor(site);
    // One of the two writes fails, then both.
    for (const failing of [[0], [1], [0, 1]]) {
      let write = 0;
      site.store.beforeWrite = () => {
        if (failing.includes(write++)) throw newServiceUnavailable('kube-apiserver is unreachable');
      };
      expect((await exchange({ code })).status).to.equal(503);
      expect(state.sessions.ofClients).to.deep.equal([]);
    }
    site.store.beforeWrite = () => undefined;
    site.store.afterWrite = () => {
      throw newServiceUnavailable('the response of kube-apiserver was cut');
    };
    const { status, json } = await exchange({ code });
    expect(status).to.equal(200);
    site.store.afterWrite = () => undefined;
    expect(await refresh(json['refresh_token'])).to.equal(200);
  });

  it('accepts a code once, and terminates the session on replay', async () => {
    const code = await codeFor(site);
    expect((await exchange({ code })).status).to.equal(200);
    // A guess, or another client, does not terminate the session.
    await refused({ code: forged(code, { markID: 's-aaaaaaaaaaaaaaaaaaaa' }) });
    await refused({ code, client_id: 'cli' });
    expect(state.sessions.ofClients.length).to.equal(1);
    await refused({ code });
    expect(state.sessions.ofClients.length).to.equal(0);
    await using other = await SignInSite.start(state);
    other.store.lag();
    for (const at of [site, other]) expect((await exchange({ code }, at)).status).to.equal(400);
    expect(state.sessions.ofClients.length).to.equal(0);
  });

  it('terminates the session when a used code is presented without its verifier', async () => {
    const code = await codeFor(site);
    await using other = await SignInSite.start(state);
    other.store.lag();
    expect((await exchange({ code })).status).to.equal(200);
    expect((await exchange({ code, code_verifier: 'w'.repeat(43) }, other)).status).to.equal(400);
    expect(state.sessions.ofClients.length).to.equal(0);
  });

  it('never accepts a code again after its session was signed out, at any replica', async () => {
    const code = await codeFor(site);
    await using other = await SignInSite.start(state);
    other.store.lag();
    expect((await exchange({ code })).status).to.equal(200);
    for (const { id } of state.sessions.ofClients) state.sessions.objects.delete(id);
    for (const at of [site, other]) expect((await exchange({ code }, at)).status).to.equal(400);
    expect(state.sessions.ofClients.length).to.equal(0);
  });

  it('rejects a code after its browser has signed out, or signed in again', async () => {
    for (const change of [
      (id: string) => void state.sessions.objects.delete(id),
      (id: string, browser: StoredSession) =>
        void state.sessions.objects.set(id, { ...browser, generation: browser.generation + 1 }),
    ]) {
      const code = await codeFor(site);
      await using other = await SignInSite.start(state);
      for (const [id, browser] of state.sessions.objects) change(id, browser);
      for (const at of [site, other]) expect((await exchange({ code }, at)).status).to.equal(400);
      state.sessions.objects.clear();
    }
  });

  it('has a bounded number of used codes for each user and client', async () => {
    const code = await codeFor(site);
    expect((await exchange({ code: await codeFor(site) })).status).to.equal(200);
    const mark = [...state.sessions.objects.values()].find(isUsedMark);
    if (!mark) throw new Error('the code has no mark');
    for (let i = 1; i < MARKS_PER_CLIENT; i++)
      state.sessions.objects.set(`mark ${i}`, { ...mark, id: `mark ${i}` });
    expect((await exchange({ code })).status).to.equal(503);
    const cli = { client_id: 'cli', redirect_uri: 'http://127.0.0.1:1234/callback' };
    expect((await exchange({ ...cli, code: await codeFor(site, cli) })).status).to.equal(200);
    for (const id of state.sessions.objects.keys())
      if (id.startsWith('mark')) state.sessions.objects.delete(id);
    expect((await exchange({ code })).status).to.equal(200);
    state.now = mark.notAfter;
    expect(
      [...state.sessions.objects.values()]
        .filter(isUsedMark)
        .every((each) => site.store.get(each.id) === undefined),
    ).to.equal(true);
  });

  it('lets no reader of a used code end the session, as of the history of a browser or a log', async () => {
    const code = await codeFor(site);
    const { json } = await exchange({ code });
    const sid = state.sessions.ofClients[0]?.id ?? '';
    // The beginning of a refresh token that follows from a device code.
    const family = hash('sha256', `family of ${code}`, 'buffer').subarray(0, 18).toString('base64url');
    const invented = `prt_${sid}_${family}${'x'.repeat(40)}`;
    expect(await refresh(invented)).to.equal(400);
    await site.ask('/oauth/revoke', { form: { client_id: 'console', token: invented } });
    expect(state.sessions.ofClients.length).to.equal(1);
    expect(await refresh(json['refresh_token'])).to.equal(200);
  });

  it('lets one of two concurrent exchanges win, then terminates the session', async () => {
    const code = await codeFor(site);
    await using other = await SignInSite.start(state);
    // Both have read the session before either writes it.
    let waiting = 0;
    const { promise: bothHere, resolve } = Promise.withResolvers<void>();
    const meet = (): Promise<void> => {
      if (++waiting === 2) resolve();
      return bothHere;
    };
    site.store.beforeWrite = meet;
    other.store.beforeWrite = meet;
    const responses = await Promise.all([exchange({ code }), exchange({ code }, other)]);
    expect(responses.map(({ status }) => status)).to.have.members([200, 400]);
    expect(state.sessions.ofClients.length).to.equal(0);
  });

  it('accepts a code although the cache is stale, and recognizes a used one', async () => {
    await using other = await SignInSite.start(state);
    other.store.lag();
    expect((await exchange({ code: await codeFor(site) }, other)).status).to.equal(200);
    const code = await codeFor(site);
    other.store.lag();
    expect((await exchange({ code })).status).to.equal(200);
    expect((await exchange({ code }, other)).status).to.equal(400);
  });

  it('accepts a code for one minute, and does not terminate a session for a later replay', async () => {
    const [early, late] = [await codeFor(site), await codeFor(site)];
    state.now += 59_999;
    expect((await exchange({ code: early })).status).to.equal(200);
    state.now += 1;
    await refused({ code: late });
    await refused({ code: early });
    expect(state.sessions.ofClients.length).to.equal(1);
    state.now -= 3 * 60_000;
    await refused({ code: late });
  });

  describe('rejects, without using up the code,', () => {
    let code: string;
    beforeEach(async () => {
      code = await codeFor(site);
    });
    afterEach(async () => {
      expect((await exchange({ code })).status).to.equal(200);
    });

    it('another verifier', () => refused({ code, code_verifier: 'w'.repeat(43) }));
    it('a malformed verifier', () => refused({ code, code_verifier: 'v' }));
    it('a missing verifier', () => refused({ code, code_verifier: '' }, 'invalid_request'));
    it('another redirect URI', () => refused({ code, redirect_uri: `${REDIRECT}?x=1` }));
    it('a missing redirect URI', () => refused({ code, redirect_uri: '' }, 'invalid_request'));
    it('another client', () => refused({ code, client_id: 'cli' }));
    for (const changes of [{ nonce: 'x' }, { scopes: ['openid', 'groups'] }, { clientID: 'cli' }]) {
      it(`a code with another ${Object.keys(changes).join()}`, () =>
        refused({ code: forged(code, changes) }));
    }
    it('a code with another MAC', () =>
      refused({ code: `${code.slice(0, -1)}${code.endsWith('0') ? 1 : 0}` }));
    it('a missing code', () => refused({ code: '' }, 'invalid_request'));
    it('a malformed code', () => refused({ code: 'pac_x' }));
    it('a code without its prefix', () => refused({ code: code.slice('pac_'.length) }));

    it('any request while the session cache is stale', async () => {
      site.store.fresh = false;
      expect((await exchange({ code })).status).to.equal(503);
      site.store.fresh = true;
      Object.assign(state.credentials, { synced: false });
      expect((await exchange({ code })).status).to.equal(503);
      Object.assign(state.credentials, { synced: true });
    });
  });

  describe('for a client with optional PKCE', () => {
    const own = { client_id: 'old', client_secret: 'secret of old' };
    const without = { ...own, code_verifier: '' };
    const noChallenge = { client_id: 'old', code_challenge: undefined, code_challenge_method: undefined };

    it('rejects a verifier for a code without challenge (PKCE downgrade)', async () => {
      const code = await codeFor(site, noChallenge);
      await refused({ ...own, code });
      await refused({ ...own, code, code_verifier: 'v' });
      expect((await exchange({ ...without, code })).status).to.equal(200);
    });

    it('requires the verifier for a code with challenge', async () => {
      const code = await codeFor(site, { client_id: 'old' });
      await refused({ ...without, code });
      await refused({ ...own, code, code_verifier: 'w'.repeat(43) });
      expect((await exchange({ ...own, code })).status).to.equal(200);
    });

    it('rejects both kinds of code from another client', async () => {
      const code = await codeFor(site, noChallenge);
      await refused({ code });
      await refused({ code, code_verifier: '' }, 'invalid_request');
      await refused({ ...without, client_secret: 'guessed', code }, 'invalid_client');
      expect((await exchange({ ...without, code })).status).to.equal(200);
    });
  });

  it('rejects a code of a user who was disabled, deleted or changed the password', async () => {
    const account = state.accounts.get('alice');
    if (!account) throw new Error('no alice');
    const code = await codeFor(site);
    state.accounts.set('alice', { ...account, disabled: true });
    await refused({ code });
    state.accounts.delete('alice');
    await refused({ code });
    state.accounts.set('alice', account);
    state.now += 2000;
    await state.add('alice');
    await refused({ code });
  });

  it('enforces the limit of sessions per user', async () => {
    for (let login = 0; login < 6; login++) {
      state.now += 1000;
      expect((await exchange({ code: await codeFor(site) })).status).to.equal(200);
    }
    expect(state.sessions.all.length).to.equal(10);
  });

  it('never accepts a code as a refresh token', async () => {
    const code = await codeFor(site);
    expect((await exchange({ code })).status).to.equal(200);
    for (const { id } of state.sessions.objects.values()) {
      for (const token of [code, `prt_${id}_${'-'.repeat(64)}`]) expect(await refresh(token)).to.equal(400);
    }
    expect(state.sessions.ofClients.length).to.equal(1);
  });
});
