// Filter that ends watches and other streams when the session of the user has ended, or the credential is not valid any more.
import { isUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { UserInfo } from '../authentication/user.ts';
import type { Exchange, Filter } from './exchange.ts';

/** Interval of the checks, in ms: the maximum time between the end of a session and the end of its streams. */
export const INTERVAL_MS = 5_000;
/** The same for credentials, in ms: their checks can need a request to the cluster. */
export const CREDENTIAL_INTERVAL_MS = 30_000;

/** Throws Unauthorized if the stream must end. */
export type StreamCheck = (user: UserInfo, exchange: Exchange) => unknown;

/**
 * Ends watches, live tails and other streams whose session has ended, because a new request would be rejected too. One timer checks
 * all streams. The filter must come directly after authentication, before any filter that replaces the user.
 */
export function sessionTermination(check: StreamCheck, intervalMs = INTERVAL_MS): Filter {
  const streams = new Map<Exchange, UserInfo>();
  let timer: NodeJS.Timeout | undefined;
  const checkAll = (): void => {
    for (const [exchange, user] of streams) checkStream(exchange, user, check);
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

function checkStream(exchange: Exchange, user: UserInfo, check: StreamCheck): void {
  const end = (error: unknown): void => {
    if (!isUnauthorized(error)) return;
    exchange.log.info({ err: error, user: user.name }, 'stream ended with its session or credential');
    exchange.abort(error);
  };
  try {
    const checking = check(user, exchange);
    if (checking instanceof Promise) checking.catch(end);
  } catch (error) {
    end(error);
  }
}
