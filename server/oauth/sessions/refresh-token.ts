// Refresh tokens: format, parsing and hashes.
import { hash, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../keys/key-ring.ts';

/**
 * A refresh token: `prt_<session id>_<family><secret>`. All rotations of a session share the family; each has a new
 * secret. Only the hashes are stored.
 */
export interface RefreshToken {
  readonly text: string;
  readonly sessionID: string;
  /** SHA-256 of the whole token, hex. */
  readonly hash: string;
  /** SHA-256 of session id and family, hex. */
  readonly familyHash: string;
}

// Multiples of three, so that each part is whole characters of base64url: 144 and 240 bits.
const FAMILY_BYTES = 18;
const SECRET_BYTES = 30;
const TOKEN = /^prt_(s-[a-z2-7]{20})_([\w-]{24})[\w-]{40}$/;

export function newRefreshToken(sessionID: string, random: RandomBytes): RefreshToken {
  return newToken(sessionID, random(FAMILY_BYTES).toString('base64url'), random);
}

/** The next token of the same family. */
export function successor(token: RefreshToken, random: RandomBytes): RefreshToken {
  return newToken(token.sessionID, TOKEN.exec(token.text)?.[2] ?? '', random);
}

export function parseRefreshToken(text: string): RefreshToken | undefined {
  const [, sessionID, family] = TOKEN.exec(text) ?? [];
  return sessionID !== undefined && family !== undefined ? withHashes(text, sessionID, family) : undefined;
}

/** Constant-time comparison. An empty hash never matches. */
export function sameHash(a: string, b: string): boolean {
  return a !== '' && a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function newToken(sessionID: string, family: string, random: RandomBytes): RefreshToken {
  const secret = random(SECRET_BYTES).toString('base64url');
  return withHashes(`prt_${sessionID}_${family}${secret}`, sessionID, family);
}

function withHashes(text: string, sessionID: string, family: string): RefreshToken {
  return {
    text,
    sessionID,
    hash: hash('sha256', text),
    familyHash: hash('sha256', `${sessionID}_${family}`),
  };
}
