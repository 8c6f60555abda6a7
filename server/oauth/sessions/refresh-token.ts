import { hash, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../keys/random-bytes.ts';

/**
 * A refresh token: `prt_<session id>_<family><secret>`. The family part stays the same through all rotations of a
 * session, the secret is new each time. Only the hashes are kept.
 */
export interface RefreshToken {
  readonly text: string;
  readonly sessionID: string;
  /** SHA-256 of the whole token, hex. */
  readonly hash: string;
  /** SHA-256 of session id and family part, hex. */
  readonly familyHash: string;
}

// Multiples of three, so that each part is whole characters of base64url: 144 and 240 bits.
const FAMILY_BYTES = 18;
const SECRET_BYTES = 30;
const TOKEN = /^prt_(s-[a-z2-7]{20})_([\w-]{24})[\w-]{40}$/;

export function newRefreshToken(sessionID: string, random: RandomBytes): RefreshToken {
  return made(sessionID, random(FAMILY_BYTES).toString('base64url'), random);
}

/** The next token of the same family. */
export function successor(token: RefreshToken, random: RandomBytes): RefreshToken {
  return made(token.sessionID, TOKEN.exec(token.text)?.[2] ?? '', random);
}

export function parseRefreshToken(text: string): RefreshToken | undefined {
  const [, sessionID, family] = TOKEN.exec(text) ?? [];
  return sessionID !== undefined && family !== undefined ? described(text, sessionID, family) : undefined;
}

/** Constant time. An empty hash is equal to none. */
export function sameHash(a: string, b: string): boolean {
  return a !== '' && a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function made(sessionID: string, family: string, random: RandomBytes): RefreshToken {
  const secret = random(SECRET_BYTES).toString('base64url');
  return described(`prt_${sessionID}_${family}${secret}`, sessionID, family);
}

function described(text: string, sessionID: string, family: string): RefreshToken {
  return { text, sessionID, hash: sha256(text), familyHash: sha256(`${sessionID}_${family}`) };
}

function sha256(text: string): string {
  return hash('sha256', text);
}
