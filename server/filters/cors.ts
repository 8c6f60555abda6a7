// CORS (Fetch standard) for web pages of allowed origins. Pages send their token in a header; credentials that the browser
// adds itself (cookies, client certificates) are never allowed, so the cookies of the sign-in pages stay out of reach.
import type { IncomingMessage } from 'node:http';
import type { Exchange, Filter } from './exchange.ts';

/** Request headers beyond the CORS-safelisted ones. */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'If-None-Match',
  'Last-Event-ID',
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
].join(', ');

/** In seconds; the maximum of Chromium. */
const MAX_AGE = '7200';

/** Headers that error responses keep, in lower case: without them a page could not read the error. */
export const CORS_HEADERS = ['access-control-allow-origin', 'access-control-expose-headers', 'vary'] as const;

/**
 * Allows the page to read the response, errors included, and responds to preflight requests. Those have no credentials
 * (Fetch, CORS-preflight fetch), so they bypass authentication; the actual request is authorized as usual. Handlers that set
 * `Vary` themselves must include `Origin`.
 */
export function cors(origins: readonly string[]): Filter {
  const allowed = new Set(origins);
  return (exchange) => {
    const { request, response } = exchange;
    response.setHeader('Vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !allowed.has(origin)) return undefined;
    response.setHeader('Access-Control-Allow-Origin', origin);
    if (isPreflight(request)) return respond(exchange);
    response.setHeader('Access-Control-Expose-Headers', RESPONSE_HEADERS);
    return undefined;
  };
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** A promise, because the chain continues after a synchronous filter. */
async function respond(exchange: Exchange): Promise<void> {
  // A preflight request is neither a read nor a change, for the log and the audit.
  exchange.info = { isResourceRequest: false, path: '', verb: 'options' };
  exchange.response.writeHead(204, {
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': REQUEST_HEADERS,
    'Access-Control-Max-Age': MAX_AGE,
  });
  exchange.response.end();
}
