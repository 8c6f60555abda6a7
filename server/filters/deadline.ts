import { newBadRequest, newTimeout } from '../../apis/meta/v1/errors.ts';
import { parseGoDuration } from '../../apis/reading/go-duration.ts';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import { hasQuery } from '../request/request-path.ts';
import type { Exchange, Filter } from './exchange.ts';

/**
 * Bounds every request that is not a stream. The answer comes at the deadline even when the handler ignores the signal;
 * what it does afterwards is thrown away. The time that the client takes to read the answer counts too.
 */
export function deadline(timeoutMs: number, fail: (exchange: Exchange, error: unknown) => void): Filter {
  return (exchange) => {
    if (exchange.longRunning) return;
    const asked = askedTimeout(exchange);
    const timer = setTimeout(
      () => {
        const error = newTimeout('Timeout: request did not complete within the allotted timeout', 1);
        // Whole already, and yet not gone: its reader takes nothing, and must not keep it in memory forever.
        const unread = exchange.response.writableEnded;
        fail(exchange, error);
        exchange.abort(error);
        if (unread) exchange.response.destroy();
      },
      asked > 0 ? Math.min(asked, timeoutMs) : timeoutMs,
    );
    exchange.onEnd(() => clearTimeout(timer));
  };
}

/**
 * Ms that the caller is ready to wait, by the parameter `timeout` of Kubernetes' APIs; 0 or less leaves it to us. The
 * paths of the platform and of OAuth have parameters of their own.
 */
function askedTimeout(exchange: Exchange): number {
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
