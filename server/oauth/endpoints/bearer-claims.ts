import { isUnauthorized } from '../../../apis/meta/v1/errors.ts';
import { invalidRequest, OAuthError } from '../../../apis/oauth/errors.ts';
import type { RequestContext } from '../../request/request-context.ts';
import type { AccessTokenClaims, AccessTokenVerifier } from '../tokens/access-token.ts';

/**
 * The claims of the access token in the Authorization header. Undefined when there is none in it; throws OAuthError 401
 * for one that does not count (RFC 6750, 3.1).
 */
export async function bearerClaims(
  { request, signal }: Pick<RequestContext, 'request' | 'signal'>,
  verifier: AccessTokenVerifier,
): Promise<AccessTokenClaims | undefined> {
  const headers = request.headersDistinct['authorization'] ?? [];
  if (headers.length > 1) throw invalidRequest('the Authorization header is repeated');
  const token = /^bearer +([\w.~+/=-]+)$/i.exec(headers[0] ?? '')?.[1];
  if (token === undefined) return undefined;
  const claims = await Promise.resolve(verifier.verify(token, { signal })).catch((error: unknown) => {
    throw isUnauthorized(error) ? invalidToken(error) : error;
  });
  if (!claims) throw invalidToken(new Error('the token is not ours'));
  return claims;
}

function invalidToken(cause: unknown): OAuthError {
  return new OAuthError(401, 'invalid_token', 'the access token is not valid', {
    challenge: 'Bearer realm="oauth", error="invalid_token"',
    cause,
  });
}
