// Detects requests with a token of this server, among those that the gateway forwards.
import { isUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { TokenVerifier } from '../authentication/access-token.ts';
import { webSocketToken } from '../authentication/web-socket-token.ts';
import type { RequestContext } from '../request/request-context.ts';

/** Returns true if the request has a valid token of this server. */
export async function isOwnToken(
  context: RequestContext,
  verifier: Pick<TokenVerifier, 'verify'>,
): Promise<boolean> {
  const token = bearerToken(context);
  if (token === undefined) return false;
  try {
    return (await verifier.verify(token, context)) !== undefined;
  } catch (error) {
    if (isUnauthorized(error)) return false;
    throw error;
  }
}

/** Reads `rawHeaders`, because the authentication filter removes the token from `headers`. */
function bearerToken({ request }: RequestContext): string | undefined {
  const { rawHeaders } = request;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === 'authorization') {
      return /^bearer +(.+)$/i.exec(rawHeaders[i + 1] ?? '')?.[1];
    }
  }
  return webSocketToken(request);
}
