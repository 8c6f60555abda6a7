import type { IncomingMessage } from 'node:http';
import { newBadRequest } from '../../apis/meta/v1/errors.ts';
import type { LongRunning } from '../request/long-running.ts';
import { parseRequestInfo } from '../request/request-info.ts';
import type { Filter } from './exchange.ts';

const HOST = 'host';
const AUTHORIZATION = 'authorization';

/** Sets what is asked for, and whether it is a stream without an end of its own. */
export function requestInfo(isLongRunning: LongRunning): Filter {
  return (exchange) => {
    const { method = '', url = '' } = exchange.request;
    checkSingletonHeaders(exchange.request);
    exchange.info = parseRequestInfo(method, url);
    exchange.longRunning = isLongRunning(exchange);
  };
}

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
