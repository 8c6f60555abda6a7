// Proof Key for Code Exchange, RFC 7636, with S256 only: the plain method would show the verifier to whoever sees the
// authorization request.
import { hash } from 'node:crypto';

/** A SHA-256 as base64url: 43 characters. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

export function isChallenge(text: string): boolean {
  return CHALLENGE.test(text);
}

/** Undefined for what cannot be a verifier. */
export function challengeOf(verifier: string): string | undefined {
  if (!VERIFIER.test(verifier)) return undefined;
  return hash('sha256', verifier, 'base64url');
}
