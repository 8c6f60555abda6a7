// A relying party at the test server of the sign-in pages: openid-client, which is independent of this server, with the
// browser of its user. It verifies states, nonces, issuers, signatures and hashes itself.
import { expect } from 'chai';
import * as openid from 'openid-client';
import { ISSUER, type SignInSite } from './sign-in-site.ts';
import { PASSWORD } from './sign-in-state.ts';
import { SiteBrowser } from './site-browser.ts';
import type { SiteResponse } from './site-request.ts';

/** At a loopback address, as of a conformance suite on the machine of the tester. */
export const CALLBACK = 'https://localhost:8443/test/a/rp/callback';
export const SIGNED_OUT_AT_RP = 'https://rp.example.com/post_logout_redirect';

export type ResponseMode = 'default' | 'form_post';
interface RelyingPartyOptions {
  readonly mode?: ResponseMode;
  readonly authentication?: (secret: string) => openid.ClientAuth;
}

type Parameters = Readonly<Record<string, string>>;

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly id_token: string;
  readonly token_type: string;
  readonly expires_in?: number;
  readonly claims: openid.IDToken;
}

/** The response of the authorization endpoint at the redirect URI. */
interface Callback {
  readonly parameters: URLSearchParams;
  /** As the web server of the relying party receives it. */
  readonly request: URL | Request;
}

export class RelyingParty {
  readonly site: SignInSite;
  readonly browser: SiteBrowser;
  readonly config: openid.Configuration;
  readonly mode: ResponseMode;
  #checks: openid.AuthorizationCodeGrantChecks = {};

  private constructor(site: SignInSite, config: openid.Configuration, mode: ResponseMode) {
    this.site = site;
    this.browser = new SiteBrowser(site);
    this.config = config;
    this.mode = mode;
  }

  static async at(
    site: SignInSite,
    clientID: string,
    { mode = 'default', authentication = openid.ClientSecretBasic }: RelyingPartyOptions = {},
  ): Promise<RelyingParty> {
    const customFetch: openid.CustomFetch = async (url, { method, headers, body }) => {
      const form = body instanceof URLSearchParams ? { form: body.toString() } : {};
      const response = await site.ask(new URL(url).pathname, { method, headers, ...form });
      const { 'content-type': type = '', 'www-authenticate': challenge } = response.headers;
      const answered = { 'content-type': type, ...(challenge ? { 'www-authenticate': challenge } : {}) };
      return new Response(response.text, { status: response.status, headers: answered });
    };
    const options = { [openid.customFetch]: customFetch };
    const secret = authentication(`secret of ${clientID}`);
    const config = await openid.discovery(new URL(ISSUER), clientID, undefined, secret, options);
    Object.assign(config, options);
    openid.enableNonRepudiationChecks(config);
    return new RelyingParty(site, config, mode);
  }

  /** Path and query of an authorization request, with its own state and nonce. An empty value removes a parameter. */
  request(changes: Parameters = {}): string {
    const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
    const { state = expectedState, nonce = expectedNonce } = changes;
    this.#checks = {
      expectedState: state,
      ...(nonce === '' ? {} : { expectedNonce: nonce }),
      idTokenExpected: true,
    };
    const parameters = {
      redirect_uri: CALLBACK,
      scope: 'openid',
      state,
      nonce,
      ...(this.mode === 'form_post' ? { response_mode: 'form_post' } : {}),
      ...changes,
    };
    const { pathname, searchParams } = openid.buildAuthorizationUrl(this.config, parameters);
    for (const [name, value] of Object.entries(changes)) if (value === '') searchParams.delete(name);
    return `${pathname}?${searchParams.toString()}`;
  }

  /** Sends the browser to the server. */
  authorize(changes: Parameters = {}): Promise<SiteResponse> {
    return this.browser.ask(this.request(changes));
  }

  /** Sends the browser to the server, where the user signs in. */
  async signIn(changes: Parameters = {}, user = 'alice'): Promise<SiteResponse> {
    await this.authorize(changes);
    return this.submit(user);
  }

  submit(user = 'alice'): Promise<SiteResponse> {
    expect(this.browser.page).to.contain('type="password"');
    return this.browser.submit({ username: user, password: PASSWORD });
  }

  /** What the browser brings to the relying party. */
  callback({ status, headers, text }: SiteResponse): Callback {
    if (this.mode === 'default') {
      expect(status, text).to.equal(303);
      const request = new URL(headers.location ?? '');
      expect(request.href.split('?')[0]).to.equal(CALLBACK);
      return { parameters: request.searchParams, request };
    }
    expect([status, headers.location]).to.deep.equal([200, undefined]);
    expect(text).to.contain(`<form method="post" action="${CALLBACK}">`);
    const fields = [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const parameters = new URLSearchParams();
    for (const [, name = '', value = ''] of fields) parameters.append(name, value);
    const posted = { method: 'POST', body: parameters };
    return { parameters, request: new Request(CALLBACK, posted) };
  }

  errorOf(response: SiteResponse): string | null {
    const { parameters } = this.callback(response);
    expect(parameters.get('state')).to.equal(this.#checks.expectedState);
    expect(parameters.get('iss')).to.equal(ISSUER);
    expect([...parameters.keys()]).to.have.members(['error', 'error_description', 'state', 'iss']);
    expect(parameters.get('error_description')).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    return parameters.get('error');
  }

  /** The tokens for the code of the response. */
  async tokens(response: SiteResponse, checks: openid.AuthorizationCodeGrantChecks = {}): Promise<Tokens> {
    const { request } = this.callback(response);
    const merged = { ...this.#checks, ...checks };
    const tokens = await openid.authorizationCodeGrant(this.config, request, merged);
    const claims = tokens.claims();
    if (!claims) throw new Error('there is no ID token');
    return { ...tokens, id_token: String(tokens.id_token), claims };
  }

  userInfo({ access_token, claims }: Tokens): Promise<openid.UserInfoResponse> {
    return openid.fetchUserInfo(this.config, access_token, claims.sub);
  }

  /** Sends the browser to the logout endpoint. */
  logout(parameters: Parameters): Promise<SiteResponse> {
    return this.browser.ask(`/oauth/logout?${new URLSearchParams(parameters).toString()}`);
  }
}
