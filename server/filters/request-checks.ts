// The filters that only look at the request itself: its id, its target and headers, the size of its body, and
// impersonation.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { newBadRequest } from '../../apis/meta/v1/errors.ts';
import type { LongRunning } from '../request/long-running.ts';
import { bodyTooLarge } from '../request/request-body.ts';
import { parseRequestInfo } from '../request/request-info.ts';
import type { Filter } from './exchange.ts';

// The form of kube-apiserver's ids. The id is written to every log line and returned in a header, so it is bounded.
const VALID_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Sets the request id: the aggregator's `Audit-Id`, so that both servers log the same id, else a new one. */
export const requestID: Filter = (exchange) => {
  const given = exchange.request.headers['audit-id'];
  exchange.auditID = typeof given === 'string' && VALID_ID.test(given) ? given : randomUUID();
  exchange.response.setHeader('Audit-Id', exchange.auditID);
  exchange.response.setHeader('Cache-Control', 'no-cache, private');
};

/** Sets the RequestInfo, and whether the request is long-running. */
export function requestInfo(isLongRunning: LongRunning): Filter {
  return (exchange) => {
    const { method = '', url = '' } = exchange.request;
    checkSingletonHeaders(exchange.request);
    exchange.info = parseRequestInfo(method, url);
    exchange.longRunning = isLongRunning(exchange);
  };
}

const HOST = 'host';
const AUTHORIZATION = 'authorization';

/**
 * Exactly one Host (RFC 9112, 3.2) and at most one Authorization (RFC 9110, 5.3). Node keeps the first value only, but a
 * proxy in front may use another one.
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

/** Rejects a body by its Content-Length before reading it. */
export function bodyLimit(maxBytes: number): Filter {
  return ({ request }) => {
    const length = request.headers['content-length'];
    if (length !== undefined && Number(length) > maxBytes) throw bodyTooLarge(maxBytes);
  };
}

/**
 * Rejects impersonation headers. kube-apiserver has already impersonated for callers behind the aggregator. Ignoring the
 * headers of a direct caller would respond with the caller's own permissions.
 */
export const impersonation: Filter = ({ request: { headers } }) => {
  for (const header in headers) {
    if (header.startsWith('impersonate-')) {
      throw newBadRequest('impersonation is served through kube-apiserver only');
    }
  }
};
