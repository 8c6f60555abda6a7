// Error writer of the filter chain: writes errors as Status objects. An ErrorFamily writes errors in another format,
// for example under /oauth (RFC 6749).
import type { IncomingHttpHeaders } from 'node:http';
import { newInternalError, StatusError } from '../../apis/meta/v1/errors.ts';
import { hasBody } from '../http/request-body.ts';
import type { RequestContext } from '../request/request-context.ts';
import { CORS_HEADERS } from './cors.ts';
import type { Exchange } from './exchange.ts';

/** An error format other than Status, for the paths that it claims. */
export interface ErrorFamily {
  claims(path: string): boolean;
  /** Writes the whole response. Called only before headers are sent. */
  write(context: RequestContext, error: unknown): void;
}

type ErrorWriter = (exchange: Exchange, error: unknown) => void;

export function errorWriter(families: readonly ErrorFamily[]): ErrorWriter {
  return (exchange, error) => {
    const { response } = exchange;
    exchange.error ??= error;
    if (exchange.ended || response.writableEnded) return;
    if (response.headersSent) {
      // A truncated response must not look complete: the connection closes without the end of the body.
      response.destroy();
      return;
    }
    for (const header of response.getHeaderNames()) {
      if (!KEPT.has(header)) response.removeHeader(header);
    }
    const family = families.find((candidate) => candidate.claims(exchange.path));
    if (family) family.write(exchange, error);
    else writeStatus(exchange, asStatusError(exchange, error));
  };
}

/** Headers that stay in an error response. Others may describe the intended response (type, length, encoding). */
const KEPT = new Set([
  'allow',
  'audit-id',
  'cache-control',
  'connection',
  'content-security-policy',
  'x-content-type-options',
  ...CORS_HEADERS,
]);

function asStatusError(exchange: Exchange, error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  exchange.log.error({ err: error }, 'request failed');
  const cause = newInternalError(error);
  return new StatusError(500, cause.reason, `${cause.message} (request ${exchange.auditID})`, undefined, {
    cause: error,
  });
}

function writeStatus({ request, response }: Exchange, error: StatusError): void {
  const body = Buffer.from(`${JSON.stringify(error.toStatus())}\n`);
  const headers: Record<string, string | number> = {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
  };
  const retry = error.details?.retryAfterSeconds;
  if (retry !== undefined) headers['Retry-After'] = retry;
  if (error.code === 401) headers['WWW-Authenticate'] = challenge(request.headers);
  // Node must not parse the rest of an unread body as the next request.
  if (!request.complete && hasBody(request)) headers.Connection = 'close';
  response.writeHead(error.code, headers);
  response.end(body);
}

/** The WWW-Authenticate header. It has an error code only if the request had a bearer token (RFC 6750, 3.1). */
function challenge({ authorization = '' }: IncomingHttpHeaders): string {
  return /^bearer(?: |$)/i.test(authorization) ? 'Bearer error="invalid_token"' : 'Bearer';
}
