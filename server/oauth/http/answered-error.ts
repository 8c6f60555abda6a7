// What an error is to who is told of it, as JSON or as a page.
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { OAuthError, type OAuthErrorCode } from '../../../apis/oauth/errors.ts';
import type { RequestContext } from '../../request/request-context.ts';

/** What errors of the chain say here. Fixed texts, since the chain's own may name what the client sent. */
const OF_THE_CHAIN: Readonly<Record<number, readonly [OAuthErrorCode, string]>> = {
  400: ['invalid_request', 'the request is malformed'],
  401: ['invalid_token', 'the credentials are not valid'],
  403: ['access_denied', 'access is denied'],
  404: ['invalid_request', 'there is no such endpoint'],
  405: ['invalid_request', 'the method is not allowed here'],
  413: ['invalid_request', 'the request is too large'],
  415: ['invalid_request', 'the media type is not supported'],
  429: ['temporarily_unavailable', 'too many requests, try again later'],
  503: ['temporarily_unavailable', 'try again later'],
  504: ['temporarily_unavailable', 'the request took too long'],
};

/** What is not known is logged. */
export function asOAuthError({ log, auditID }: RequestContext, error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  const known = error instanceof StatusError ? OF_THE_CHAIN[error.code] : undefined;
  if (known && error instanceof StatusError) {
    const [code, description] = known;
    const retryAfterSeconds = error.details?.retryAfterSeconds;
    return new OAuthError(error.code, code, description, {
      cause: error,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      // RFC 6750, 3.1: only a bearer token is refused before the endpoint.
      ...(error.code === 401 ? { challenge: 'Bearer realm="oauth", error="invalid_token"' } : {}),
    });
  }
  log.error({ err: error }, 'request failed unexpectedly');
  const description = `an internal error occurred (request ${auditID})`;
  return new OAuthError(500, 'server_error', description, { cause: error });
}

export function headersOf({ request }: RequestContext, answer: OAuthError): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (answer.challenge !== undefined) headers['WWW-Authenticate'] = answer.challenge;
  if (answer.allow !== undefined) headers['Allow'] = answer.allow;
  if (answer.retryAfterSeconds !== undefined) headers['Retry-After'] = String(answer.retryAfterSeconds);
  // The rest of an unread body must not be taken for the next request.
  if (!request.complete) headers['Connection'] = 'close';
  return headers;
}
