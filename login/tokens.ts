// Tokens of a sign-in, as the token endpoint returns them.
import { isRecord, optionalText, record, text } from '../apis/reading/unknown-value.ts';
import { LoginError } from './login-error.ts';

export interface Tokens {
  readonly accessToken: string;
  /** Undefined if the client has no `refresh_token` grant. */
  readonly refreshToken: string | undefined;
  /** Time of the next refresh, in ms since the epoch; earlier than the expiry. */
  readonly refreshAt: number;
}

/** Maximum time between the refresh and the expiry of an access token, in ms. */
const MARGIN_MS = 60_000;

/** Reads a token response (RFC 6749, 5.1). */
export function tokensOf(response: unknown, now: number): Tokens {
  const { access_token: accessToken, expires_in: expiresIn, refresh_token: refreshToken } = record(response);
  if (typeof accessToken !== 'string' || typeof expiresIn !== 'number') {
    throw new LoginError('the server returned no access token with a lifetime');
  }
  const lifetime = expiresIn * 1000;
  return {
    accessToken,
    refreshToken: optionalText(refreshToken),
    refreshAt: now + lifetime - Math.min(MARGIN_MS, lifetime / 10),
  };
}

/** Reads stored tokens; undefined if they are invalid. */
export function storedTokens(value: unknown): Tokens | undefined {
  if (!isRecord(value)) return undefined;
  const { accessToken, refreshToken, refreshAt } = value;
  if (typeof accessToken !== 'string' || typeof refreshAt !== 'number') return undefined;
  return { accessToken, refreshToken: optionalText(refreshToken), refreshAt };
}

export interface SignIn {
  readonly tokens: Tokens;
  /** Name of the user. */
  readonly user: string;
}

/** Scope of a sign-in: the ID token names the user. */
export const SCOPE = 'openid';

/**
 * Reads the token response of a sign-in. The ID token came over TLS from the token endpoint, so its signature is not
 * verified (OpenID Connect Core, 3.1.3.7).
 */
export function signInOf(
  response: unknown,
  expected: {
    readonly issuer: string;
    readonly clientID: string;
    readonly nonce?: string;
    readonly now: number;
  },
): SignIn {
  const { iss, aud, sub, nonce } = claimsOf(text(record(response)['id_token']));
  const { issuer, clientID, now } = expected;
  if (iss !== issuer || aud !== clientID || typeof sub !== 'string' || nonce !== expected.nonce) {
    throw new LoginError('the server returned the ID token of another sign-in');
  }
  return { tokens: tokensOf(response, now), user: sub };
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
  try {
    return record(JSON.parse(payload));
  } catch {
    throw new LoginError('the server returned no ID token');
  }
}
