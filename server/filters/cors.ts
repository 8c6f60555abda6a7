// CORS filter (Fetch standard) for web pages of the configured origins. Web pages cannot read responses to requests with
// cookies or client certificates.
import type { IncomingMessage } from 'node:http';
import type { Exchange, Filter } from './exchange.ts';

/** Request headers beyond the CORS-safelisted ones. */
const REQUEST_HEADERS = [
  // Safelisted only up to 128 bytes.
  'Accept',
  'Authorization',
  'Content-Type',
  'If-None-Match',
  'Last-Event-ID',
  // Of pages that trace their requests.
  'Traceparent',
  'X-Requested-With',
].join(', ');
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** Response headers beyond the CORS-safelisted ones. */
const RESPONSE_HEADERS = [
  'Allow',
  'Audit-Id',
  'Content-Disposition',
  'Date',
  'ETag',
  'Retry-After',
  'WWW-Authenticate',
  'Warning',
].join(', ');

/** Maximum age of a preflight response, in seconds. Chromium accepts no more. */
const MAX_AGE = '7200';

/** CORS headers in lower case. They stay in error responses, so that pages can read the error. */
export const CORS_HEADERS = ['access-control-allow-origin', 'access-control-expose-headers', 'vary'] as const;

/**
 * Allows pages to read responses, including errors, and responds to preflight requests. Preflight requests have no credentials
 * (Fetch, CORS-preflight fetch), so they bypass authentication. The actual request is authorized as usual. A handler that sets
 * `Vary` must include `Origin`.
 */
export function cors(origins: readonly string[]): Filter {
  const allowed = new Set(origins);
  return (exchange) => {
    const { request, response } = exchange;
    response.setHeader('Vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !allowed.has(origin)) return undefined;
    // Without Access-Control-Allow-Credentials, so that pages cannot use the cookies of the sign-in pages. Pages send
    // their token in a header.
    response.setHeader('Access-Control-Allow-Origin', origin);
    if (isPreflight(request)) return respond(exchange);
    response.setHeader('Access-Control-Expose-Headers', RESPONSE_HEADERS);
    return undefined;
  };
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** Returns a promise, because the chain would continue after a synchronous filter. */
async function respond(exchange: Exchange): Promise<void> {
  // The log and the audit need a RequestInfo, but a preflight request is not parsed.
  exchange.info = { isResourceRequest: false, path: '', verb: 'options' };
  exchange.response.writeHead(204, {
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': REQUEST_HEADERS,
    'Access-Control-Max-Age': MAX_AGE,
  });
  exchange.response.end();
}
