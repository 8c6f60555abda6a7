import type { Logger } from 'pino';
import { StatusError } from '../../apis/meta/v1/errors.ts';
import { READ_VERBS } from '../request/request-info.ts';
import { newAccessRecord } from './access-record.ts';
import type { Exchange, Filter } from './exchange.ts';

/**
 * One line for each request when it has ended, whoever answered it. The level says who has to act:
 * `error` is for us (500 and above), `warn` for what heals by itself (503 and 504), `info` for those who look after
 * callers: refusals, and what was changed. Reads that succeeded are `debug`: thousands come each second. So are
 * failures that a handler answered on purpose, such as a health check: it has logged the reason itself. What was
 * wrong with credentials on a path that is open to everybody is not what was answered.
 */
export function accessLog(logger: Logger, monotonic: () => number): Filter {
  return (exchange) => {
    exchange.onEnd(() => {
      const level = levelOf(exchange);
      if (!logger.isLevelEnabled(level)) return;
      logger[level](newAccessRecord(exchange, monotonic()), 'request');
    });
  };
}

function levelOf({ status, info, error }: Exchange): 'debug' | 'info' | 'warn' | 'error' {
  if (status >= 500) {
    if (error === undefined || (error instanceof StatusError && error.code !== status)) return 'debug';
    return status === 503 || status === 504 ? 'warn' : 'error';
  }
  return status < 400 && READ_VERBS.has(info.verb) ? 'debug' : 'info';
}
