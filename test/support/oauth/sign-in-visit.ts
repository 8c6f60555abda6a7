// HTTP client for the sign-in page. The client sends the cookie and the CSRF token as a browser does.
import { expect } from 'chai';
import type { SignInSite, SiteResponse } from './sign-in-site.ts';
import { CHALLENGE, PASSWORD, REDIRECT } from './sign-in-state.ts';

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

export function authorizePath(changes: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...REQUEST, ...changes })) {
    if (value !== undefined) query.set(name, value);
  }
  return `/oauth/authorize?${query.toString()}`;
}

export class Visit {
  readonly site: SignInSite;
  cookie: string;
  response: SiteResponse;

  private constructor(site: SignInSite, response: SiteResponse) {
    this.site = site;
    this.response = response;
    this.cookie = cookieIn(response);
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

  /** Submits the last form with these fields, at `site`. */
  async send(
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
    site = this.site,
  ): Promise<SiteResponse> {
    this.response = await site.ask('/oauth/sign-in', {
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

function cookieIn({ headers }: SiteResponse): string {
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}
