// Tests sign-ins of people of an OpenID provider (oidc-provider) at two replicas of the authorization server, on a real control plane.
import { expect } from 'chai';
import { text } from '../../../../apis/reading/unknown-value.ts';
import type { RealOpenIDProvider } from '../../../support/oauth/real-openid-provider.ts';
import { PASSWORD, VERIFIER } from '../../../support/oauth/sign-in-state.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import { expectPage, type SiteResponse } from '../../../support/oauth/site-request.ts';
import { until } from '../../../support/until.ts';
import { chooseCompany, pathOf, startCompany } from './company.ts';
import { claimsOf, exchange, type JSONObject, REDIRECT, refresh, token } from './console-tokens.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

describe('people of an OpenID provider', () => {
  let cluster: OAuthCluster;
  let upstream: RealOpenIDProvider;
  let a: OAuthReplica;
  let b: OAuthReplica;
  let browser: SiteBrowser;

  before(async () => {
    cluster = await sharedCluster();
    ({ upstream, a, b } = await startCompany(cluster, {
      provider: { displayName: 'Company <account>', groups: { allow: ['*'] } },
      oidc: { scopes: ['openid', 'profile', 'email', 'groups'] },
      configuration: {
        clients: [
          { id: 'console', public: true, redirectURIs: [REDIRECT] },
          { id: 'kubectl', public: true, redirectURIs: [REDIRECT] },
        ],
      },
      privateKey: 'ES256',
    }));
    await cluster.addUser('alice', PASSWORD, { groups: ['operators'] });
  });
  after(async () => {
    await cluster?.reset();
  });
  beforeEach(() => {
    browser = new SiteBrowser(a);
    upstream.people.clear();
    upstream.people.set('person-1', {
      preferred_username: 'Ada',
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      groups: ['developers', 'system:masters', 'platform-admins'],
    });
  });

  /** Chooses the provider on the sign-in page. Returns the address to which the browser is sent. */
  async function chosen(changes: Readonly<Record<string, string>> = {}): Promise<URL> {
    const page = await browser.authorize(changes);
    expect(page.text).to.contain('Sign in with Company &lt;account&gt;');
    return chooseCompany(browser);
  }

  /** Signs in at the provider, and comes back to replica b. */
  async function signIn(
    login = 'person-1',
    changes?: Readonly<Record<string, string>>,
  ): Promise<SiteResponse> {
    const callback = await upstream.signIn(await chosen(changes), login);
    browser.site = b;
    return browser.ask(pathOf(callback));
  }
  async function tokens(login?: string, changes?: Readonly<Record<string, string>>): Promise<JSONObject> {
    browser = new SiteBrowser(a);
    return exchange(a, await signIn(login, changes));
  }

  it('get a user at the first sign-in, with the groups that may pass, and continue without the provider', async () => {
    const claims = claimsOf(await tokens());
    expect(claims).to.deep.include({ sub: 'ada', groups: ['developers'] });
    const { spec: user } = await cluster.object('users/ada');
    expect(user).to.deep.equal({ displayName: 'Ada Lovelace', email: 'ada@example.com' });
    const links = (await cluster.objects('identities')).map(({ spec }) => spec);
    expect(links.filter(({ user }) => user === 'ada')).to.have.length(1);
    expect(links[0]).to.include({ provider: 'company', issuer: upstream.issuer, subject: 'person-1' });
    const again = await browser.authorize();
    expect(again.headers.location, again.text).to.match(/[?&]code=pac_/);
  });

  it('are authenticated when the provider says, which is before a sign-in with its open session', async () => {
    const cookies = new Map<string, string>();
    const times: unknown[] = [];
    for (let count = 0; count < 2; count++) {
      browser = new SiteBrowser(a);
      const callback = await upstream.signIn(await chosen(), 'person-1', cookies);
      browser.site = b;
      await browser.ask(pathOf(callback));
      const [id = ''] = /^s-[a-z2-7]+/.exec(browser.cookies.get('__Host-session') ?? '') ?? [];
      times.push((await cluster.object(`sessions/${id}`)).spec['authTime']);
    }
    expect(upstream.prompts).to.not.include('login');
    expect(times[1]).to.be.a('string').and.equal(times[0]);
  });

  it('get their current groups at a refresh, although the refresh tokens of the provider rotate', async () => {
    let current = await tokens();
    for (const [index, at] of [a, b, a].entries()) {
      upstream.people.set('person-1', { preferred_username: 'Ada', groups: [`team-${index}`] });
      const { status, json } = await refresh(at, current);
      expect(status, JSON.stringify(json)).to.equal(200);
      expect(claimsOf(json)['groups']).to.deep.equal([`team-${index}`]);
      current = json;
    }
  });

  it('get their current groups at a sign-on, although another replica exchanges the code', async () => {
    await tokens();
    for (const [index, at] of [b, a, b].entries()) {
      upstream.people.set('person-1', { preferred_username: 'Ada', groups: [`team-of-${index}`] });
      const claims = claimsOf(await exchange(at, await browser.authorize()));
      expect(claims['groups']).to.deep.equal([`team-of-${index}`]);
    }
  });

  it('have a verified email address while the provider says so, and the user has this address', async () => {
    const person = { preferred_username: 'Eve', email: 'eve@example.com' };
    upstream.people.set('person-9', { ...person, email_verified: true });
    const userinfo = async ({ access_token: access }: JSONObject): Promise<JSONObject> => {
      const headers = { authorization: `Bearer ${text(access)}` };
      return JSON.parse((await a.ask('/oauth/userinfo', { headers })).text) as JSONObject;
    };
    const address = { sub: 'eve', email: 'eve@example.com' };
    const first = await tokens('person-9', { scope: 'openid email' });
    expect(await userinfo(first)).to.deep.equal({ ...address, email_verified: true });
    for (const changed of [{ email_verified: 'true' }, { email: 'eve@example.org', email_verified: true }]) {
      upstream.people.set('person-9', { ...person, ...changed });
      const { json } = await refresh(a, await tokens('person-9', { scope: 'openid email' }));
      expect(await userinfo(json), JSON.stringify(changed)).to.deep.equal(address);
    }
    upstream.people.set('person-9', { ...person, email_verified: true });
    const { json } = await refresh(a, await tokens('person-9', { scope: 'openid email' }));
    expect(await userinfo(json)).to.deep.equal({ ...address, email_verified: true });
  });

  it('keep their session when two requests refresh it at the same time, and when a refresh is repeated', async () => {
    const first = await tokens();
    const both = await Promise.all([refresh(a, first), refresh(a, first)]);
    expect(both.map(({ status }) => status)).to.deep.equal([200, 200]);
    const repeated = await refresh(b, first);
    expect(repeated.json['refresh_token']).to.equal(both[0]?.json['refresh_token']);
    expect((await refresh(b, repeated.json)).status).to.equal(200);
  });

  it('keep all sessions, although the refresh tokens of the provider are valid once', async () => {
    let first = await tokens();
    const visitor = browser;
    for (const at of [a, b]) {
      // The browser session and a second program use the state that the first program has renewed.
      const { headers, text: page } = await visitor.authorize();
      expect(headers.location, page).to.match(/[?&]code=pac_/);
      const { status, json } = await refresh(at, first);
      expect(status, JSON.stringify(json)).to.equal(200);
      first = json;
    }
  });

  it('keep all sessions when replicas refresh them at the same time', async () => {
    let [one, two] = [await tokens(), await tokens()];
    for (let round = 0; round < 5; round++) {
      const both = await Promise.all([refresh(a, one), refresh(b, two)]);
      expect(both.map(({ status, json }) => [status, json['error']])).to.deep.equal([
        [200, undefined],
        [200, undefined],
      ]);
      [one, two] = both.map(({ json }) => json) as [JSONObject, JSONObject];
    }
  });

  it('keep the sessions that outlive a sign-out of the browser', async () => {
    const first = await tokens();
    const { headers } = await browser.authorize({ client_id: 'kubectl' });
    const code = new URL(text(headers.location)).searchParams.get('code') ?? '';
    const form = { code, redirect_uri: REDIRECT, code_verifier: VERIFIER, client_id: 'kubectl' };
    const terminal = await token(b, { grant_type: 'authorization_code', ...form });
    // The browser and the console have got the latest token of the provider.
    const refreshed = await refresh(a, first);
    await browser.ask(`/oauth/logout?id_token_hint=${text(refreshed.json['id_token'])}`);
    const { status, json } = await token(a, {
      grant_type: 'refresh_token',
      client_id: 'kubectl',
      refresh_token: text(terminal.json['refresh_token']),
    });
    expect([status, json['error']]).to.deep.equal([200, undefined]);
  });

  it('lose all sessions at a refresh after they have left', async () => {
    const [one, two] = [await tokens(), await tokens()];
    upstream.people.delete('person-1');
    expect(await refresh(a, one)).to.have.nested.property('json.error', 'invalid_grant');
    await until(async () => (await refresh(b, two)).status === 400);
    const headers = { authorization: `Bearer ${text(two['access_token'])}` };
    expect((await b.ask('/oauth/userinfo', { headers })).status).to.equal(401);
  });

  async function untilSignedOut(issued: JSONObject): Promise<void> {
    const headers = { authorization: `Bearer ${text(issued['access_token'])}` };
    for (const at of [a, b])
      await until(async () => (await at.ask('/oauth/userinfo', { headers })).status === 401);
    expect(await refresh(b, issued)).to.have.nested.property('json.error', 'invalid_grant');
  }

  it('are signed out of all programs when the session of the browser is deleted', async () => {
    const issued = await tokens();
    for (const { name, spec } of await cluster.objects('sessions')) {
      if (spec['clientID'] === '-') await cluster.delete(`sessions/${name}`);
    }
    await untilSignedOut(issued);
  });

  it('are signed out when an administrator sets, changes or deletes the local password of their user', async () => {
    const credential = {
      userUID: (await cluster.object('users/ada')).uid,
      passwordHash: await a.oauth.hasher.hash(PASSWORD, { caller: 'test' }),
      mustChange: false,
    };
    const { signal } = new AbortController();
    for (const _ of ['set', 'changed']) {
      const issued = await tokens();
      await a.oauth.credentials.set('ada', { ...credential, changedAt: Date.now() }, signal);
      await untilSignedOut(issued);
    }
    const issued = await tokens();
    await cluster.delete('credentials/ada');
    await untilSignedOut(issued);
  });

  it('never get the user of another person, whatever the provider says', async () => {
    for (const name of ['alice', 'ALICE', 'ada']) {
      upstream.people.set('person-2', { preferred_username: name, email: 'ada@example.com', groups: [] });
      const { status, text: page } = await signIn('person-2');
      expect(status, name).to.equal(400);
      expect(page).to.contain('belongs to another user');
      expect(browser.cookies.has('__Host-session')).to.equal(false);
    }
    upstream.people.set('person-3', { preferred_username: 'system:admin' });
    await signIn('person-3');
    const names = (await cluster.objects('users')).map(({ name }) => name);
    expect(names).to.include('system-admin').and.not.include('system:admin');
  });

  it('cannot sign in with a response for another browser, form or provider', async () => {
    const callback = pathOf(await upstream.signIn(await chosen(), 'person-1'));
    const stranger = new SiteBrowser(a);
    await stranger.authorize();
    const refused = [
      await stranger.ask(callback),
      await a.ask(callback),
      await browser.ask(callback.replace('/company', '/other')),
      await browser.ask(callback.replace(/state=[^&]+/, 'state=x')),
      await browser.ask(callback.replace(/&?state=[^&]+/, '')),
      await browser.ask('/oauth/callback/company'),
    ];
    for (const { status, text: page } of refused) {
      expect(status).to.equal(403);
      expect(page).to.contain('did not begin in this browser');
    }
    // A provider must not answer by form_post: a POST of another site has no cookie of the browser.
    const [path = '', query = ''] = callback.split('?');
    const posted = await browser.ask(path, { form: Object.fromEntries(new URLSearchParams(query)) });
    expect([posted.status, posted.headers.allow]).to.deep.equal([405, 'GET']);
    expect((await browser.ask(callback)).status, 'the true one').to.equal(303);
    expectPage(await browser.ask(callback), 400, 'did not confirm who you are');
  });

  it('must sign in again at the provider if the client requires it', async () => {
    expect((await chosen()).searchParams.get('prompt')).to.equal(null);
    expect((await chosen({ prompt: 'login' })).searchParams.get('prompt')).to.equal('login');
  });

  it('see a refusal of the provider on the sign-in page, and the audit log has the reason', async () => {
    const started = await chosen();
    const state = started.searchParams.get('state') ?? '';
    const parameters = new URLSearchParams({ error: 'access_denied', state, iss: upstream.issuer });
    const { status, text: page } = await browser.ask(`/oauth/callback/company?${parameters.toString()}`);
    expect(status).to.equal(400);
    expect(page).to.contain('did not confirm who you are');
    expect(a.audited.at(-1)).to.include({ method: 'provider', outcome: 'refused_by_provider' });
    expect(String(a.audited.at(-1)?.['reason'])).to.contain('access_denied');
  });

  it('see that the provider is down, while local users sign in', async () => {
    const state = (await chosen()).searchParams.get('state') ?? '';
    const parameters = new URLSearchParams({ code: 'x', state, iss: upstream.issuer });
    await upstream[Symbol.asyncDispose]();
    const callback = `/oauth/callback/company?${parameters.toString()}`;
    const { status, text: page } = await browser.ask(callback);
    expect(status).to.equal(400);
    expect(page).to.contain('cannot be reached at the moment');
    const local = await browser.submit({ username: 'alice', password: PASSWORD });
    expect(local.status).to.equal(303);
    expect(a.oauth.missing).to.deep.equal([]);
  });
});
