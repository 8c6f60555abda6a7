// HTTP client for the sign-in page. The client sends the cookie and the CSRF token as a browser does.
import { expect } from 'chai';
import type { SignInSite } from './sign-in-site.ts';
import { CHALLENGE, PASSWORD, REDIRECT, VERIFIER } from './sign-in-state.ts';
import type { SiteResponse } from './site-request.ts';

export const REQUEST: Readonly<Record<string, string>> = {
  response_type: 'code',
  client_id: 'console',
  redirect_uri: REDIRECT,
  scope: 'openid email',
  state: 'a state & more',
  nonce: 'n-0S6_WzA2Mj',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
};

/** The token request for a code of REQUEST, without the code. */
export const EXCHANGE = {
  grant_type: 'authorization_code',
  client_id: 'console',
  redirect_uri: REDIRECT,
  code_verifier: VERIFIER,
};

export function authorizePath(changes: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...REQUEST, ...changes })) {
    if (value !== undefined) query.set(name, value);
  }
  return `/oauth/authorize?${query.toString()}`;
}

export class Visit {
  readonly #site: Pick<SignInSite, 'ask'>;
  readonly #action: string;
  cookie: string;
  response: SiteResponse;

  /** `action`: path of the form. */
  constructor(site: Pick<SignInSite, 'ask'>, response: SiteResponse, action = '/oauth/sign-in') {
    this.#site = site;
    this.#action = action;
    this.response = response;
    this.cookie = response.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  }

  static async begin(
    site: SignInSite,
    changes: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Visit> {
    const response = await site.ask(authorizePath(changes));
    expect(response.status, response.text).to.equal(200);
    return new Visit(site, response);
  }

  get ticket(): string {
    return /name="ticket" value="([^"]+)"/.exec(this.response.text)?.[1] ?? '';
  }

  /** Submits the last form with these fields. */
  async send(
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<SiteResponse> {
    this.response = await this.#site.ask(this.#action, {
      form: { ticket: this.ticket, ...form },
      headers: { cookie: this.cookie, ...headers },
    });
    return this.response;
  }

  signIn(user = 'alice', password = PASSWORD): Promise<SiteResponse> {
    return this.send({ username: user, password });
  }
}

/** A code for `alice` from the sign-in page. */
export async function codeFor(
  site: SignInSite,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<string> {
  const visit = await Visit.begin(site, changes);
  return sentBack(await visit.signIn()).get('code') ?? '';
}

/** The parameters of the redirect to the client. */
export function sentBack({ status, headers, text }: SiteResponse): URLSearchParams {
  expect(status, text).to.equal(303);
  return new URL(headers.location ?? '').searchParams;
}
