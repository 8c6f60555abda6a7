// Filter that ends watches and other streams when the session of the user has ended.
import { isUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { SessionCheck } from '../authentication/session-check.ts';
import type { UserInfo } from '../authentication/user.ts';
import type { Exchange, Filter } from './exchange.ts';

/** Interval of the checks, in ms: the maximum time between the end of a session and the end of its streams. */
const INTERVAL_MS = 5_000;

/**
 * Ends watches, live tails and other streams whose session has ended, because a new request would be rejected too. One timer checks
 * all streams. The filter must come directly after authentication, before any filter that replaces the user.
 */
export function sessionTermination(checkSession: SessionCheck, intervalMs = INTERVAL_MS): Filter {
  const streams = new Map<Exchange, UserInfo>();
  let timer: NodeJS.Timeout | undefined;
  const checkAll = (): void => {
    for (const [exchange, user] of streams) checkStream(exchange, user, checkSession);
  };
  return (exchange) => {
    if (!exchange.longRunning || !exchange.authenticated) return;
    streams.set(exchange, exchange.user);
    timer ??= setInterval(checkAll, intervalMs);
    exchange.onEnd(() => {
      streams.delete(exchange);
      if (streams.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
  };
}

function checkStream(exchange: Exchange, user: UserInfo, checkSession: SessionCheck): void {
  const end = (error: unknown): void => {
    if (!isUnauthorized(error)) return;
    exchange.log.info({ err: error, user: user.name }, 'stream ended with its session');
    exchange.abort(error);
  };
  try {
    checkSession(user, exchange)?.catch(end);
  } catch (error) {
    end(error);
  }
}
