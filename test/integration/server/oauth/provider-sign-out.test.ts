// Tests sign-outs at an OpenID provider (oidc-provider) with which the session began, on a real control plane.
import { expect } from 'chai';
import { text } from '../../../../apis/reading/unknown-value.ts';
import type { RealOpenIDProvider } from '../../../support/oauth/real-openid-provider.ts';
import { CLIENT_ID } from '../../../support/oauth/scripted-openid-provider.ts';
import { SiteBrowser } from '../../../support/oauth/site-browser.ts';
import { expectPage, type SiteResponse } from '../../../support/oauth/site-request.ts';
import { chooseCompany, pathOf, startCompany } from './company.ts';
import { exchange, REDIRECT } from './console-tokens.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const BYE = 'https://console.example.com/bye';

describe('a sign-out at an OpenID provider', () => {
  let cluster: OAuthCluster;
  let upstream: RealOpenIDProvider;
  let a: OAuthReplica;
  let b: OAuthReplica;
  let browser: SiteBrowser;
  /** Of the provider in the browser. */
  let cookies: Map<string, string>;

  before(async () => {
    cluster = await sharedCluster();
    ({ upstream, a, b } = await startCompany(cluster, {
      oidc: { signOut: true },
      configuration: {
        clients: [{ id: 'console', public: true, redirectURIs: [REDIRECT], postLogoutRedirectURIs: [BYE] }],
      },
      client: (issuer) => ({ post_logout_redirect_uris: [`${issuer}/signed-out`] }),
    }));
    upstream.people.set('person-1', { preferred_username: 'ada' });
  });
  after(async () => {
    await upstream?.[Symbol.asyncDispose]();
    await cluster?.reset();
  });
  beforeEach(() => {
    browser = new SiteBrowser(a);
    cookies = new Map();
  });

  const locationOf = ({ headers, text: page }: SiteResponse): URL => {
    expect(headers.location, page).to.be.a('string');
    return new URL(text(headers.location));
  };
  /** Chooses the provider on the page, and signs in there. Returns the address at the provider. */
  async function signIn(): Promise<URL> {
    const start = await chooseCompany(browser);
    const response = await browser.ask(pathOf(await upstream.signIn(start, 'person-1', cookies)));
    expect(response.status, response.text).to.equal(303);
    await browser.ask('/account');
    expect(browser.page).to.contain('<h1>Your account</h1>');
    return start;
  }
  const signOut = () => browser.submitTo('/account/sessions', { end: 'current' });
  /** Signs in at the client console. Returns the ID token. */
  async function idToken(): Promise<string> {
    await browser.authorize({ scope: 'openid' });
    const callback = await upstream.signIn(await chooseCompany(browser), 'person-1', cookies);
    return text((await exchange(a, await browser.ask(pathOf(callback))))['id_token']);
  }
  const logoutPath = (hint: string): string =>
    `/oauth/logout?${new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: BYE, state: 'x' }).toString()}`;

  it('ends both sessions, and returns to a page of this server', async () => {
    await browser.ask('/account');
    await signIn();
    const { searchParams } = locationOf(await signOut());
    expect(searchParams.get('client_id')).to.equal(CLIENT_ID);
    expect(searchParams.get('id_token_hint')).to.match(/^eyJ/);
    await browser.ask('/account');
    expect(browser.page, 'the session here has ended').to.contain('Sign in with Company account');
    await signIn();
    const back = await upstream.signOut(locationOf(await signOut()), cookies);
    browser.site = b;
    expectPage(await browser.ask(pathOf(back)), 200, 'Signed out');
    // Without prompt=login, too.
    await browser.authorize();
    const url = await chooseCompany(browser);
    url.searchParams.delete('prompt');
    url.searchParams.delete('max_age');
    await upstream.signIn(url, 'person-1', cookies);
    expect(upstream.prompts).to.include('login');
  });

  it('is not half a sign-out if the person leaves the page of the provider', async () => {
    await browser.ask('/account');
    await signIn();
    await signOut();
    await browser.ask('/account');
    const start = await signIn();
    expect(Object.fromEntries(start.searchParams)).to.include({ prompt: 'login', max_age: '0' });
    expect(upstream.prompts, 'although the session of the provider is alive').to.include('login');
    await browser.ask('/account/switch');
    await browser.submit({ decision: 'other' });
    expect((await signIn()).searchParams.has('prompt'), 'once').to.equal(false);
    expect(upstream.prompts).to.not.include('login');
  });

  it('returns to the client that asked for it', async () => {
    const hint = await idToken();
    const out = locationOf(await browser.ask(logoutPath(hint)));
    expect(out.origin).to.equal(upstream.issuer);
    const returned = await browser.ask(pathOf(await upstream.signOut(out, cookies)));
    expect(returned.headers.location).to.equal(`${BYE}?state=x`);
    await browser.authorize();
    expect(browser.page).to.contain('Sign in with Company account');
  });

  it('gives the ID token of the provider to the browser of the session only, and stores it encrypted', async () => {
    const hint = await idToken();
    const list = await cluster.controlPlane.client.get('/apis/iam.platform.io/v1beta1/sessions');
    const sealed = [...JSON.stringify(list).matchAll(/"upstream":"([^"]*)"/g)].map(([, value = '']) => value);
    expect(sealed).to.not.deep.equal([]);
    for (const value of sealed) expect(value).to.match(/^eyJhbGciOiJkaXIi[\w-]+\.\.[\w.-]+$/);
    const stranger = new SiteBrowser(b);
    await stranger.authorize();
    const { headers } = await stranger.ask(logoutPath(hint));
    expect(headers.location, 'no address of the provider').to.equal(`${BYE}?state=x`);
  });

  it('accepts the return in the browser that began it only', async () => {
    await browser.ask('/account');
    await signIn();
    const state = locationOf(await signOut()).searchParams.get('state') ?? '';
    const stranger = new SiteBrowser(a);
    await stranger.ask('/account');
    const responses = [
      await stranger.ask(`/oauth/signed-out?state=${state}`),
      await browser.ask('/oauth/signed-out'),
      await browser.ask('/oauth/signed-out?state=x'),
    ];
    // The state of a sign-in is no state of a sign-out, and the other way round.
    await browser.authorize();
    const other = (await chooseCompany(browser)).searchParams.get('state') ?? '';
    responses.push(await browser.ask(`/oauth/signed-out?state=${other}`));
    responses.push(await browser.ask(`/oauth/callback/company?code=x&state=${state}`));
    expect(responses.map(({ status }) => status)).to.deep.equal([403, 403, 403, 403, 403]);
    expect((await browser.ask(`/oauth/signed-out?state=${state}`)).status).to.equal(200);
  });
});
