import { newBadRequest, newTimeout } from '../../apis/meta/v1/errors.ts';
import { parseGoDuration } from '../../apis/reading/go-duration.ts';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import { hasQuery } from '../request/request-path.ts';
import type { Exchange, Filter } from './exchange.ts';

/**
 * Returns a filter that ends requests with 504 at the deadline, even if the handler ignores the AbortSignal.
 * Long-running requests have no deadline.
 */
export function deadline(timeoutMs: number, fail: (exchange: Exchange, error: unknown) => void): Filter {
  return (exchange) => {
    if (exchange.longRunning) return;
    const requested = requestedTimeout(exchange);
    // Runs until the client has read the response. Later output of the handler is discarded.
    const timer = setTimeout(
      () => {
        const error = newTimeout('Timeout: request did not complete within the allotted timeout', 1);
        // The response is complete, but the client has not read it. It must not stay in memory.
        const unread = exchange.response.writableEnded;
        fail(exchange, error);
        exchange.abort(error);
        if (unread) exchange.response.destroy();
      },
      requested > 0 ? Math.min(requested, timeoutMs) : timeoutMs,
    );
    exchange.onEnd(() => clearTimeout(timer));
  };
}

/**
 * Returns the query parameter `timeout` of Kubernetes' APIs, in ms; 0 or less without one. Ignores it under `/kapis` and `/oauth`,
 * where a parameter of this name may have another meaning.
 */
function requestedTimeout(exchange: Exchange): number {
  const { request, info } = exchange;
  if (!hasQuery(request)) return 0;
  if (info.isResourceRequest ? info.prefix === 'kapis' : info.path.startsWith('/oauth/')) return 0;
  const text = exchange.query.get('timeout') ?? '';
  if (text === '') return 0;
  try {
    return parseGoDuration(text);
  } catch (error) {
    throw newBadRequest(`invalid timeout specified in the request URL - ${messageOf(error)}`);
  }
}
