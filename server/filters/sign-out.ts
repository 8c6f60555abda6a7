import { isUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { UserInfo } from '../authentication/user.ts';
import type { CallContext } from '../cluster/call-context.ts';
import type { Exchange, Filter } from './exchange.ts';

/**
 * Returns for a caller who would still be let in. Throws Unauthorized (StatusError) for one whose session has ended;
 * any other error means that it cannot be told now.
 */
export type SessionCheck = (user: UserInfo, context: CallContext) => Promise<void> | void;

/** How long a stream may outlive its session, in ms. */
const INTERVAL_MS = 5_000;

/**
 * Ends watches, live tails and other streams of callers whose session has ended: a running answer must not deliver what a
 * new request would be refused. One timer serves all of them. Runs right after authentication, because impersonation
 * replaces the user.
 */
export function signOut(checkSession: SessionCheck, intervalMs = INTERVAL_MS): Filter {
  const streams = new Map<Exchange, UserInfo>();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    for (const [exchange, user] of streams) judge(exchange, user, checkSession);
  };
  return (exchange) => {
    if (!exchange.longRunning || !exchange.authenticated) return;
    streams.set(exchange, exchange.user);
    timer ??= setInterval(look, intervalMs);
    exchange.onEnd(() => {
      streams.delete(exchange);
      if (streams.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
  };
}

function judge(exchange: Exchange, user: UserInfo, checkSession: SessionCheck): void {
  const end = (error: unknown): void => {
    if (!isUnauthorized(error)) return;
    exchange.log.info(
      { err: error, user: user.name },
      'a stream was ended, for the session of its caller has',
    );
    exchange.abort(error);
  };
  try {
    checkSession(user, exchange)?.catch(end);
  } catch (error) {
    end(error);
  }
}
