// Tests of single sign-on: browser sessions at the authorization endpoint.
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { NO_CLIENT } from '../../../../../../server/oauth/sessions/session.ts';
import { newAccount } from '../../../../../support/oauth/new-account.ts';
import { NO_FRESHNESS } from '../../../../../support/oauth/no-providers.ts';
import { SignInSite } from '../../../../../support/oauth/sign-in-site.ts';
import { PASSWORD, REDIRECT, SiteState } from '../../../../../support/oauth/sign-in-state.ts';
import { EXCHANGE, sentBack } from '../../../../../support/oauth/sign-in-visit.ts';
import { SiteBrowser } from '../../../../../support/oauth/site-browser.ts';
import type { SiteResponse } from '../../../../../support/oauth/site-request.ts';

const CLI = { client_id: 'cli', redirect_uri: 'http://127.0.0.1:1234/callback' };
const HOUR = 3_600_000;

describe('single sign-on', () => {
  let state: SiteState;
  let site: SignInSite;
  let browser: SiteBrowser;
  before(async () => {
    state = await SiteState.make();
    site = await SignInSite.start(state);
  });
  after(() => site.close());
  beforeEach(async () => {
    state.sessions.objects.clear();
    site.store.fresh = true;
    state.accounts.clear();
    await state.add('alice');
    await state.add('bob');
    browser = new SiteBrowser(site);
  });

  const browserSessions = () =>
    [...state.sessions.objects.values()].filter(({ clientID }) => clientID === NO_CLIENT);

  function expectCode(response: SiteResponse): string {
    const code = sentBack(response).get('code') ?? '';
    expect(code).to.match(/^pac_/);
    return code;
  }
  async function claimsOf(code: string): Promise<Record<string, unknown>> {
    const { json } = await site.token({ ...EXCHANGE, code });
    return decodeJwt(String(json['id_token']));
  }
  const errorOf = (response: SiteResponse) => sentBack(response).get('error');
  const asksPassword = (): boolean => browser.page.includes('type="password"');

  it('continues without a page or a password at the next client, at any replica', async () => {
    await using other = await SignInSite.start(state);
    const first = await claimsOf(expectCode(await browser.signIn()));
    state.now += 60_000;
    browser.site = other;
    const second = await claimsOf(expectCode(await browser.authorize()));
    expect(second['auth_time']).to.equal(first['auth_time']);
    expect(second).to.deep.include({ sub: 'alice', amr: ['pwd'] });
    expect(second['sid']).to.not.equal(first['sid']);
  });

  it('asks the identity provider only about the user who continues', async () => {
    const asked: string[] = [];
    state.freshness = {
      renewed: async (session) => {
        asked.push(session.user);
        return session.user === 'bob' ? 'disabled' : session;
      },
    };
    await browser.signIn();
    await browser.signIn('bob');
    await browser.authorize();
    expect(browser.page).to.contain('name="account" value="bob"');
    expect(asked).to.deep.equal([]);
    const page = browser.page;
    expectCode(await browser.submit({ account: 'alice' }));
    expect(asked).to.deep.equal(['alice']);
    browser.page = page;
    await browser.submit({ account: 'bob' });
    expect(asksPassword()).to.equal(true);
    const silent = await browser.authorize({ prompt: 'none', login_hint: 'bob' });
    expect(errorOf(silent)).to.equal('login_required');
    await browser.ask('/account?user=bob');
    expect(asksPassword()).to.equal(true);
    expect(asked).to.deep.equal(['alice', 'bob', 'bob', 'bob']);
    state.freshness = NO_FRESHNESS;
  });

  it('writes nothing for a code, and codes end no sessions', async () => {
    const { json } = await site.token({ ...EXCHANGE, code: expectCode(await browser.signIn()) });
    const before = [...state.sessions.objects];
    const codes = new Set<string>();
    for (let i = 0; i < 100; i++) codes.add(expectCode(await browser.authorize({ prompt: 'none' })));
    expect(codes.size).to.equal(100);
    expect([...state.sessions.objects]).to.deep.equal(before);
    const refresh_token = String(json['refresh_token']);
    const refreshed = await site.token({ grant_type: 'refresh_token', client_id: 'console', refresh_token });
    expect(refreshed.status).to.equal(200);
  });

  it('has a cookie that scripts, other sites and sibling domains cannot use, and stores only its hash', async () => {
    const { headers } = await browser.signIn();
    expect(headers['set-cookie']).to.have.length(1);
    expect(headers['set-cookie']?.[0]).to.match(
      /^__Host-session=s-[a-z2-7]{20}\.[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    );
    const [session] = browserSessions();
    const secret = browser.cookies.get('__Host-session')?.split('.')[1] ?? '';
    expect(session).to.include({ user: 'alice', source: '192.0.2.7' });
    expect(JSON.stringify([...state.sessions.objects.values()])).to.not.contain(secret);
    for (const { id, browser: origin } of state.sessions.ofClients) {
      expect([id === session?.id, origin]).to.deep.equal([false, session?.id]);
    }
  });

  it('needs the secret of the cookie: ids, other secrets and tokens sign nobody in', async () => {
    const code = expectCode(await browser.signIn());
    const { json } = await site.token({ ...EXCHANGE, code });
    const [id] = browserSessions().map((session) => session.id);
    const [client] = state.sessions.ofClients.map((session) => session.id);
    const refresh = String(json['refresh_token']);
    for (const value of [
      `${id}.${'A'.repeat(43)}`,
      `${client}.${refresh.slice(-43)}`,
      `${id}.`,
      `${id}`,
      code,
    ]) {
      const stranger = new SiteBrowser(site);
      stranger.cookies.set('__Host-session', value);
      expect(errorOf(await stranger.authorize({ prompt: 'none' })), value).to.equal('login_required');
    }
  });

  it('replaces the secret at each sign-in, so that no earlier cookie is valid after it', async () => {
    await browser.signIn();
    const before = browser.cookies.get('__Host-session') ?? '';
    await browser.signIn();
    expect(browserSessions()).to.have.length(1);
    expectCode(await browser.authorize({ prompt: 'none' }));
    browser.cookies.set('__Host-session', before);
    expect(errorOf(await browser.authorize({ prompt: 'none' }))).to.equal('login_required');
  });

  it('replaces the secret also at a replica whose cache is behind', async () => {
    await using other = await SignInSite.start(state);
    await browser.signIn();
    const before = browser.cookies.get('__Host-session') ?? '';
    other.store.lag();
    const thief = new SiteBrowser(site);
    thief.cookies.set('__Host-session', before);
    state.now += HOUR;
    expectCode(await thief.authorize({ prompt: 'none' }));
    browser.site = other;
    await browser.signIn();
    expect(errorOf(await thief.authorize({ prompt: 'none' }))).to.equal('login_required');
    expect(browserSessions()).to.have.length(1);
  });

  for (const [title, change] of [
    ['the idle lifetime', () => (state.now += 8 * HOUR)],
    [
      'a change of the password',
      async () => {
        state.now += 1;
        await state.add('alice');
      },
    ],
    ['the user was disabled', () => state.add('alice', { disabled: true })],
    ['the user was deleted', () => void state.accounts.delete('alice')],
    ['the session was deleted', () => state.sessions.objects.clear()],
  ] as const) {
    it(`ends after ${title}`, async () => {
      await browser.signIn();
      await change();
      expect(errorOf(await browser.authorize({ prompt: 'none' }))).to.equal('login_required');
      await browser.authorize();
      expect(asksPassword()).to.equal(true);
    });
  }

  it('lasts a day while it is used, with few writes', async () => {
    await browser.signIn();
    const versions = new Set<string>();
    for (let minute = 0; minute < 24 * 60; minute += 2) {
      if (minute % 120 < 10) expectCode(await browser.authorize({ prompt: 'none' }));
      versions.add(browserSessions()[0]?.resourceVersion ?? '');
      state.now += 120_000;
    }
    expect(versions.size).to.be.within(12, 26);
    expect(errorOf(await browser.authorize({ prompt: 'none' }))).to.equal('login_required');
  });

  it('responds with 503 while sessions cannot be checked, and never takes that for signed out', async () => {
    await browser.signIn();
    site.store.fresh = false;
    expect((await browser.authorize({ prompt: 'none' })).status).to.equal(503);
  });

  it('asks for the password with prompt=login and max_age=0, and for an authentication older than max_age', async () => {
    const first = await claimsOf(expectCode(await browser.signIn()));
    state.now += 90_000;
    expectCode(await browser.authorize({ max_age: '10000' }));
    for (const changes of [
      { prompt: 'login' },
      { prompt: 'login consent' },
      { max_age: '0' },
      { max_age: '60' },
    ]) {
      await browser.authorize(changes);
      expect(asksPassword(), JSON.stringify(changes)).to.equal(true);
      expect(browser.page).to.contain('value="alice"');
    }
    expect(errorOf(await browser.authorize({ prompt: 'none', max_age: '60' }))).to.equal('login_required');
    await browser.authorize({ max_age: '60' });
    const again = await claimsOf(expectCode(await browser.submit({ username: 'alice', password: PASSWORD })));
    expect(Number(again['auth_time'])).to.equal(Number(first['auth_time']) + 90);
  });

  it('keeps auth_time in refreshed tokens', async () => {
    const { json } = await site.token({ ...EXCHANGE, code: expectCode(await browser.signIn()) });
    state.now += 90_000;
    const form = {
      grant_type: 'refresh_token',
      client_id: 'console',
      refresh_token: String(json['refresh_token']),
    };
    const refreshed = await site.token(form);
    const [before, after] = [json, refreshed.json].map((each) => decodeJwt(String(each['id_token'])));
    expect(after?.['auth_time']).to.equal(before?.['auth_time']);
  });

  it('confirms a client whose redirect any program of the machine can receive', async () => {
    await browser.signIn();
    for (const redirect_uri of [CLI.redirect_uri, 'https://localhost:8443/callback']) {
      const silent = await browser.authorize({ ...CLI, redirect_uri, prompt: 'none' });
      expect(errorOf(silent), redirect_uri).to.equal('interaction_required');
    }
    const { headers } = await browser.authorize(CLI);
    expect(headers).to.include({ 'x-frame-options': 'DENY' });
    expect(browser.page)
      .to.contain('Continue as alice')
      .and.to.contain('<strong>cli</strong> requests access');
    expect(asksPassword()).to.equal(false);
    const forged = await browser.submit({ account: 'alice' }, { 'sec-fetch-site': 'cross-site' });
    expect(forged.status).to.equal(403);
    await browser.authorize(CLI);
    expectCode(await browser.submit({ account: 'alice' }));
  });

  it('accepts the confirmation only in the browser that received the page', async () => {
    await browser.signIn();
    const attacker = new SiteBrowser(site);
    await attacker.signIn('bob');
    await attacker.authorize(CLI);
    browser.page = attacker.page;
    const { status } = await browser.submit({ account: 'alice' });
    expect(status).to.equal(400);
    expect(asksPassword()).to.equal(true);
  });

  it('asks for consent, or for an account, where the client asks for it', async () => {
    await browser.signIn();
    for (const prompt of ['consent', 'select_account', 'consent select_account']) {
      await browser.authorize({ prompt });
      expect(browser.page, prompt).to.contain('Continue as alice');
    }
    expect(errorOf(await browser.submit({ decision: 'cancel' }))).to.equal('access_denied');
    await browser.authorize({ prompt: 'consent' });
    await browser.submit({ decision: 'other' });
    expect(asksPassword()).to.equal(true);
  });

  it('has several accounts in one browser, and asks which one unless the client hints at it', async () => {
    const alice = await claimsOf(expectCode(await browser.signIn('alice')));
    const token = await site.token({ ...EXCHANGE, code: expectCode(await browser.signIn('bob')) });
    expect(browserSessions()).to.have.length(2);
    expect(errorOf(await browser.authorize({ prompt: 'none' }))).to.equal('account_selection_required');
    await browser.authorize();
    expect(browser.page).to.contain('Continue as alice').and.to.contain('Continue as bob');
    expect((await claimsOf(expectCode(await browser.submit({ account: 'alice' }))))['sub']).to.equal('alice');
    for (const login_hint of ['alice', 'alice@example.com']) {
      const hinted = await claimsOf(expectCode(await browser.authorize({ login_hint, prompt: 'none' })));
      expect(hinted['sub']).to.equal(alice['sub']);
    }
    const id_token_hint = String(token.json['id_token']);
    const bob = await claimsOf(expectCode(await browser.authorize({ id_token_hint, prompt: 'none' })));
    expect(bob['sub']).to.equal('bob');
  });

  it('keeps the direction of a display name from the text around it', async () => {
    await state.add('alice', { displayName: 'Alice \u202e' });
    await browser.signIn();
    await browser.authorize(CLI);
    expect(browser.page).to.contain('Continue as <bdi>Alice \u202e</bdi> (alice)');
  });

  it('has at most five accounts in one browser', async () => {
    for (const name of ['u1', 'u2', 'u3', 'u4', 'u5', 'u6']) {
      await state.add(name);
      await browser.signIn(name);
    }
    await browser.authorize();
    expect(browser.page.match(/Continue as/g)).to.have.length(5);
    expect(browser.page).to.not.contain('Continue as u1<');
  });

  it('ignores a login_hint that names nobody who is signed in, and an unknown acr_values', async () => {
    await browser.signIn();
    expectCode(await browser.authorize({ login_hint: 'someone@example.com', acr_values: 'gold' }));
  });

  it('never signs on another user than that of id_token_hint', async () => {
    const { json } = await site.token({ ...EXCHANGE, code: expectCode(await browser.signIn('bob')) });
    const id_token_hint = String(json['id_token']);
    const other = new SiteBrowser(site);
    await other.signIn('alice');
    expect(errorOf(await other.authorize({ id_token_hint, prompt: 'none' }))).to.equal('login_required');
    await other.authorize({ id_token_hint });
    expect(other.page).to.contain('type="password"').and.to.contain('value="bob"');
    expect(errorOf(await other.submit({ username: 'alice', password: PASSWORD }))).to.equal('login_required');
  });

  it('never signs on a later user with the name of the one in id_token_hint', async () => {
    const { json } = await site.token({ ...EXCHANGE, code: expectCode(await browser.signIn('bob')) });
    const id_token_hint = String(json['id_token']);
    const uid = 'uid of another bob';
    const password = state.credentials.get('bob');
    if (!password) throw new Error('bob has no password');
    state.accounts.set('bob', newAccount('bob', { uid }));
    await state.credentials.set('bob', { ...password, userUID: uid });
    const other = new SiteBrowser(site);
    expectCode(await other.signIn('bob'));
    expect(errorOf(await other.authorize({ id_token_hint, prompt: 'none' }))).to.equal('login_required');
    await other.authorize({ id_token_hint });
    expect(errorOf(await other.submit({ username: 'bob', password: PASSWORD }))).to.equal('login_required');
  });

  it('asks again for an account that was signed out, or became too old, while the page was open', async () => {
    await browser.signIn();
    await browser.authorize({ prompt: 'consent', max_age: '60' });
    const page = browser.page;
    state.now += 61_000;
    await browser.submit({ account: 'alice' });
    expect(asksPassword()).to.equal(true);
    browser.page = page;
    state.sessions.objects.clear();
    await browser.submit({ account: 'alice' });
    expect(asksPassword()).to.equal(true);
  });

  it('confirms each device, without a password', async () => {
    const { text } = await site.ask('/oauth/device_authorization', { form: { client_id: 'cli' } });
    const { user_code } = JSON.parse(text) as { user_code: string };
    await browser.signIn();
    await browser.ask(`/oauth/device?user_code=${user_code}`);
    expect(browser.page).to.contain(`<strong>${user_code}</strong>`).and.to.contain('Continue as alice');
    expect(state.sessions.ofClients.some(({ user }) => user === '-')).to.equal(true);
    await browser.submit({ account: 'alice' });
    expect(browser.page).to.contain('<h1>Device connected</h1>');
  });

  it('rejects a code for a redirect URI that is not registered, before it looks at the cookie', async () => {
    await browser.signIn();
    for (const redirect_uri of [`${REDIRECT}/x`, 'https://evil.example/']) {
      const { status, headers } = await browser.authorize({ redirect_uri, prompt: 'none' });
      expect([status, headers.location]).to.deep.equal([400, undefined]);
    }
  });
});
