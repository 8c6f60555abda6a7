import { expect } from 'chai';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { newConflict, newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { ISSUER, SignInSite } from '../../../../support/oauth/sign-in-site.ts';
import { REDIRECT, SiteState, VERIFIER } from '../../../../support/oauth/sign-in-state.ts';
import { codeFor, REQUEST } from '../../../../support/oauth/sign-in-visit.ts';

const EXCHANGE = {
  grant_type: 'authorization_code',
  client_id: 'console',
  redirect_uri: REDIRECT,
  code_verifier: VERIFIER,
};

function withAnotherSecret(code: string): string {
  const changed = code.replace(/_[\w-]{43}(?=\.|$)/, `_${'x'.repeat(43)}`);
  expect(changed).to.match(/^pac_s-[a-z2-7]{20}_x{43}/);
  return changed;
}

describe('the authorization code grant', () => {
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

  async function refused(changes: Record<string, string>, error = 'invalid_grant'): Promise<void> {
    const { status, json } = await exchange(changes);
    expect(status).to.equal(error === 'invalid_client' ? 401 : 400);
    expect(json['error']).to.equal(error);
  }

  it('gives tokens of the session that the sign-in made', async () => {
    const { status, json } = await exchange({ code: await codeFor(site) });
    expect(status).to.equal(200);
    expect(json).to.include({ token_type: 'Bearer', expires_in: 7200, scope: 'openid email' });
    const [session] = [...state.sessions.objects.values()];
    expect(json['refresh_token']).to.match(new RegExp(`^prt_${session?.id}_`));
    expect(session?.notAfter).to.equal((session?.createdAt ?? 0) + 30 * 86_400_000);
  });

  it('leaves no session behind for somebody whose groups no token can name', async () => {
    const alice = state.accounts.get('alice');
    if (!alice) throw new Error('no alice');
    const code = await codeFor(site);
    state.accounts.set('alice', {
      ...alice,
      groups: Array.from({ length: 500 }, (_, i) => `${i}`.repeat(40)),
    });
    const { status, json } = await exchange({ code });
    expect(status).to.equal(500);
    expect(json['error_description']).to.match(/ask an administrator/);
    expect(state.sessions.objects.size).to.equal(0);
  });

  it('counts the end of the session from the sign-in, however late the code is brought', async () => {
    const code = await codeFor(site);
    const signedInAt = state.now;
    state.now += 50_000;
    await exchange({ code });
    const [session] = [...state.sessions.objects.values()];
    expect(session?.notAfter).to.equal(signedInAt + 30 * 86_400_000);
  });

  it('takes a code by a clock that is behind the one of the sign-in, and lets no time go back', async () => {
    const code = await codeFor(site);
    const signedInAt = state.now;
    state.now -= 2000;
    expect((await exchange({ code })).status).to.equal(200);
    const [session] = [...state.sessions.objects.values()];
    expect(session?.lastUsedAt).to.equal(signedInAt);
  });

  it('gives nothing for a sign-in whose password was replaced while it was checked', async () => {
    state.replaceMeanwhile();
    await refused({ code: await codeFor(site) });
  });

  it('takes a code of a sign-in with a password that was set by a clock ahead of ours', async () => {
    const known = state.credentials.get('alice');
    if (!known) throw new Error('alice has no password');
    await state.credentials.set('alice', { ...known, changedAt: state.now + 86_400_000 });
    expect((await exchange({ code: await codeFor(site) })).status).to.equal(200);
  });

  it('gives an id token for the client, with the nonce and the time of the sign-in', async () => {
    const signedInAt = Math.floor(state.now / 1000);
    const code = await codeFor(site);
    state.now += 5000;
    const { json } = await exchange({ code });
    const keys = createLocalJWKSet({ keys: [...state.keys.jwks().keys] });
    const { payload } = await jwtVerify(String(json['id_token']), keys, {
      issuer: ISSUER,
      audience: 'console',
      currentDate: new Date(state.now),
    });
    expect(payload).to.include({ sub: 'alice', nonce: REQUEST['nonce'], auth_time: signedInAt });
    expect(payload).to.include({ email: 'alice@example.com' }).and.to.have.property('at_hash');
  });

  it('gives no id token to who does not ask for one', async () => {
    const { json } = await exchange({ code: await codeFor(site, { scope: undefined }) });
    expect(json).not.to.have.any.keys('id_token', 'scope');
  });

  it('gives no refresh token to a client that may not use one', async () => {
    const redirect = `${REDIRECT}?tenant=1`;
    const code = await codeFor(site, { client_id: 'backend', redirect_uri: redirect });
    const client = { client_id: 'backend', client_secret: 'secret of backend', redirect_uri: redirect };
    const { status, json } = await exchange({ ...client, code });
    expect(status).to.equal(200);
    expect(json).not.to.have.property('refresh_token');
    // As long as its only token, though nobody can use the session in between.
    const end = state.now + Number(json['expires_in']) * 1000;
    const [session] = [...state.sessions.objects.values()];
    expect(session).to.include({ notAfter: end, idleNotAfter: end });
    await refused({ ...client, code });
    expect(state.sessions.objects.size).to.equal(0);
  });

  it('gives a refresh token that works, and whose family dies with its reuse', async () => {
    const { json } = await exchange({ code: await codeFor(site) });
    const form = { grant_type: 'refresh_token', client_id: 'console' };
    const first = String(json['refresh_token']);
    const next = await site.token({ ...form, refresh_token: first });
    expect(next.status).to.equal(200);
    expect((await site.token({ ...form, refresh_token: first })).status).to.equal(400);
    expect(state.sessions.objects.size).to.equal(0);
  });

  it('gives the tokens although the answer about the write was lost, since nobody else has them', async () => {
    const code = await codeFor(site);
    site.store.afterWrite = () => {
      throw newServiceUnavailable('the answer of kube-apiserver was cut');
    };
    const { status, json } = await exchange({ code });
    expect(status).to.equal(200);
    site.store.afterWrite = () => undefined;
    const refresh = { grant_type: 'refresh_token', client_id: 'console' };
    expect((await site.token({ ...refresh, refresh_token: String(json['refresh_token']) })).status).to.equal(
      200,
    );
  });

  it('says that it cannot tell when nothing was written, and takes the code then', async () => {
    const code = await codeFor(site);
    site.store.beforeWrite = () => {
      throw newServiceUnavailable('kube-apiserver is unreachable');
    };
    expect((await exchange({ code })).status).to.equal(503);
    site.store.beforeWrite = () => undefined;
    expect((await exchange({ code })).status).to.equal(200);
  });

  it('takes a code of a session that somebody puts a label on meanwhile', async () => {
    const code = await codeFor(site);
    site.store.beforeWrite = () => {
      site.store.beforeWrite = () => undefined;
      for (const [id, session] of state.sessions.objects) {
        state.sessions.objects.set(id, { ...session, resourceVersion: 'labelled' });
      }
    };
    expect((await exchange({ code })).status).to.equal(200);
  });

  it('takes a code at another replica, which has not heard of the session yet', async () => {
    const other = await SignInSite.start(state);
    try {
      other.store.lag();
      expect((await exchange({ code: await codeFor(site) }, other)).status).to.equal(200);
    } finally {
      await other.close();
    }
  });

  it('takes a code once, and ends the session when it comes again', async () => {
    const code = await codeFor(site);
    expect((await exchange({ code })).status).to.equal(200);
    await refused({ code });
    expect(state.sessions.objects.size).to.equal(0);
    await refused({ code });
    expect(state.sessions.objects.size).to.equal(0);
  });

  it('lets one of two replicas win that get the code at once, and then ends the session', async () => {
    const other = await SignInSite.start(state);
    try {
      const code = await codeFor(site);
      // Both have read the session before either writes to it.
      let waiting = 0;
      const { promise: bothHere, resolve } = Promise.withResolvers<void>();
      const meet = (): Promise<void> => {
        if (++waiting === 2) resolve();
        return bothHere;
      };
      site.store.beforeWrite = meet;
      other.store.beforeWrite = meet;
      const answers = await Promise.all([exchange({ code }), exchange({ code }, other)]);
      expect(answers.map(({ status }) => status)).to.have.members([200, 400]);
      expect(state.sessions.objects.size).to.equal(0);
    } finally {
      await other.close();
    }
  });

  it('finds a code used although its own cache is behind', async () => {
    const other = await SignInSite.start(state);
    try {
      const code = await codeFor(site);
      other.store.lag();
      expect((await exchange({ code })).status).to.equal(200);
      expect((await exchange({ code }, other)).status).to.equal(400);
      expect(state.sessions.objects.size).to.equal(0);
    } finally {
      await other.close();
    }
  });

  it('takes no code whose session has ended, so that nothing rises again', async () => {
    const code = await codeFor(site);
    state.sessions.objects.clear();
    await refused({ code });
    const second = await codeFor(site);
    await exchange({ code: second });
    state.sessions.objects.clear();
    await refused({ code: second });
    expect(state.sessions.objects.size).to.equal(0);
  });

  it('takes a code for a minute', async () => {
    const [early, late] = [await codeFor(site), await codeFor(site)];
    state.now += 59_999;
    expect((await exchange({ code: early })).status).to.equal(200);
    state.now += 1;
    await refused({ code: late });
  });

  it('ends no session for a code that comes again after its time', async () => {
    const code = await codeFor(site);
    await exchange({ code });
    state.now += 60_000;
    await refused({ code });
    expect(state.sessions.objects.size).to.equal(1);
  });

  describe('refuses, without using the code up,', () => {
    let code: string;
    beforeEach(async () => {
      code = await codeFor(site);
    });
    afterEach(async () => {
      expect((await exchange({ code })).status).to.equal(200);
    });

    it('another verifier', () => refused({ code, code_verifier: 'w'.repeat(43) }));
    it('a malformed verifier', () => refused({ code, code_verifier: 'v' }));
    it('no verifier', () => refused({ code, code_verifier: '' }, 'invalid_request'));
    it('another redirect URI', () => refused({ code, redirect_uri: `${REDIRECT}?x=1` }));
    it('no redirect URI', () => refused({ code, redirect_uri: '' }, 'invalid_request'));
    it('another client', () => refused({ code, client_id: 'cli' }));
    it('an unknown client', () => refused({ code, client_id: 'nobody' }, 'invalid_client'));
    it('a code with another secret', () => refused({ code: withAnotherSecret(code) }));
    it('a code with another nonce', () => refused({ code: code.replace(/\..*/, '.AAAA') }));
    it('no code', () => refused({ code: '' }, 'invalid_request'));
    it('something that is no code', () => refused({ code: 'pac_x' }));

    it('anything while the session cache is stale', async () => {
      site.store.fresh = false;
      expect((await exchange({ code })).status).to.equal(503);
      site.store.fresh = true;
      Object.assign(state.credentials, { synced: false });
      expect((await exchange({ code })).status).to.equal(503);
      Object.assign(state.credentials, { synced: true });
    });
  });

  describe('for a client that is let off PKCE', () => {
    const own = { client_id: 'old', client_secret: 'secret of old' };
    const without = { ...own, code_verifier: '' };
    const noChallenge = { client_id: 'old', code_challenge: undefined, code_challenge_method: undefined };

    it('takes a code that was asked for without a challenge, once', async () => {
      const code = await codeFor(site, noChallenge);
      expect((await exchange({ ...without, code })).status).to.equal(200);
      await refused({ ...without, code });
      expect(state.sessions.objects.size).to.equal(0);
    });

    it('takes no verifier for such a code, so that nobody can take a challenge away unnoticed', async () => {
      const code = await codeFor(site, noChallenge);
      await refused({ ...own, code });
      await refused({ ...own, code, code_verifier: 'v' });
      expect((await exchange({ ...without, code })).status).to.equal(200);
    });

    it('wants the verifier when there was a challenge', async () => {
      const code = await codeFor(site, { client_id: 'old' });
      await refused({ ...without, code });
      await refused({ ...own, code, code_verifier: 'w'.repeat(43) });
      expect((await exchange({ ...own, code })).status).to.equal(200);
    });

    it('takes neither of another client', async () => {
      const code = await codeFor(site, noChallenge);
      await refused({ code });
      await refused({ code, code_verifier: '' }, 'invalid_request');
      await refused({ ...without, client_secret: 'guessed', code }, 'invalid_client');
      expect((await exchange({ ...without, code })).status).to.equal(200);
    });
  });

  it('knows somebody who guesses at a session that has begun from who has its code', async () => {
    const code = await codeFor(site);
    await exchange({ code });
    await refused({ code: withAnotherSecret(code) });
    expect(state.sessions.objects.size).to.equal(1);
  });

  it('lets no other client end a session with a code that it has come by', async () => {
    const code = await codeFor(site);
    await exchange({ code });
    await refused({ code, client_id: 'cli' });
    expect(state.sessions.objects.size).to.equal(1);
  });

  it('refuses a code of somebody who was disabled, deleted, or got another password since', async () => {
    const account = state.accounts.get('alice');
    if (!account) throw new Error('no alice');
    for (const spoil of [
      () => state.accounts.set('alice', { ...account, disabled: true }),
      () => state.accounts.set('alice', { ...account, uid: 'another' }),
      () => state.accounts.delete('alice'),
    ]) {
      const code = await codeFor(site);
      spoil();
      await refused({ code });
      state.accounts.set('alice', account);
    }
    const code = await codeFor(site);
    state.now += 2000;
    await state.add('alice');
    await refused({ code });
  });

  it('keeps the code when the session is changed by somebody else again and again', async () => {
    const code = await codeFor(site);
    site.store.beforeWrite = () => {
      throw newConflict({ group: 'iam.platform.io', resource: 'sessions' }, 'x', 'changed');
    };
    expect((await exchange({ code })).status).to.equal(503);
    site.store.beforeWrite = () => undefined;
    expect((await exchange({ code })).status).to.equal(200);
  });

  it('makes room when the user has too many sessions', async () => {
    for (let login = 0; login < 4; login++) {
      state.now += 1000;
      expect((await exchange({ code: await codeFor(site) })).status).to.equal(200);
    }
    expect(state.sessions.objects.size).to.equal(3);
  });

  it('lets nobody refresh with a code, nor with what a session holds before it begins', async () => {
    const code = await codeFor(site);
    const [session] = [...state.sessions.objects.values()];
    for (const token of [code, `prt_${session?.id}_${'-'.repeat(64)}`]) {
      const form = { grant_type: 'refresh_token', client_id: 'console', refresh_token: token };
      expect((await site.token(form)).status).to.equal(400);
    }
    expect((await exchange({ code })).status).to.equal(200);
  });
});
