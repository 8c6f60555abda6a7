import { isUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { UserInfo } from '../authentication/user.ts';
import type { Exchange, Filter } from './exchange.ts';

/**
 * Nothing for a caller who would be let in again. Throws Unauthorized (StatusError) for one whose session has ended;
 * any other error says nothing about it.
 */
export type StillSignedIn = (user: UserInfo, scope: { readonly signal: AbortSignal }) => Promise<void> | void;

/** How long a stream may outlive its session, in ms. */
const INTERVAL_MS = 5_000;

/**
 * Ends watches, live tails and other streams of callers whose session has ended: an answer that goes on must not give
 * what a new request would be refused. One timer for all of them. Comes right behind authentication, since
 * impersonation makes another user of the caller.
 */
export function signOut(stillSignedIn: StillSignedIn, intervalMs = INTERVAL_MS): Filter {
  const streams = new Map<Exchange, UserInfo>();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    for (const [exchange, user] of streams) judge(exchange, user, stillSignedIn);
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

function judge(exchange: Exchange, user: UserInfo, stillSignedIn: StillSignedIn): void {
  const end = (error: unknown): void => {
    if (!isUnauthorized(error)) return;
    exchange.log.info(
      { err: error, user: user.name },
      'a stream was ended, for the session of its caller has',
    );
    exchange.abort(error);
  };
  try {
    stillSignedIn(user, exchange)?.catch(end);
  } catch (error) {
    end(error);
  }
}
