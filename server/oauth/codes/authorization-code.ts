// An authorization code is a session that has not begun. At the sign-in the Session object is made, with the hash of
// its code where later that of its refresh token stands and with an end 60 s away; who brings the code, and proves what
// it is bound to, turns it into a living session by an update with a precondition. So:
// - a code is used once on all replicas together: of two updates one meets a changed object;
// - a session that has ended takes its code along: nothing is left that a replay could begin anew (were the session
//   made at the exchange, under a name that follows from the code, a sign-out would free that name again);
// - no store, no key and nothing about the user lies in the code, and an abandoned one is removed like any other
//   expired session.
import { createHash } from 'node:crypto';
import {
  parseRefreshToken,
  type RandomBytes,
  type RefreshToken,
  successor,
} from '../sessions/refresh-token.ts';
import type { Session } from '../sessions/session.ts';

/** RFC 6749, 4.1.2 allows ten minutes; a browser needs seconds. */
export const CODE_LIFETIME_MS = 60_000;

/** What the code is worth nothing without: each part must be the same at both endpoints. */
export interface CodeBinding {
  readonly clientID: string;
  readonly redirectURI: string;
  /** RFC 7636: what the verifier must hash to. */
  readonly challenge: string;
}

export interface AuthorizationCode {
  readonly text: string;
  readonly sessionID: string;
  /** Comes back in the id_token; the code's hash covers it. */
  readonly nonce: string | undefined;
}

const CODE = /^pac_(s-[a-z2-7]{20})_[\w-]{43}(?:\.([\w-]+))?$/;
const MAX_LENGTH = 3072;

export function newCode(
  sessionID: string,
  nonce: string | undefined,
  random: RandomBytes,
): AuthorizationCode {
  const carried = nonce === undefined ? '' : `.${Buffer.from(nonce).toString('base64url')}`;
  return { text: `pac_${sessionID}_${random(32).toString('base64url')}${carried}`, sessionID, nonce };
}

export function parseCode(text: string): AuthorizationCode | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, sessionID, carried] = CODE.exec(text) ?? [];
  if (sessionID === undefined) return undefined;
  const nonce = carried === undefined ? undefined : Buffer.from(carried, 'base64url').toString();
  return { text, sessionID, nonce };
}

/** What a session that has not begun holds as `refreshHash`, hex. No refresh token can have it. */
export function codeHash(code: AuthorizationCode, binding: CodeBinding): string {
  const { clientID, redirectURI, challenge } = binding;
  return sha256(JSON.stringify([code.text, clientID, redirectURI, challenge])).toString('hex');
}

export function hasBegun(session: Pick<Session, 'refreshHash' | 'familyHash'>): boolean {
  return session.familyHash !== '' || session.refreshHash === '';
}

/**
 * The first refresh token of a session that begins with this code. Its family follows from the code, so that the code,
 * when it comes a second time, is known to be the one that the session began with.
 */
export function firstRefreshToken(code: AuthorizationCode, random: RandomBytes): RefreshToken {
  return successor(familyOf(code), random);
}

/** What the session holds as `familyHash` once it has begun. */
export function familyHash(code: AuthorizationCode): string {
  return familyOf(code).familyHash;
}

/** A token that nobody was ever given; only its family counts. */
function familyOf({ sessionID, text }: AuthorizationCode): RefreshToken {
  const family = sha256(`family of ${text}`).subarray(0, 18).toString('base64url');
  const token = parseRefreshToken(`prt_${sessionID}_${family}${'-'.repeat(40)}`);
  if (!token) throw new Error('refresh tokens have another form now');
  return token;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
