// The one place that writes an error to the wire: a Status, or what another family's writer makes of it for its
// own paths (RFC 6749 under /oauth).
import type { IncomingHttpHeaders } from 'node:http';
import { newInternalError, StatusError } from '../../apis/meta/v1/errors.ts';
import type { RequestContext } from '../request/request-context.ts';
import { CORS_HEADERS } from './cors.ts';
import type { Exchange } from './exchange.ts';

/** Another shape of errors for the paths that it claims. */
export interface ErrorFamily {
  claims(path: string): boolean;
  /** Writes the whole answer. Called only while no header has been sent. */
  write(context: RequestContext, error: unknown): void;
}

export type ErrorWriter = (exchange: Exchange, error: unknown) => void;

export function errorWriter(families: readonly ErrorFamily[]): ErrorWriter {
  return (exchange, error) => {
    const { response } = exchange;
    exchange.error ??= error;
    if (exchange.ended || response.writableEnded) return;
    if (response.headersSent) {
      // Half an answer must not look like a whole one: the connection ends without the body's end.
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

/** What was set before the failure may describe the answer that did not come (its type, length, encoding). */
const KEPT = new Set(['allow', 'audit-id', 'cache-control', 'connection', ...CORS_HEADERS]);

function asStatusError(exchange: Exchange, error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  exchange.log.error({ err: error }, 'request failed unexpectedly');
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
    'X-Content-Type-Options': 'nosniff',
  };
  const retry = error.details?.retryAfterSeconds;
  if (retry !== undefined) headers['Retry-After'] = retry;
  if (error.code === 401) headers['WWW-Authenticate'] = challenge(request.headers);
  // The rest of an unread body must not be taken for the next request.
  if (!request.complete && hasBody(request.headers)) headers.Connection = 'close';
  response.writeHead(error.code, headers);
  response.end(body);
}

/** RFC 6750, 3.1: an error code only for a request that carried a bearer token. */
function challenge({ authorization = '' }: IncomingHttpHeaders): string {
  return /^bearer(?: |$)/i.test(authorization) ? 'Bearer error="invalid_token"' : 'Bearer';
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}
