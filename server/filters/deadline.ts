import { newTimeout } from '../../apis/meta/v1/errors.ts';
import type { Exchange, Filter } from './exchange.ts';

/**
 * Bounds every request that is to end by itself. The answer comes at the deadline even when the handler does not
 * heed the signal; what it does afterwards is thrown away.
 */
export function deadline(timeoutMs: number, fail: (exchange: Exchange, error: unknown) => void): Filter {
  return (exchange) => {
    if (exchange.longRunning) return;
    const timer = setTimeout(() => {
      const error = newTimeout('Timeout: request did not complete within the allotted timeout', 1);
      fail(exchange, error);
      exchange.abort(error);
    }, timeoutMs);
    exchange.onEnd(() => clearTimeout(timer));
  };
}
