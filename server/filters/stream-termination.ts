// Filter that ends watches, live tails and other streams whose session has ended, or whose token or certificate is no longer valid.
import { isUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { Authenticators } from '../authentication/authenticators.ts';
import type { Exchange, Filter } from './exchange.ts';

/** Interval of the checks, in ms: the maximum time between the end of a session and the end of its streams. */
export const SESSION_INTERVAL_MS = 5_000;
/** The credential of a stream is checked once in so many checks of its session, because it can need a request to the cluster. */
const SESSION_CHECKS = 6;
/** Interval of the checks of a credential, in ms. */
export const CREDENTIAL_INTERVAL_MS = SESSION_CHECKS * SESSION_INTERVAL_MS;

/** Each check throws Unauthorized if the stream must end. Any other error means that the state is unknown. */
export type StreamChecks = Pick<Authenticators, 'checkSession' | 'checkCredential'>;

/** A new request of the same caller would be rejected too. One timer checks all streams. */
export function streamTermination(
  { checkSession, checkCredential }: StreamChecks,
  intervalMs = SESSION_INTERVAL_MS,
): Filter {
  /** The number of checks of each stream. */
  const streams = new Map<Exchange, number>();
  let timer: NodeJS.Timeout | undefined;
  const checkAll = (): void => {
    for (const [exchange, before] of streams) {
      const checks = before + 1;
      streams.set(exchange, checks);
      endIfRejected(exchange, () => checkSession?.(exchange.user, exchange));
      // kube-apiserver does not check the credentials of the streams that the gateway forwards either.
      const isCredentialDue = checks % SESSION_CHECKS === 0 && !exchange.proxied;
      if (isCredentialDue) endIfRejected(exchange, () => checkCredential(exchange));
    }
  };
  return (exchange) => {
    if (!exchange.longRunning || !exchange.authenticated) return;
    streams.set(exchange, 0);
    timer ??= setInterval(checkAll, intervalMs);
    exchange.onEnd(() => {
      streams.delete(exchange);
      if (streams.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
  };
}

function endIfRejected(exchange: Exchange, check: () => unknown): void {
  const end = (error: unknown): void => {
    if (!isUnauthorized(error)) return;
    exchange.log.info(
      { err: error, user: exchange.user.name },
      'stream ended with its session or credential',
    );
    exchange.abort(error);
  };
  try {
    const checking = check();
    if (checking instanceof Promise) checking.catch(end);
  } catch (error) {
    end(error);
  }
}
