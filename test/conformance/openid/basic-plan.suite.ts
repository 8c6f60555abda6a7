// The modules of the plan `oidcc-basic-certification-test-plan` of the OpenID Foundation's conformance suite, and of its variant
// with `response_mode=form_post`. Each test has the name of the module whose requirement it checks.
import { expect } from 'chai';
import { decodeProtectedHeader, UnsecuredJWT } from 'jose';
import * as openid from 'openid-client';
import { newConfiguredClient } from '../../support/oauth/oauth-clients.ts';
import { CALLBACK, RelyingParty, type ResponseMode, type Tokens } from '../../support/oauth/relying-party.ts';
import { ISSUER, SignInSite } from '../../support/oauth/sign-in-site.ts';
import { SiteState } from '../../support/oauth/sign-in-state.ts';
import { SiteBrowser } from '../../support/oauth/site-browser.ts';
import { rejection } from '../../support/rejection.ts';

/** `prompt=none` and similar need a page at the server (OpenID Connect Core, 3.1.2.6). */
const NEEDS_PAGE = [
  'login_required',
  'interaction_required',
  'account_selection_required',
  'consent_required',
];

export function describeBasicPlan(plan: string, mode: ResponseMode): void {
  describe(plan, () => {
    let state: SiteState;
    let site: SignInSite;
    let rp: RelyingParty;
    before(async () => {
      state = await SiteState.make();
      const alice = state.accounts.get('alice');
      if (alice) state.accounts.set('alice', { ...alice, emailVerified: true });
      const client = { redirectURIs: [CALLBACK], requiresPKCE: false };
      state.clients.push(
        newConfiguredClient('rp', { ...client, idTokenAlgorithm: 'RS256' }),
        newConfiguredClient('rp2', client),
      );
      site = await SignInSite.start(state);
    });
    after(() => site.close());
    beforeEach(async () => {
      state.sessions.objects.clear();
      rp = await RelyingParty.at(site, 'rp', { mode });
    });

    const userInfoKeys = async (tokens: Tokens): Promise<string[]> => Object.keys(await rp.userInfo(tokens));
    /** A sign-in, with which the request must succeed. */
    const succeeds = async (changes: Readonly<Record<string, string>>): Promise<Tokens> => {
      const tokens = await rp.tokens(await rp.signIn(changes));
      expect(await rp.userInfo(tokens)).to.include({ sub: 'alice' });
      return tokens;
    };

    it('oidcc-server: code, tokens and userinfo are valid, and the ID token has no data of userinfo', async () => {
      const response = await rp.signIn();
      expect(rp.callback(response).parameters.get('code')).to.have.length.of.at.least(43);
      const tokens = await rp.tokens(response);
      expect(tokens).to.include({ token_type: 'bearer', expires_in: 7200 });
      // `uid` is documented in docs/oauth-rules.md.
      const expected = [
        'iss',
        'sub',
        'aud',
        'exp',
        'iat',
        'jti',
        'auth_time',
        'acr',
        'amr',
        'nonce',
        'at_hash',
      ];
      expect(tokens.claims).to.have.all.keys(...expected, 'sid', 'uid');
      expect(await rp.userInfo(tokens)).to.deep.equal({ sub: 'alice' });
    });

    it('oidcc-response-type-missing: the client gets an error', async () => {
      const path = rp.request({ response_type: '' });
      const error = rp.errorOf(await rp.browser.ask(path));
      expect(error).to.be.oneOf(['invalid_request', 'unsupported_response_type']);
    });

    it('oidcc-idtoken-signature: the ID token has the algorithm of the client and a kid', async () => {
      const { id_token } = await rp.tokens(await rp.signIn());
      expect(decodeProtectedHeader(id_token))
        .to.include({ alg: 'RS256', typ: 'JWT' })
        .and.have.property('kid');
      const other = await RelyingParty.at(site, 'rp2', { mode });
      expect(decodeProtectedHeader((await other.tokens(await other.signIn())).id_token)).to.include({
        alg: 'ES256',
      });
    });

    it('oidcc-idtoken-unsigned: ID tokens without a signature are not offered', () => {
      const { id_token_signing_alg_values_supported: algorithms } = rp.config.serverMetadata();
      expect(algorithms).to.include('RS256').and.to.not.include('none');
    });

    for (const [module, method, inBody] of [
      ['oidcc-userinfo-get', 'GET', false],
      ['oidcc-userinfo-post-header', 'POST', false],
      ['oidcc-userinfo-post-body', 'POST', true],
    ] as const) {
      it(`${module}: returns the claims of the user`, async () => {
        const { access_token } = await rp.tokens(await rp.signIn());
        const request = inBody
          ? { form: { access_token } }
          : { method, headers: { authorization: `Bearer ${access_token}` } };
        const { status, headers, text } = await site.ask('/oauth/userinfo', request);
        expect([status, headers['content-type']]).to.deep.equal([200, 'application/json']);
        expect(JSON.parse(text)).to.deep.equal({ sub: 'alice' });
      });
    }

    it('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
      const { claims } = await succeeds({ nonce: '' });
      expect(claims).to.not.have.property('nonce');
    });

    it('oidcc-scope-profile: userinfo has the names of the user', async () => {
      // Users have no other claim of this scope (docs/oauth-rules.md).
      const tokens = await succeeds({ scope: 'openid profile' });
      expect(await userInfoKeys(tokens)).to.have.members(['sub', 'name', 'preferred_username']);
      expect(tokens.claims).to.not.have.any.keys('name', 'preferred_username');
    });

    it('oidcc-scope-email: userinfo has the address, and only there', async () => {
      const tokens = await succeeds({ scope: 'openid email' });
      const { email, email_verified, ...others } = await rp.userInfo(tokens);
      expect([email, email_verified]).to.deep.equal(['alice@example.com', true]);
      expect(others).to.deep.equal({ sub: 'alice' });
      expect(tokens.claims).to.not.have.any.keys('email', 'email_verified', 'name');
    });

    it('oidcc-scope-address, oidcc-scope-phone, oidcc-scope-all: other scopes are not offered, and ignored', async () => {
      expect(rp.config.serverMetadata().scopes_supported).to.not.include.members(['address']);
      expect(rp.config.serverMetadata().scopes_supported).to.not.include.members(['phone']);
      const tokens = await succeeds({ scope: 'openid email phone address profile' });
      const known = ['sub', 'email', 'email_verified', 'name', 'preferred_username'];
      expect(await userInfoKeys(tokens)).to.have.members(known);
    });

    it('oidcc-alternate-happy-flow: the order of scopes and parameters has no meaning', async () => {
      const [path = '', query = ''] = rp.request({ scope: 'email openid' }).split('?');
      await rp.browser.ask(`${path}?${query.split('&').toReversed().join('&')}`);
      const tokens = await rp.tokens(await rp.submit());
      expect(await userInfoKeys(tokens)).to.have.members(['sub', 'email', 'email_verified']);
    });

    for (const [module, parameters] of [
      ['oidcc-display-page', { display: 'page' }],
      ['oidcc-display-popup', { display: 'popup' }],
      ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
      ['oidcc-login-hint', { login_hint: 'buffy@sso.example.com' }],
      ['oidcc-ui-locales', { ui_locales: 'se' }],
      ['oidcc-claims-locales', { claims_locales: 'se' }],
    ] as const) {
      it(`${module}: succeeds`, () => succeeds(parameters));
    }

    it('oidcc-prompt-login: the user signs in again, and auth_time is later', async () => {
      const { claims: first } = await rp.tokens(await rp.signIn());
      state.now += 1_000;
      const { claims: second } = await rp.tokens(await rp.signIn({ prompt: 'login' }));
      expect(second.auth_time).to.be.greaterThan(Number(first.auth_time));
    });

    it('oidcc-prompt-none-not-logged-in: the client gets an error, with a long state unchanged', async () => {
      const response = await rp.authorize({ prompt: 'none', state: 'aB3-'.repeat(32) });
      expect(rp.errorOf(response)).to.be.oneOf(NEEDS_PAGE);
    });

    /** The second request must succeed without a page, with the first authentication. */
    const withoutPage = async (
      first: Readonly<Record<string, string>>,
      second: (tokens: Tokens) => Readonly<Record<string, string>>,
    ): Promise<void> => {
      const tokens = await rp.tokens(await rp.signIn(first));
      state.now += 5_000;
      const { claims } = await rp.tokens(await rp.authorize(second(tokens)));
      const { auth_time, sub } = tokens.claims;
      expect(auth_time).to.be.a('number');
      expect(claims).to.include({ auth_time, sub });
    };

    it('oidcc-prompt-none-logged-in: the same user and auth_time, without a page', () =>
      withoutPage({}, () => ({ prompt: 'none' })));

    it('oidcc-id-token-hint: the same user and auth_time, without a page', () =>
      withoutPage({}, ({ id_token }) => ({ prompt: 'none', id_token_hint: id_token })));

    it('oidcc-max-age-10000: the same user and auth_time, without a page', () =>
      withoutPage({ max_age: '15000' }, () => ({ max_age: '10000' })));

    it('oidcc-max-age-1: the user signs in again, and auth_time is later and recent', async () => {
      const { claims: first } = await rp.tokens(await rp.signIn());
      state.now += 2_000;
      const response = await rp.signIn({ max_age: '1' });
      const { claims } = await rp.tokens(response, { maxAge: 1 });
      expect(claims.auth_time).to.be.greaterThan(Number(first.auth_time));
      expect(claims.iat - Number(claims.auth_time)).to.be.within(0, 1);
    });

    it('oidcc-ensure-request-with-acr-values-succeeds: acr is one of the values', async () => {
      const acr_values = rp.config.serverMetadata().acr_values_supported?.join(' ') ?? '';
      const { claims } = await succeeds({ acr_values });
      expect(acr_values.split(' ')).to.include(claims['acr']);
      expect((await rp.tokens(await rp.authorize({ acr_values: '1 2' }))).claims).to.include({ acr: '1fa' });
    });

    for (const [module, wait] of [
      ['oidcc-codereuse', 0],
      ['oidcc-codereuse-30seconds', 30_000],
    ] as const) {
      it(`${module}: the code is invalid, and so is its access token afterwards`, async () => {
        const response = await rp.signIn();
        const tokens = await rp.tokens(response);
        state.now += wait;
        expect(await rejection(rp.tokens(response)))
          .to.be.instanceOf(openid.ResponseBodyError)
          .and.include({ status: 400, error: 'invalid_grant' });
        expect(await rejection(rp.userInfo(tokens))).to.have.property('status', 401);
      });
    }

    it('oidcc-ensure-registered-redirect-uri: an error page instead of a redirect', async () => {
      await rp.signIn();
      const { status, headers, text } = await rp.authorize({ redirect_uri: `${CALLBACK}/x7` });
      expect([status, headers.location]).to.deep.equal([400, undefined]);
      expect(text).to.contain('redirect_uri is not registered').and.to.not.contain('<form');
    });

    it('oidcc-ensure-post-request-succeeds: the request can be posted, and the user stays signed in', async () => {
      const post = async (): Promise<string> => {
        const [path = '', form = ''] = rp.request().split('?');
        // A form of another site is sent without cookies (SameSite).
        const { status, headers } = await new SiteBrowser(site).ask(path, { form });
        expect(status).to.equal(303);
        return headers.location ?? '';
      };
      await rp.browser.ask(await post());
      const { claims } = await rp.tokens(await rp.submit());
      const next = await rp.tokens(await rp.browser.ask(await post()));
      expect(next.claims.auth_time).to.equal(claims.auth_time);
    });

    it('oidcc-server-client-secret-post: the secret can be in the form', async () => {
      const authentication = openid.ClientSecretPost;
      const other = await RelyingParty.at(site, 'rp', { mode, authentication });
      expect((await other.tokens(await other.signIn())).claims).to.include({ aud: 'rp' });
      const { token_endpoint_auth_methods_supported: methods } = rp.config.serverMetadata();
      expect(methods).to.include.members(['client_secret_basic', 'client_secret_post']);
    });

    it('oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported: is rejected', async () => {
      expect(rp.config.serverMetadata().request_uri_parameter_supported).to.equal(false);
      const response = await rp.authorize({ request_uri: 'https://rp.example.com/request.jwt' });
      expect(rp.errorOf(response)).to.equal('request_uri_not_supported');
    });

    it('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported: is rejected, with its response mode', async () => {
      expect(rp.config.serverMetadata()['request_parameter_supported']).to.equal(false);
      const inside = mode === 'form_post' ? { response_mode: mode } : {};
      const request = new UnsecuredJWT({ client_id: 'rp', state: 'inside', ...inside }).encode();
      const response = await rp.authorize({ request, state: '', nonce: '', response_mode: '' });
      const { parameters } = rp.callback(response);
      expect(Object.fromEntries(parameters)).to.deep.equal({
        error: 'request_not_supported',
        error_description: 'request is not supported',
        iss: ISSUER,
      });
    });

    it('oidcc-ensure-request-object-with-redirect-uri: an error page for a redirect URI outside that is not registered', async () => {
      const { status, headers } = await rp.authorize({
        request: 'eyJhbGciOiJub25lIn0.e30.',
        redirect_uri: `${CALLBACK}/x7`,
      });
      expect([status, headers.location]).to.deep.equal([400, undefined]);
    });

    it('oidcc-claims-essential: userinfo has the requested name, and the ID token does not', async () => {
      const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
      const tokens = await succeeds({ claims });
      expect(await rp.userInfo(tokens)).to.deep.equal({ sub: 'alice', name: 'alice' });
      expect(tokens.claims).to.not.have.property('name');
    });

    it('oidcc-refresh-token: new tokens for the same user, and none for another client', async () => {
      const tokens = await rp.tokens(await rp.signIn());
      const refreshed = await openid.refreshTokenGrant(rp.config, tokens.refresh_token ?? '');
      expect(refreshed.access_token).to.not.equal(tokens.access_token);
      const { iss, sub, aud, auth_time } = tokens.claims;
      expect(refreshed.claims()).to.deep.include({ iss, sub, aud, auth_time });
      expect(iss).to.equal(ISSUER);
      const other = await RelyingParty.at(site, 'rp2', { mode });
      expect(await rejection(openid.refreshTokenGrant(other.config, refreshed.refresh_token ?? '')))
        .to.be.instanceOf(openid.ResponseBodyError)
        .and.include({ status: 400, error: 'invalid_grant' });
    });

    it('oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
      const pkceCodeVerifier = openid.randomPKCECodeVerifier();
      const response = await rp.signIn({
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      });
      expect(await rp.userInfo(await rp.tokens(response, { pkceCodeVerifier }))).to.include({ sub: 'alice' });
    });
  });
}
