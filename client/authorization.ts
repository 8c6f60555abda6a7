// One authorization request with PKCE (RFC 7636), and the exchange of its code for tokens.
import { base64url } from './base64url.ts';
import { ConnectionError, errorOf, isTemporary, StatusError } from './status-error.ts';
import { claimsOf, type Tokens } from './token-storage.ts';

/** An error response of the authorization server (RFC 6749, 4.1.2.1 and 5.2), or a response that is not valid. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  /** For example `login_required`. */
  readonly code: string;

  constructor(code: string, description: string) {
    super(description === '' ? code : description);
    this.code = code;
  }
}

export interface OAuthClient {
  /** Address of the server, without a slash at the end. */
  readonly server: string;
  readonly clientId: string;
  readonly redirectURI: string;
  readonly scope: string;
}

/** The secrets of a request, which only the page that has sent it knows. */
export interface Pending {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export function newPending(): Pending {
  return { state: randomText(), nonce: randomText(), verifier: randomText() };
}

/** The URL of the request. `extra`: further parameters, such as `prompt`. */
export async function authorizationURL(
  { server, clientId, redirectURI, scope }: OAuthClient,
  { state, nonce, verifier }: Pending,
  extra: Readonly<Record<string, string>> = {},
): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectURI,
    scope,
    state,
    nonce,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    ...extra,
  });
  return `${server}/oauth/authorize?${query}`;
}

/**
 * Sends an authorization request without showing its response. Throws why the server does not lead to the redirect URI: a
 * ConnectionError, a StatusError that a retry can help, or a SignInError.
 */
export async function checkAuthorization(url: string): Promise<void> {
  try {
    await send(url, { credentials: 'same-origin', redirect: 'manual' });
  } catch (error) {
    if (isTemporary(error) || !(error instanceof StatusError)) throw error;
    throw new SignInError('invalid_request', error.message);
  }
}

/** The code in a response, which must be the response of this server to this request (RFC 9207). */
export function codeIn(response: URLSearchParams, { state }: Pending, issuer: string): string {
  if (response.get('state') !== state)
    throw new SignInError('invalid_state', 'another page has sent the request');
  if (response.get('iss') !== issuer) throw new SignInError('invalid_issuer', 'another server has responded');
  const error = response.get('error');
  if (error !== null) throw new SignInError(error, response.get('error_description') ?? '');
  return response.get('code') ?? '';
}

/** Exchanges a code. Throws a SignInError, or a ConnectionError. */
export async function exchangeCode(
  client: OAuthClient,
  code: string,
  { verifier, nonce }: Pending,
  issuer: string,
): Promise<Tokens> {
  const { redirectURI } = client;
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectURI, code_verifier: verifier };
  const tokens = await requestTokens(client, form);
  const { iss, aud, nonce: returned } = claimsOf(tokens.idToken);
  if (iss !== issuer || aud !== client.clientId || returned !== nonce) {
    throw new SignInError('invalid_token', 'the ID token belongs to another sign-in');
  }
  return tokens;
}

export async function refresh(client: OAuthClient, { refreshToken = '', idToken }: Tokens): Promise<Tokens> {
  return await requestTokens(client, { grant_type: 'refresh_token', refresh_token: refreshToken }, idToken);
}

/** Tokens are renewed this long before they expire, in ms; those with a short lifetime, a tenth of it before. */
const MARGIN = 30_000;

interface TokenResponse {
  readonly access_token: string;
  readonly expires_in: number;
  readonly id_token?: string;
  readonly refresh_token?: string;
}

async function requestTokens(
  { server, clientId }: OAuthClient,
  form: Readonly<Record<string, string>>,
  idToken = '',
): Promise<Tokens> {
  const body = new URLSearchParams({ ...form, client_id: clientId });
  const requestedAt = Date.now();
  const response = await send(`${server}/oauth/token`, { method: 'POST', body });
  const tokens = (await response.json()) as TokenResponse;
  return {
    accessToken: tokens.access_token,
    idToken: tokens.id_token ?? idToken,
    refreshToken: tokens.refresh_token,
    validUntil: requestedAt + tokens.expires_in * 1000 - Math.min(MARGIN, tokens.expires_in * 100),
  };
}

/** The issuer in the metadata of the server. Throws a StatusError with a code below 500 if the server has no sign-in. */
export async function issuerOf({ server }: Pick<OAuthClient, 'server'>): Promise<string> {
  const response = await send(`${server}/oauth/.well-known/openid-configuration`);
  const { issuer } = (await response.json()) as { readonly issuer: string };
  return issuer;
}

const TIMEOUT = 20_000;

async function send(url: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    const signal = AbortSignal.timeout(TIMEOUT);
    response = await fetch(url, {
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
      ...init,
      signal,
    });
  } catch (cause) {
    throw new ConnectionError('the server cannot be reached to sign in', { cause });
  }
  if (response.ok || response.type === 'opaqueredirect') return response;
  if (init.method === 'POST' && (response.status === 400 || response.status === 401)) {
    const { error = '', error_description = '' } = (await response.json().catch(() => ({}))) as Record<
      string,
      string
    >;
    throw new SignInError(error, error_description);
  }
  throw await errorOf(response, new URL(url).pathname);
}

function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}
