import { newUnauthorized } from '../../../apis/meta/v1/errors.ts';
import { isRecord } from '../../../apis/reading/unknown-value.ts';
import { type AccessTokenClaims, sessionOf } from './access-token.ts';

/**
 * Longer ones are not looked at. Room for all groups that a user can have (apis/iam/v1beta1/user.ts), whose names take up
 * to four bytes for a character; well below what a header may hold.
 */
export const MAX_TOKEN = 48 * 1024;

/** A JWS in compact form and nothing else: jose itself would let padding pass, so one token could be written in two ways. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export interface UnverifiedToken {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What a token says about itself, believed by nobody yet. Undefined when it is no JWT. */
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

/** The claims of a verified payload. Throws Unauthorized when one is missing or of the wrong type. */
export function readClaims(payload: Readonly<Record<string, unknown>>): AccessTokenClaims {
  const { iss, sub, aud, exp, iat, jti, client_id, groups, sid, uid, scope } = payload;
  const audiences = typeof aud === 'string' ? [aud] : aud;
  if (
    isText(iss) &&
    isText(sub) &&
    isTexts(audiences) &&
    isTime(exp) &&
    isTime(iat) &&
    isText(jti) &&
    isText(client_id) &&
    isTexts(groups) &&
    isText(sid) &&
    isText(uid) &&
    (scope === undefined || typeof scope === 'string') &&
    sessionOf(jti) === sid
  ) {
    const claims = { iss, sub, aud: audiences, exp, iat, jti, client_id, groups, sid, uid };
    return scope === undefined ? claims : { ...claims, scope };
  }
  throw newUnauthorized(new Error('a claim of the token is missing or malformed'));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
