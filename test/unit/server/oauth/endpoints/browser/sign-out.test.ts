// Tests of the sign-out of a browser (OpenID Connect RP-Initiated Logout).
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../../apis/meta/v1/errors.ts';
import { NO_CLIENT } from '../../../../../../server/oauth/sessions/session.ts';
import { newConfiguredClient } from '../../../../../support/oauth/oauth-clients.ts';
import { SignInSite } from '../../../../../support/oauth/sign-in-site.ts';
import { REDIRECT, SIGNED_OUT, SiteState } from '../../../../../support/oauth/sign-in-state.ts';
import { EXCHANGE, sentBack } from '../../../../../support/oauth/sign-in-visit.ts';
import { SiteBrowser } from '../../../../../support/oauth/site-browser.ts';
import type { SiteResponse } from '../../../../../support/oauth/site-request.ts';

const PAGE = { accept: 'text/html' };

describe('the sign-out of a browser', () => {
  let state: SiteState;
  let site: SignInSite;
  let browser: SiteBrowser;
  before(async () => {
    state = await SiteState.make();
    await state.add('bob');
    const kept = { redirectURIs: [REDIRECT], isPublic: true, keepAfterSignOut: true };
    state.clients.push(
      newConfiguredClient('kept', kept),
      newConfiguredClient('second', { ...kept, keepAfterSignOut: false }),
    );
    site = await SignInSite.start(state);
  });
  after(() => site.close());
  beforeEach(() => {
    state.sessions.objects.clear();
    site.store.beforeWrite = () => undefined;
    browser = new SiteBrowser(site);
  });

  /** The tokens of a client; `from` is the redirect with the code. */
  async function tokensOf(from: SiteResponse, client_id = 'console'): Promise<Record<string, string>> {
    const { json } = await site.token({ ...EXCHANGE, client_id, code: sentBack(from).get('code') ?? '' });
    expect(json).to.have.property('id_token');
    return json as Record<string, string>;
  }
  const logout = (parameters: Readonly<Record<string, string>>, from = browser): Promise<SiteResponse> =>
    from.ask(`/oauth/logout?${new URLSearchParams(parameters).toString()}`);
  const isSignedIn = async (): Promise<boolean> =>
    sentBack(await browser.authorize({ prompt: 'none' })).get('error') !== 'login_required';
  const clients = (): string[] => state.sessions.ofClients.map(({ clientID }) => clientID).toSorted();
  const toClient = { client_id: 'console', post_logout_redirect_uri: SIGNED_OUT, state: 's' };

  it('signs out without a question with an ID token of the browser session, also at the other clients', async () => {
    const { id_token = '' } = await tokensOf(await browser.signIn());
    for (const client_id of ['second', 'kept'])
      await tokensOf(await browser.authorize({ client_id }), client_id);
    expect(clients()).to.deep.equal(['console', 'kept', 'second']);
    const { status, headers } = await logout({ ...toClient, id_token_hint: id_token });
    expect([status, headers.location]).to.deep.equal([303, `${SIGNED_OUT}?state=s`]);
    expect(headers['set-cookie']?.[0]).to.match(/^__Host-session=; .*; Max-Age=0$/);
    expect(clients()).to.deep.equal(['kept']);
    expect(await isSignedIn()).to.equal(false);
  });

  it('signs out with the token alone, when a program and not the browser sends it', async () => {
    const { access_token = '' } = await tokensOf(await browser.signIn());
    const { status } = await site.ask('/oauth/logout', {
      headers: { authorization: `Bearer ${access_token}` },
    });
    expect(status).to.equal(200);
    expect(await isSignedIn()).to.equal(false);
  });

  it('leaves the browser signed in when a client that outlives it signs out', async () => {
    await browser.signIn();
    const { id_token = '' } = await tokensOf(await browser.authorize({ client_id: 'kept' }), 'kept');
    await logout({ id_token_hint: id_token });
    expect(clients()).to.not.include('kept');
    expect(await isSignedIn()).to.equal(true);
  });

  it('signs out without a question with the ID token of a client that has revoked its tokens', async () => {
    const { id_token = '', refresh_token = '' } = await tokensOf(await browser.signIn());
    await tokensOf(await browser.authorize({ client_id: 'second' }), 'second');
    await site.ask('/oauth/revoke', { form: { client_id: 'console', token: refresh_token } });
    expect(clients()).to.deep.equal(['second']);
    const { status, headers } = await logout({ ...toClient, id_token_hint: id_token });
    expect([status, headers.location]).to.deep.equal([303, `${SIGNED_OUT}?state=s`]);
    expect(clients()).to.deep.equal([]);
    expect(await isSignedIn()).to.equal(false);
  });

  it('asks with the ID token of a client that outlives the browser, and has revoked its tokens', async () => {
    await browser.signIn();
    const tokens = await tokensOf(await browser.authorize({ client_id: 'kept' }), 'kept');
    const { id_token = '', refresh_token = '' } = tokens;
    await site.ask('/oauth/revoke', { form: { client_id: 'kept', token: refresh_token } });
    await logout({ id_token_hint: id_token });
    expect(browser.page).to.contain('<h1>Sign out?</h1>');
    expect(await isSignedIn()).to.equal(true);
  });

  it('asks without a hint, and with the hint of an earlier sign-in; only a confirmation signs out', async () => {
    const { id_token = '' } = await tokensOf(await browser.signIn());
    await logout({ id_token_hint: id_token });
    state.now += 1000;
    await browser.signIn();
    for (const hint of [{}, { id_token_hint: id_token }]) {
      const { status, headers } = await logout({ ...toClient, ...hint });
      expect([status, headers.location]).to.deep.equal([200, undefined]);
      expect(browser.page).to.contain('<h1>Sign out?</h1>').and.to.contain('<strong>alice</strong>');
      expect(headers['x-frame-options']).to.equal('DENY');
      expect(await isSignedIn()).to.equal(true);
    }
    await logout(toClient);
    const stay = await browser.submit({ decision: 'stay' });
    expect([stay.status, stay.headers.location]).to.deep.equal([200, undefined]);
    expect(await isSignedIn()).to.equal(true);
    await logout(toClient);
    const { headers } = await browser.submit({ decision: 'sign-out' });
    expect(headers.location).to.equal(`${SIGNED_OUT}?state=s`);
    expect(await isSignedIn()).to.equal(false);
  });

  it('accepts the confirmation only from the page that asked this browser', async () => {
    await browser.signIn();
    const attacker = new SiteBrowser(site);
    await attacker.signIn('bob');
    await logout({}, attacker);
    browser.page = attacker.page;
    await browser.submit({ decision: 'sign-out' });
    expect(await isSignedIn()).to.equal(true);
    await logout({});
    const { status } = await browser.submit({ decision: 'sign-out' }, { 'sec-fetch-site': 'cross-site' });
    expect(status).to.equal(400);
    expect(await isSignedIn()).to.equal(true);
  });

  it('keeps the cookie of a browser that another site makes post the hint of an attacker', async () => {
    await browser.signIn();
    const { id_token: id_token_hint = '' } = await tokensOf(await new SiteBrowser(site).signIn('bob'));
    const { headers } = await site.ask('/oauth/logout', { form: { id_token_hint }, headers: PAGE });
    expect(headers['set-cookie']).to.equal(undefined);
    expect(await isSignedIn()).to.equal(true);
  });

  it('reads the cookie with GET, because a POST of another site has none', async () => {
    await browser.signIn();
    const { status, headers } = await site.ask('/oauth/logout', { form: toClient, headers: PAGE });
    expect(status).to.equal(303);
    expect(headers.location).to.match(/^\/oauth\/logout\?client_id=console&/);
    await browser.ask(headers.location ?? '');
    expect(browser.page).to.contain('<h1>Sign out?</h1>');
  });

  it('redirects only to a URI that is registered for the client, also after the question', async () => {
    for (const parameters of [
      { ...toClient, post_logout_redirect_uri: `${SIGNED_OUT}/` },
      { ...toClient, post_logout_redirect_uri: 'https://evil.example/' },
      { ...toClient, client_id: 'second' },
      { post_logout_redirect_uri: SIGNED_OUT },
    ]) {
      await browser.signIn();
      await logout(parameters);
      const { status, headers, text } = await browser.submit({ decision: 'sign-out' });
      expect([status, headers.location]).to.deep.equal([200, undefined]);
      expect(text).to.contain('<h1>Signed out</h1>');
    }
  });

  it('signs out all accounts of the browser, and with a hint only that of the hint', async () => {
    await browser.signIn();
    const { id_token = '' } = await tokensOf(await browser.signIn('bob'));
    await logout({ id_token_hint: id_token });
    expect((await browser.authorize({ prompt: 'none' })).headers.location).to.contain('code=');
    await browser.signIn('bob');
    await logout({});
    expect(browser.page).to.contain('<strong>bob, alice</strong>');
    await browser.submit({ decision: 'sign-out' });
    expect(await isSignedIn()).to.equal(false);
  });

  it('reports no success when the cluster is unavailable', async () => {
    await browser.signIn();
    await logout(toClient);
    site.store.beforeWrite = () => {
      throw newServiceUnavailable('not now');
    };
    const { status, headers } = await browser.submit({ decision: 'sign-out' });
    expect([status, headers.location]).to.deep.equal([503, undefined]);
  });

  it('ends the sessions of the browser also when they cannot be deleted, or the cache lacks them', async () => {
    const { id_token = '', refresh_token = '' } = await tokensOf(await browser.signIn());
    const { refresh_token: second = '' } = await tokensOf(
      await browser.authorize({ client_id: 'second' }),
      'second',
    );
    const { refresh_token: kept = '' } = await tokensOf(
      await browser.authorize({ client_id: 'kept' }),
      'kept',
    );
    const before = [...state.sessions.objects.values()];
    expect((await logout({ ...toClient, id_token_hint: id_token })).status).to.equal(303);
    for (const session of before)
      if (session.clientID !== NO_CLIENT) state.sessions.objects.set(session.id, session);
    const refresh = async (client_id: string, token: string): Promise<unknown> => {
      const form = { grant_type: 'refresh_token', client_id, refresh_token: token };
      return (await site.token(form)).json['error'];
    };
    expect(await refresh('console', refresh_token)).to.equal('invalid_grant');
    expect(await refresh('second', second)).to.equal('invalid_grant');
    expect(await refresh('kept', kept)).to.equal(undefined);
  });

  it('does not end sessions that are used when the browser session expires', async () => {
    const { refresh_token = '' } = await tokensOf(await browser.signIn());
    const { now } = state;
    state.now += 86_400_000;
    expect(await isSignedIn()).to.equal(false);
    const form = { grant_type: 'refresh_token', client_id: 'console', refresh_token };
    expect((await site.token(form)).status).to.equal(200);
    state.now = now;
  });

  it('also ends a session whose code is not exchanged yet, at a replica whose cache is behind', async () => {
    const { id_token = '' } = await tokensOf(await browser.signIn());
    site.store.lag();
    const code = sentBack(await browser.authorize({ client_id: 'second', prompt: 'none' })).get('code') ?? '';
    await logout({ id_token_hint: id_token });
    await using other = await SignInSite.start(state);
    const { status, json } = await other.token({ ...EXCHANGE, client_id: 'second', code });
    expect([status, json['error']]).to.deep.equal([400, 'invalid_grant']);
  });
});
