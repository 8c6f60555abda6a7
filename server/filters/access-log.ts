import type { Logger } from 'pino';
import { newAccessRecord } from './access-record.ts';
import type { Filter } from './exchange.ts';
import { READ_VERBS } from './request-info.ts';

/**
 * One line for each request when it has ended, whoever answered it. The level says who has to do something:
 * `error` is for us (500 and above, but not 503 and 504, which heal and are `warn`), `info` for those who look after
 * callers: refusals, and what was changed. Reads that succeeded are `debug`: thousands come each second.
 */
export function accessLog(logger: Logger, monotonic: () => number): Filter {
  return (exchange) => {
    exchange.onEnd(() => {
      const level = levelOf(exchange.status, exchange.info.verb);
      if (!logger.isLevelEnabled(level)) return;
      logger[level](newAccessRecord(exchange, monotonic()), 'request');
    });
  };
}

function levelOf(status: number, verb: string): 'debug' | 'info' | 'warn' | 'error' {
  if (status >= 500) return status === 503 || status === 504 ? 'warn' : 'error';
  return status < 400 && READ_VERBS.has(verb) ? 'debug' : 'info';
}
