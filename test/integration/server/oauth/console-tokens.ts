// Tokens of the public client `console`, at which the people of identity providers sign in.
import { expect } from 'chai';
import { record, text } from '../../../../apis/reading/unknown-value.ts';
import { VERIFIER } from '../../../support/oauth/sign-in-state.ts';
import { REQUEST } from '../../../support/oauth/sign-in-visit.ts';
import type { SiteResponse } from '../../../support/oauth/site-request.ts';
import type { OAuthReplica } from './oauth-cluster.ts';

export type JSONObject = Readonly<Record<string, unknown>>;

/** The redirect URI of the client. */
export const REDIRECT = text(REQUEST['redirect_uri']);

type Site = Pick<OAuthReplica, 'ask'>;

/** Sends a token request. */
export async function token(
  at: Site,
  form: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly json: JSONObject }> {
  const { status, text: body } = await at.ask('/oauth/token', { form: { client_id: 'console', ...form } });
  return { status, json: record(JSON.parse(body)) };
}

/** The password grant. `password`: by default that of a person of a directory of the tests. */
export function passwordGrant(
  at: Site,
  username: string,
  password = `${username}-password`,
  more: Readonly<Record<string, string>> = {},
): ReturnType<typeof token> {
  return token(at, { grant_type: 'password', username, password, scope: 'openid', ...more });
}

/** The response of the userinfo endpoint. */
export function userInfo(at: Site, { access_token: access }: JSONObject): Promise<SiteResponse> {
  return at.ask('/oauth/userinfo', { headers: { authorization: `Bearer ${text(access)}` } });
}

export function refresh(at: Site, { refresh_token: refreshToken }: JSONObject): ReturnType<typeof token> {
  return token(at, { grant_type: 'refresh_token', refresh_token: text(refreshToken) });
}

/** Exchanges the code of a redirect to the client. */
export async function exchange(at: Site, { status, headers, text: page }: SiteResponse): Promise<JSONObject> {
  expect(status, page).to.equal(303);
  const back = new URL(text(headers.location));
  expect(back.origin + back.pathname).to.equal(REDIRECT);
  const code = back.searchParams.get('code') ?? '';
  const exchanged = await token(at, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT,
    code_verifier: VERIFIER,
  });
  expect(exchanged.status, JSON.stringify(exchanged.json)).to.equal(200);
  return exchanged.json;
}

/** The claims of the access token. */
export function claimsOf({ access_token: access }: JSONObject): JSONObject {
  return record(JSON.parse(Buffer.from(text(access).split('.')[1] ?? '', 'base64url').toString()));
}
