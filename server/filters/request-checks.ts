// Filters before authentication that set the request ID and the RequestInfo, and check headers and body size.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { newBadRequest, newForbidden, newRequestEntityTooLarge } from '../../apis/meta/v1/errors.ts';
import { isReadByScript, isServiceWorker } from '../authentication/browser-request.ts';
import { setDefaultHeaders } from '../http/api-response.ts';
import { type GatewayRoute, SANDBOX } from '../request/gateway-route.ts';
import type { LongRunning } from '../request/long-running.ts';
import { parseRequestInfo } from '../request/request-info.ts';
import type { Filter } from './exchange.ts';

// Accepts the IDs of kube-apiserver. The length is bounded, because the ID is in every log line and in a response header.
const VALID_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Sets the request ID: the `Audit-Id` of the aggregator, so that both servers log the same ID, else a new one. */
export const requestID: Filter = (exchange) => {
  const given = exchange.request.headers['audit-id'];
  exchange.auditID = typeof given === 'string' && VALID_ID.test(given) ? given : randomUUID();
  setDefaultHeaders(exchange.response, defaultHeaders(exchange.auditID));
};

function defaultHeaders(auditID: string): string[] {
  return ['Audit-Id', auditID, 'Cache-Control', 'no-cache, private', 'X-Content-Type-Options', 'nosniff'];
}

/**
 * Sets `info`, `longRunning` and the attributes of a forwarded request. Throws Forbidden for a request of a browser that would render or
 * execute a response that is not from this server.
 */
export function requestInfo(isLongRunning: LongRunning, gateway?: Pick<GatewayRoute, 'select'>): Filter {
  return (exchange) => {
    const { method = '', url = '' } = exchange.request;
    checkSingletonHeaders(exchange.request);
    if (isServiceWorker(exchange.request.headers)) throw newForbidden(undefined, '', SERVICE_WORKER);
    const proxied = gateway?.select(exchange);
    if (proxied) {
      exchange.proxied = true;
      exchange.atProxyHost = proxied.atProxyHost;
      exchange.info = proxied.info;
      exchange.longRunning = proxied.longRunning;
      if (proxied.atProxyHost) return;
      setDefaultHeaders(exchange.response, [...defaultHeaders(exchange.auditID), ...SANDBOX]);
      if (!isReadByScript(exchange.request.headers)) throw newForbidden(undefined, '', RENDERED);
      return;
    }
    exchange.info = parseRequestInfo(method, url);
    exchange.longRunning = isLongRunning(exchange);
  };
}

const RENDERED =
  'this host does not send pages, scripts, images or other subresources of the Kubernetes API to a browser: use kubectl, or the host of the option gateway.proxyHost';
const SERVICE_WORKER = 'no path of this server is the script of a service worker';

const HOST = 'host';
const AUTHORIZATION = 'authorization';

/**
 * Throws BadRequest without exactly one Host (RFC 9112, 3.2), or with several Authorization headers (RFC 9110, 5.3). Node uses the
 * first value, but a proxy in front of the server may use another one.
 */
function checkSingletonHeaders({ httpVersion, rawHeaders }: IncomingMessage): void {
  let hosts = 0;
  let credentials = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === HOST.length && name.toLowerCase() === HOST) hosts++;
    else if (name?.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) credentials++;
  }
  if (hosts > 1) throw newBadRequest('the request has more than one Host header');
  if (hosts === 0 && httpVersion === '1.1') throw newBadRequest('the request has no Host header');
  if (credentials > 1) throw newBadRequest('the request has more than one Authorization header');
}

/** Maximum size of a request body: the limit of kube-apiserver, so the gateway refuses nothing that it would accept. */
export const MAX_BODY_BYTES = 3 << 20;

/**
 * Rejects a body by its Content-Length before reading it, and sets the limit of a chunked body. A stream of the gateway has no limit,
 * because a request to a backend may upload a file.
 */
export function bodyLimit(maxBytes: number): Filter {
  return (exchange) => {
    if (exchange.proxied && exchange.longRunning) return;
    exchange.maxBodyBytes = maxBytes;
    const length = exchange.request.headers['content-length'];
    if (length !== undefined && Number(length) > maxBytes) throw newRequestEntityTooLarge(maxBytes);
  };
}

/**
 * Rejects impersonation headers. kube-apiserver handles impersonation for callers behind the aggregator. If the server ignored the
 * headers of a direct caller, the request would run with the caller's own permissions.
 */
export const impersonation: Filter = ({ request: { headers } }) => {
  for (const header in headers) {
    if (header.startsWith('impersonate-')) {
      throw newBadRequest('impersonation is served through kube-apiserver only');
    }
  }
};
