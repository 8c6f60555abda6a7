// Builds the query of an authorization request with PKCE (RFC 7636).
import { createHash } from 'node:crypto';

/** `fields`: client_id, redirect_uri, and perhaps state. */
export function authorizationQuery(verifier: string, fields: Readonly<Record<string, string>>): string {
  return new URLSearchParams({
    response_type: 'code',
    scope: 'openid',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...fields,
  }).toString();
}
