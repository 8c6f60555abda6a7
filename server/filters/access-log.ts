import type { Logger } from 'pino';
import { newAccessRecord } from './access-record.ts';
import type { Filter } from './exchange.ts';

/**
 * One line for each request when it has ended, whoever answered it. The level says who has to do something:
 * `error` is for us (500 and above, but not 503 and 504, which heal and are `warn`), `info` is everything else.
 * Successful health checks, which come every few seconds for ever, are `debug`.
 */
export function accessLog(logger: Logger, monotonic: () => number): Filter {
  return (exchange) => {
    exchange.onEnd(() => {
      const level = levelOf(exchange.status, exchange.info.isResourceRequest, exchange.info.path);
      if (!logger.isLevelEnabled(level)) return;
      logger[level](newAccessRecord(exchange, monotonic()), 'request');
    });
  };
}

function levelOf(
  status: number,
  isResourceRequest: boolean,
  path: string,
): 'debug' | 'info' | 'warn' | 'error' {
  if (status >= 500) return status === 503 || status === 504 ? 'warn' : 'error';
  return status < 400 && !isResourceRequest && HEALTH.test(path) ? 'debug' : 'info';
}

const HEALTH = /^\/(?:livez|readyz|healthz)(?:\/|$)/;
