// Functions that write the responses of the OAuth endpoints, and convert errors to OAuthErrors.
import type { ServerResponse } from 'node:http';
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { methodNotAllowed, OAuthError, type OAuthErrorCode } from '../../../apis/oauth/oauth-error.ts';
import type { Middleware } from '../../http/endpoint.ts';
import { type StaticDocument, staticDocument, writeDocument } from '../../http/static-document.ts';
import type { RequestContext } from '../../request/request-context.ts';

/** RFC 6749, 5.1: a response with a token must not be cached. Pragma is for HTTP/1.0 caches. */
export const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const;

/** Writes JSON with `Cache-Control: no-store`. */
export function writeJSON(
  response: ServerResponse,
  value: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    ...NO_STORE,
    ...headers,
  });
  response.end(body);
}

/** Writes public JSON that may be cached for `maxAge` seconds. */
export function writePublicJSON(
  context: RequestContext,
  value: unknown,
  maxAge: number,
): Promise<void> | void {
  return writePublicDocument(context, staticDocument(value), 'application/json', maxAge);
}

/** As `writePublicJSON`, for any content type. */
export function writePublicDocument(
  context: RequestContext,
  document: StaticDocument,
  contentType: string,
  maxAge: number,
): Promise<void> | void {
  return writeDocument(context, document, {
    'Content-Type': contentType,
    'Cache-Control': `public, max-age=${maxAge}`,
  });
}

/** Rejects the methods that a route has no handler for. `allowed` is the value of the header Allow. */
export function only(allowed: string): Middleware {
  return () => {
    throw methodNotAllowed(allowed);
  };
}

/** OAuth equivalents of filter errors. Fixed texts, because a filter's message may repeat client input. */
const FILTER_ERRORS: Readonly<Record<number, readonly [OAuthErrorCode, string]>> = {
  400: ['invalid_request', 'the request is malformed'],
  401: ['invalid_token', 'the bearer token is not valid'],
  403: ['access_denied', 'access is denied'],
  404: ['invalid_request', 'the endpoint does not exist'],
  405: ['invalid_request', 'the method is not allowed'],
  413: ['invalid_request', 'the request is too large'],
  415: ['invalid_request', 'the media type is not supported'],
  429: ['temporarily_unavailable', 'too many requests, try again later'],
  503: ['temporarily_unavailable', 'the service is unavailable, try again later'],
  504: ['temporarily_unavailable', 'the request timed out'],
};

/** Logs an unknown error and hides its text. */
export function asOAuthError({ log, auditID }: RequestContext, error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  const known = error instanceof StatusError ? FILTER_ERRORS[error.code] : undefined;
  if (known && error instanceof StatusError) {
    const [code, description] = known;
    const retryAfterSeconds = error.details?.retryAfterSeconds;
    return new OAuthError(error.code, code, description, {
      cause: error,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      // RFC 6750, 3.1: the only credential that a filter rejects is a bearer token.
      ...(error.code === 401 ? { challenge: 'Bearer realm="oauth", error="invalid_token"' } : {}),
    });
  }
  log.error({ err: error }, 'request failed unexpectedly');
  const description = `an internal error occurred (request ${auditID})`;
  return new OAuthError(500, 'server_error', description, { cause: error });
}

export function errorHeaders(
  { request }: RequestContext,
  error: OAuthError,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (error.challenge !== undefined) headers['WWW-Authenticate'] = error.challenge;
  if (error.allow !== undefined) headers['Allow'] = error.allow;
  if (error.retryAfterSeconds !== undefined) headers['Retry-After'] = String(error.retryAfterSeconds);
  // The unread rest of a body must not be parsed as the next request.
  if (!request.complete) headers['Connection'] = 'close';
  return headers;
}
