import type { IncomingMessage } from 'node:http';
import { newBadRequest } from '../../apis/meta/v1/errors.ts';
import type { LongRunning } from '../request/long-running.ts';
import { parseRequestInfo } from '../request/request-info.ts';
import type { Filter } from './exchange.ts';

/** Sets what is asked for, and whether it is a stream without an end of its own. */
export function requestInfo(isLongRunning: LongRunning): Filter {
  return (exchange) => {
    const { method = '', url = '' } = exchange.request;
    checkHost(exchange.request);
    exchange.info = parseRequestInfo(method, url);
    exchange.longRunning = isLongRunning(exchange);
  };
}

/** RFC 9112 section 3.2: exactly one Host; given two, a proxy and we might each use a different one. */
function checkHost({ httpVersion, rawHeaders }: IncomingMessage): void {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) throw newBadRequest('the request has more than one Host header');
  if (hosts === 0 && httpVersion === '1.1') throw newBadRequest('the request has no Host header');
}
