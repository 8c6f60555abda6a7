// Tests of pushed authorization requests (RFC 9126), with openid-client.
import { expect } from 'chai';
import * as openid from 'openid-client';
import { newConfiguredClient } from '../../../../support/oauth/oauth-clients.ts';
import { basic } from '../../../../support/oauth/oauth-endpoint.ts';
import { CALLBACK, RelyingParty } from '../../../../support/oauth/relying-party.ts';
import { SignInSite } from '../../../../support/oauth/sign-in-site.ts';
import { PASSWORD, SiteState } from '../../../../support/oauth/sign-in-state.ts';
import { REQUEST, sentBack } from '../../../../support/oauth/sign-in-visit.ts';
import { SiteBrowser } from '../../../../support/oauth/site-browser.ts';
import type { SiteRequest } from '../../../../support/oauth/site-request.ts';

const RP = { ...REQUEST, client_id: 'rp', redirect_uri: CALLBACK };

describe('a pushed authorization request', () => {
  let state: SiteState;
  let site: SignInSite;
  before(async () => {
    state = await SiteState.make();
    for (const id of ['rp', 'rp2']) state.clients.push(newConfiguredClient(id, { redirectURIs: [CALLBACK] }));
    site = await SignInSite.start(state);
  });
  after(() => site.close());

  interface Pushed {
    readonly status: number;
    readonly json: Readonly<Record<string, unknown>>;
  }
  async function push(
    form: SiteRequest['form'],
    headers: SiteRequest['headers'] = basic('rp', 'secret of rp'),
  ): Promise<Pushed> {
    const response = await site.ask('/oauth/par', { ...(form === undefined ? {} : { form }), headers });
    expect(response.headers['cache-control']).to.equal('no-store');
    return { status: response.status, json: JSON.parse(response.text) as Pushed['json'] };
  }
  const pushed = async (form: Readonly<Record<string, string>> = RP): Promise<string> => {
    const { status, json } = await push(form);
    expect([status, json['expires_in']], JSON.stringify(json)).to.deep.equal([201, 60]);
    return String(json['request_uri']);
  };
  const authorize = (browser: SiteBrowser, query: Readonly<Record<string, string>>) =>
    browser.ask(`/oauth/authorize?${new URLSearchParams(query).toString()}`);

  it('is what openid-client sends, and the browser brings only its request_uri', async () => {
    const rp = await RelyingParty.at(site, 'rp');
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
    const { pathname, search, searchParams } = await openid.buildAuthorizationUrlWithPAR(rp.config, {
      redirect_uri: CALLBACK,
      scope: 'openid email',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
      login_hint: 'alice',
    });
    expect([...searchParams.keys()]).to.have.members(['client_id', 'request_uri']);
    expect(search).to.not.contain(expectedState);
    await rp.browser.ask(`${pathname}${search}`);
    expect(rp.browser.page).to.contain('value="alice"');
    const response = await rp.browser.submit({ username: 'alice', password: PASSWORD });
    const checks = { pkceCodeVerifier, expectedState, expectedNonce };
    const tokens = await openid.authorizationCodeGrant(rp.config, rp.callback(response).request, checks);
    expect(tokens).to.include({ scope: 'openid email' });
  });

  it('decides alone: parameters beside the request_uri are ignored, also in a POST', async () => {
    const request_uri = await pushed({ ...RP, state: 'pushed' });
    const browser = new SiteBrowser(site);
    const query = {
      client_id: 'rp',
      request_uri,
      state: 'other',
      redirect_uri: 'https://evil.example/',
      prompt: 'none',
    };
    const posted = await browser.ask('/oauth/authorize', { form: query });
    await browser.ask(posted.headers.location ?? '');
    const response = await browser.submit({ username: 'alice', password: PASSWORD });
    expect(response.headers.location?.split('?')[0]).to.equal(CALLBACK);
    expect(sentBack(response).get('state')).to.equal('pushed');
  });

  it('is valid for a minute, for its client, and unchanged; otherwise an error page without redirect', async () => {
    const request_uri = await pushed();
    const error = async (query: Readonly<Record<string, string>>): Promise<void> => {
      const { status, headers, text } = await authorize(new SiteBrowser(site), { ...RP, ...query });
      expect([status, headers.location]).to.deep.equal([400, undefined]);
      expect(text).to.contain('request_uri has expired');
    };
    await error({ request_uri, client_id: 'rp2' });
    await error({ request_uri: `${request_uri.slice(0, -4)}AAAA` });
    await error({ request_uri: 'urn:ietf:params:oauth:request_uri:' });
    await error({ request_uri: 'urn:ietf:params:oauth:request_uri:e30.e30.e30.e30.e30' });
    expect((await authorize(new SiteBrowser(site), { client_id: 'rp', request_uri })).status).to.equal(200);
    state.now += 60_000;
    await error({ request_uri });
  });

  it('needs the authentication of the token endpoint', async () => {
    for (const [form, headers] of [
      [RP, {}],
      [RP, basic('rp', 'wrong')],
      [{ ...RP, client_secret: 'wrong' }, {}],
    ] as const) {
      const { status, json } = await push(form, headers);
      expect([status, json['error']]).to.deep.equal([401, 'invalid_client']);
    }
    const { status, json } = await push({ ...RP, client_id: 'rp2' });
    expect([status, json['error']]).to.deep.equal([400, 'invalid_request']);
    expect((await push({ ...RP, client_secret: 'secret of rp' }, {})).status).to.equal(201);
    expect((await push(REQUEST, {})).status).to.equal(201);
  });

  it('contains no secret of the client, not even encrypted', async () => {
    const short = await pushed();
    const secret = { ...RP, client_secret: 'secret of rp' };
    expect(String((await push(secret, {})).json['request_uri'])).to.have.length(short.length);
  });

  it('gets errors of the request at once', async () => {
    for (const [changes, error] of [
      [{ redirect_uri: 'https://evil.example/' }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ scope: 'admin' }, 'invalid_scope'],
      [{ prompt: 'none login' }, 'invalid_request'],
      [{ request_uri: await pushed() }, 'request_uri_not_supported'],
      [{ request: 'e30.e30.' }, 'request_not_supported'],
    ] as const) {
      const { status, json } = await push({ ...RP, ...changes });
      expect([status, json['error']]).to.deep.equal([400, error]);
    }
    const { status, json } = await push({ ...RP, ui_locales: 'x'.repeat(4096) });
    expect([status, json['error']]).to.deep.equal([413, 'invalid_request']);
  });
});
