// Parser of access tokens (RFC 9068). token-verifier.ts verifies the signatures.
import { newUnauthorized } from '../../../apis/meta/v1/errors.ts';
import { OWN_JTI } from '../../../apis/oauth/claim-mapping.ts';
import { isRecord } from '../../../apis/reading/unknown-value.ts';
import type { CallContext } from '../../cluster/call-context.ts';

/** Header parameter `typ` of access tokens (RFC 9068, 2.1). */
export const ACCESS_TOKEN_TYPE = 'at+jwt';
/** Header parameter `typ` of ID tokens. */
export const ID_TOKEN_TYPE = 'JWT';

/** Claims of a token that authenticates a user, checked for presence and type. Times in seconds since the epoch. */
export interface TokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  /** `<prefix>.<session id>.<random>`: the prefix marks tokens of this server. */
  readonly jti: string;
  readonly client_id: string;
  readonly groups: readonly string[];
  /** Session id. */
  readonly sid: string;
  /** UID of the User object. */
  readonly uid: string;
}

/** Claims of an access token (RFC 9068). */
export interface AccessTokenClaims extends TokenClaims {
  readonly scope?: string;
  /** Time and strength of the sign-in (RFC 9470, 6.1). */
  readonly auth_time?: number;
  readonly acr?: string;
}

export interface AccessTokenVerifier {
  /**
   * The claims of a valid, unexpired access token whose session, user and password are still valid.
   * Returns undefined for a token of another issuer or a string that is not a JWT. Throws Unauthorized for an invalid
   * token of this issuer, ServiceUnavailable when validity cannot be determined. Synchronous on a cache hit.
   */
  verify(
    token: string,
    context: CallContext,
  ): Promise<AccessTokenClaims | undefined> | AccessTokenClaims | undefined;
}

const JTI = /^(?:ks|ki)\.(s-[a-z2-7]{20})\.[\w-]{16,64}$/;

/** The session id in the `jti` of an access token or ID token of this server; undefined for a foreign `jti`. */
export function sessionOfAny(jti: string): string | undefined {
  return JTI.exec(jti)?.[1];
}

/**
 * Maximum length of an accepted token. All groups that a user can have (apis/iam/v1beta1/user-resource.ts) fit, at up to four
 * bytes per character; the value is well below common limits of header size.
 */
export const MAX_TOKEN = 48 * 1024;

/** JWS compact serialization only. jose accepts base64 padding, which would allow two spellings of one token. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export interface UnverifiedToken {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Header and payload before the signature check. Undefined when the text is not a JWT. */
export function readUnverified(token: string): UnverifiedToken | undefined {
  if (token.length > MAX_TOKEN || !COMPACT.test(token)) return undefined;
  const [header = '', payload = ''] = token.split('.');
  const read = { header: readPart(header), payload: readPart(payload) };
  return read.header && read.payload ? { header: read.header, payload: read.payload } : undefined;
}

function readPart(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The claims of the verified payload of an access token. Throws Unauthorized when a claim is missing or has the wrong type. */
export function readAccessToken(payload: Readonly<Record<string, unknown>>): AccessTokenClaims {
  const { scope, auth_time, acr } = payload;
  if (scope !== undefined && typeof scope !== 'string') throw malformed();
  return {
    ...readClaims(payload, OWN_JTI),
    ...(scope === undefined ? {} : { scope }),
    ...(isTime(auth_time) ? { auth_time } : {}),
    ...(isText(acr) ? { acr } : {}),
  };
}

/** The claims of a verified payload. `prefix`: of the `jti`. Throws as `readAccessToken` does. */
export function readClaims(payload: Readonly<Record<string, unknown>>, prefix: string): TokenClaims {
  const { iss, sub, aud, exp, iat, jti, client_id, groups, sid, uid } = payload;
  const audiences = typeof aud === 'string' ? [aud] : aud;
  if (
    isText(iss) &&
    isName(sub) &&
    isTexts(audiences) &&
    isTime(exp) &&
    isTime(iat) &&
    isText(jti) &&
    isText(client_id) &&
    isTexts(groups) &&
    groups.every(isName) &&
    isText(sid) &&
    isText(uid) &&
    jti.startsWith(prefix) &&
    sessionOfAny(jti) === sid
  ) {
    return { iss, sub, aud: audiences, exp, iat, jti, client_id, groups, sid, uid };
  }
  throw malformed();
}

function malformed(): Error {
  return newUnauthorized(new Error('a claim of the token is missing or malformed'));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A token with a group such as `system:masters` is forged with a leaked key. kube-apiserver checks the same rule. */
function isName(value: unknown): value is string {
  return isText(value) && !value.includes(':');
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
