// Errors of the gateway if kube-apiserver sends no response.
import { newServiceUnavailable, StatusError } from '../../apis/meta/v1/errors.ts';
import type { UpstreamTarget } from './upstream.ts';

export interface Forwarding {
  readonly target: UpstreamTarget;
  /** Names and values in turn. */
  readonly headers: string[];
  /** The caller, for fair queuing of TLS handshakes. */
  readonly caller: string;
}

/** Returns the function that creates the StatusError: 503 if the request was not sent, else 502. */
export function upstreamError({
  unreachable,
}: Pick<UpstreamTarget, 'unreachable'>): (cause: Error, isSent: boolean) => StatusError {
  return (cause, isSent) => {
    // The gateway itself has ended the request.
    if (cause instanceof StatusError) return cause;
    if (isSent) return badGateway(CLOSED, cause);
    unreachable();
    return newServiceUnavailable('kube-apiserver is unreachable', 1, { cause });
  };
}

const CLOSED =
  'kube-apiserver closed the connection before it responded; the request may have been processed';

/** A response without `Retry-After`, because client-go would repeat a request that may have been processed. */
export function badGateway(message: string, cause?: unknown): StatusError {
  return new StatusError(502, 'InternalError', message, undefined, { cause });
}
