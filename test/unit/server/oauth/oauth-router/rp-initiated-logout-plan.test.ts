// RP-initiated Logout plan of the OpenID Foundation's conformance suite. Each test has the name of the module whose requirement
// it checks.
import { expect } from 'chai';
import { SignJWT, UnsecuredJWT } from 'jose';
import { newConfiguredClient } from '../../../../support/oauth/oauth-clients.ts';
import {
  CALLBACK,
  RelyingParty,
  SIGNED_OUT_AT_RP,
  type Tokens,
} from '../../../../support/oauth/relying-party.ts';
import { ISSUER, SignInSite } from '../../../../support/oauth/sign-in-site.ts';
import { SiteState } from '../../../../support/oauth/sign-in-state.ts';
import type { SiteResponse } from '../../../../support/oauth/site-request.ts';

/** As long as the suite makes it. */
const STATE = 'aB3-'.repeat(32);
const RETURN = { post_logout_redirect_uri: SIGNED_OUT_AT_RP, state: STATE };

describe('oidcc-rp-initiated-logout-certification-test-plan', () => {
  let state: SiteState;
  let site: SignInSite;
  let rp: RelyingParty;
  let tokens: Tokens;
  before(async () => {
    state = await SiteState.make();
    state.clients.push(
      newConfiguredClient('rp', {
        redirectURIs: [CALLBACK],
        postLogoutRedirectURIs: [SIGNED_OUT_AT_RP],
        requiresPKCE: false,
        idTokenAlgorithm: 'RS256',
      }),
    );
    site = await SignInSite.start(state);
  });
  after(() => site.close());
  beforeEach(async () => {
    rp = await RelyingParty.at(site, 'rp');
    tokens = await rp.tokens(await rp.signIn());
  });

  async function isSignedIn(): Promise<boolean> {
    const response = await rp.authorize({ prompt: 'none' });
    if (rp.callback(response).parameters.has('code')) return true;
    expect(rp.errorOf(response)).to.equal('login_required');
    return false;
  }
  /** A page of this server, which leads nowhere. */
  function staysHere({ status, headers, text }: SiteResponse, expected: number): void {
    expect([status, headers.location]).to.deep.equal([expected, undefined]);
    expect(text).to.not.contain(SIGNED_OUT_AT_RP);
  }
  /** The server asks; only the confirmation signs out. */
  async function asksFirst(response: SiteResponse): Promise<SiteResponse> {
    staysHere(response, 200);
    expect(response.text).to.contain('<h1>Sign out?</h1>');
    const { page } = rp.browser;
    expect(await isSignedIn()).to.equal(true);
    rp.browser.page = page;
    const confirmed = await rp.browser.submit({ decision: 'sign-out' });
    expect(await isSignedIn()).to.equal(false);
    return confirmed;
  }

  it('oidcc-rp-initiated-logout-discovery-endpoint-verification', () => {
    expect(rp.config.serverMetadata().end_session_endpoint).to.equal(`${ISSUER}/logout`);
  });

  it('oidcc-rp-initiated-logout: signs out, and redirects with the state', async () => {
    const { status, headers } = await rp.logout({ ...RETURN, id_token_hint: tokens.id_token });
    expect([status, headers.location]).to.deep.equal([303, `${SIGNED_OUT_AT_RP}?state=${STATE}`]);
    expect(await isSignedIn()).to.equal(false);
  });

  it('oidcc-rp-initiated-logout-no-state: signs out, and redirects without a state', async () => {
    const { post_logout_redirect_uri } = RETURN;
    const { headers } = await rp.logout({ post_logout_redirect_uri, id_token_hint: tokens.id_token });
    expect(headers.location).to.equal(SIGNED_OUT_AT_RP);
    expect(await isSignedIn()).to.equal(false);
  });

  for (const [module, uri] of [
    ['oidcc-rp-initiated-logout-bad-post-logout-redirect-uri', 'https://rp.example.com/elsewhere'],
    ['oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri', `${SIGNED_OUT_AT_RP}?foo=bar`],
  ] as const) {
    it(`${module}: signs out, and says why it does not redirect`, async () => {
      const hint = { id_token_hint: tokens.id_token };
      const response = await rp.logout({ ...RETURN, ...hint, post_logout_redirect_uri: uri });
      staysHere(response, 200);
      expect(response.text).to.contain('is not registered');
      expect(await isSignedIn()).to.equal(false);
    });
  }

  it('oidcc-rp-initiated-logout-bad-id-token-hint: an error for the signature of a stranger', async () => {
    const key = new TextEncoder().encode('a key of the relying party itself');
    const id_token_hint = await new SignJWT({ ...tokens.claims })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(key);
    staysHere(await rp.logout({ ...RETURN, id_token_hint }), 400);
    expect(await isSignedIn()).to.equal(true);
  });

  it('oidcc-rp-initiated-logout-modified-id-token-hint: an error for alg none', async () => {
    const id_token_hint = new UnsecuredJWT({ ...tokens.claims }).encode();
    staysHere(await rp.logout({ ...RETURN, id_token_hint }), 400);
    expect(await isSignedIn()).to.equal(true);
  });

  it('oidcc-rp-initiated-logout-no-id-token-hint: asks, and says that it knows no client to redirect to', async () => {
    const confirmed = await asksFirst(await rp.logout(RETURN));
    staysHere(confirmed, 200);
    expect(confirmed.text)
      .to.contain('has neither an id_token_hint nor a client_id')
      .and.not.contain('registered');
  });

  it('oidcc-rp-initiated-logout-no-params: asks, and signs out', async () => {
    const confirmed = await asksFirst(await rp.logout({}));
    staysHere(confirmed, 200);
    expect(confirmed.text).to.contain('<h1>Signed out</h1>');
  });

  it('oidcc-rp-initiated-logout-only-state: asks, and signs out', async () => {
    staysHere(await asksFirst(await rp.logout({ state: STATE })), 200);
  });

  it('oidcc-rp-initiated-logout-no-post-logout-redirect-uri: signs out, and says so', async () => {
    const response = await rp.logout({ id_token_hint: tokens.id_token, state: STATE });
    staysHere(response, 200);
    expect(response.text).to.contain('<h1>Signed out</h1>');
    expect(await isSignedIn()).to.equal(false);
  });
});
