import type { Filter } from './exchange.ts';
import type { LongRunning } from './long-running.ts';
import { parseRequestInfo } from './request-info.ts';

/** Sets what is asked for, and whether it is a stream without an end of its own. */
export function requestInfo(isLongRunning: LongRunning): Filter {
  return (exchange) => {
    const { method = '', url = '' } = exchange.request;
    exchange.info = parseRequestInfo(method, url);
    exchange.longRunning = isLongRunning(exchange);
  };
}
