// A visit to the sign-in page without a browser: it carries cookie and ticket as a browser would.
import { expect } from 'chai';
import type { SignInSite, SiteAnswer } from './sign-in-site.ts';
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
  answer: SiteAnswer;

  private constructor(site: SignInSite, answer: SiteAnswer) {
    this.site = site;
    this.answer = answer;
    this.cookie = cookieIn(answer);
  }

  static async begin(
    site: SignInSite,
    changes: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Visit> {
    const answer = await site.ask(authorizePath(changes));
    expect(answer.status, answer.text).to.equal(200);
    return new Visit(site, answer);
  }

  get ticket(): string {
    return /name="ticket" value="([^"]+)"/.exec(this.answer.text)?.[1] ?? '';
  }

  /** Sends the last form with these fields; `to` another replica if given. */
  async send(
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
    site = this.site,
  ): Promise<SiteAnswer> {
    this.answer = await site.ask('/oauth/sign-in', {
      form: { ticket: this.ticket, ...form },
      headers: { cookie: this.cookie, ...headers },
    });
    return this.answer;
  }

  signIn(user = 'alice', password = PASSWORD): Promise<SiteAnswer> {
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
export function sentBack({ status, headers, text }: SiteAnswer): URLSearchParams {
  expect(status, text).to.equal(303);
  return new URL(headers.location ?? '').searchParams;
}

function cookieIn({ headers }: SiteAnswer): string {
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}
