// Pages of other origins whose scripts may talk to the server (CORS, as the Fetch standard has it). A page brings its
// token itself, in a header; what the browser would add by itself, cookies and client certificates, is never allowed.
// So a page can do no more than its token, and what the sign-in pages keep in a cookie stays theirs.
import type { IncomingMessage } from 'node:http';
import type { Exchange, Filter } from './exchange.ts';

/** What a page may send beyond what every page may. */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'If-None-Match',
  'Last-Event-ID',
  'X-Requested-With',
].join(', ');
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** What a page may read beyond what every page may, such as the type and the length of a body. */
const RESPONSE_HEADERS = [
  'Allow',
  'Audit-Id',
  'Content-Disposition',
  'Date',
  'ETag',
  'Retry-After',
  'WWW-Authenticate',
].join(', ');

/** In seconds; Chromium keeps an answer no longer. */
const MAX_AGE = '7200';

/** Headers that stay when an answer becomes an error, in lower case: without them a page could not read why. */
export const CORS_HEADERS = ['access-control-allow-origin', 'access-control-expose-headers', 'vary'] as const;

/**
 * Lets the page read whatever the answer will be, a refusal included, and answers what a browser asks before it lets the
 * page ask: that never says who asks (Fetch, CORS-preflight fetch), so it must not wait for anything that may refuse;
 * whether the caller may is decided when the request itself comes. Answers that name what they vary by name `Origin`
 * among it; the one here is for all others.
 */
export function cors(origins: readonly string[]): Filter {
  const allowed = new Set(origins);
  return (exchange) => {
    const { request, response } = exchange;
    response.setHeader('Vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !allowed.has(origin)) return undefined;
    response.setHeader('Access-Control-Allow-Origin', origin);
    if (isPreflight(request)) return answer(exchange);
    response.setHeader('Access-Control-Expose-Headers', RESPONSE_HEADERS);
    return undefined;
  };
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** Resolves, since the chain goes on behind a filter that has nothing to wait for. */
async function answer(exchange: Exchange): Promise<void> {
  // Nothing is read or changed: neither log nor audit should say so.
  exchange.info = { isResourceRequest: false, path: '', verb: 'options' };
  exchange.response.writeHead(204, {
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': REQUEST_HEADERS,
    'Access-Control-Max-Age': MAX_AGE,
  });
  exchange.response.end();
}
