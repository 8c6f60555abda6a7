// The code of RFC 6749, 4.1.2. Why it works once: session-code.ts.
import type { RandomBytes } from '../keys/random-bytes.ts';
import { codeHash, type SessionCode } from './session-code.ts';

/** RFC 6749, 4.1.2 allows ten minutes; a browser needs seconds. */
export const CODE_LIFETIME_MS = 60_000;

/** Each part must be the same at the authorization endpoint and at the token endpoint. */
export interface CodeBinding {
  readonly clientID: string;
  readonly redirectURI: string;
  /** RFC 7636: what the verifier must hash to. None at one endpoint must be none at the other (RFC 9700, 4.8.2). */
  readonly challenge?: string | undefined;
}

export interface AuthorizationCode extends SessionCode {
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

export function boundHash(
  code: AuthorizationCode,
  { clientID, redirectURI, challenge = '' }: CodeBinding,
): string {
  return codeHash(code, [clientID, redirectURI, challenge]);
}
