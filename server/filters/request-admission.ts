// Admission filter: gives each request a seat of its pool before it is authorized and handled. A request that waits for its
// client gives the seat back, and takes one again before more work is done for it.
import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';
import type { RequestPools } from '../admission/admission.ts';
import type { Seat, Seats } from '../admission/seats.ts';
import { SYSTEM_MASTERS } from '../authentication/user.ts';
import { isPublicPath } from '../authorization/public-paths.ts';
import { READ_VERBS } from '../request/request-info.ts';
import type { Admitted, Exchange, Filter } from './exchange.ts';
import type { RequestKind, RequestObserver } from './request-metrics.ts';

interface AdmissionDependencies {
  readonly metrics: RequestObserver;
  /** The open requests. */
  readonly open: () => readonly Exchange[];
  /** Monotonic clock in ms. */
  readonly monotonic: () => number;
  /** Sends the error as the response of a request that has reached the handler. */
  readonly fail: (exchange: Exchange, error: unknown) => void;
}

/** Time without progress of the client after which its request has stalled, and time of a preempted stream to end, in ms. */
const STALL_MS = 1_000;
/** Stalled clients are detected at this interval, in ms. One timer for all requests keeps the path of a request cheap. */
const CHECK_MS = 250;

export function admission(
  pools: RequestPools,
  { metrics, open, monotonic, fail }: AdmissionDependencies,
): Filter {
  let timer: NodeJS.Timeout | undefined;

  const leave = ({ admitted }: Exchange): void => admitted?.seat?.[Symbol.dispose]();
  const leaveKind: Record<RequestKind, () => void> = {
    readOnly: () => metrics.inflight('readOnly', -1),
    mutating: () => metrics.inflight('mutating', -1),
  };

  /** Ends a request whose client is too slow, while other callers need its memory. */
  const drop = (exchange: Exchange): void => {
    const error = newTooManyRequests('the client is too slow: too many requests wait for their clients', 1);
    const unread = exchange.response.headersSent;
    fail(exchange, error);
    exchange.abort(error);
    if (unread) exchange.response.destroy();
  };

  const stall = (exchange: Exchange, admitted: Admitted): void => {
    admitted.stalled = true;
    admitted.seat?.[Symbol.dispose]();
    admitted.seat = undefined;
    try {
      const seat = pools.stalled.take(exchange.caller, exchange, () => drop(exchange));
      if (!(seat instanceof Promise)) admitted.seat = seat;
    } catch {
      return drop(exchange);
    }
    const { request } = exchange;
    if (request.complete) return;
    // Before the listener of the handler, who works with the complete body.
    request.prependOnceListener('end', () => {
      if (!exchange.ended && !resume(exchange, admitted)) drop(exchange);
    });
  };

  /** Exchanges the seat for one of a request that does not wait for its client. Returns false if none is free. */
  const resume = (exchange: Exchange, admitted: Admitted): boolean => {
    const seat = poolOf(exchange, pools).takeFree(exchange.caller);
    if (!seat) return false;
    admitted.seat?.[Symbol.dispose]();
    admitted.seat = seat;
    admitted.stalled = false;
    return true;
  };

  const check = (): void => {
    const now = monotonic();
    const exchanges = open();
    for (const exchange of exchanges) {
      const { admitted } = exchange;
      if (!admitted) continue;
      if (now >= admitted.destroyAt) exchange.response.destroy();
      if (exchange.longRunning) continue;
      const stalled = hasStalled(exchange, admitted, now);
      if (stalled && !admitted.stalled) stall(exchange, admitted);
      // Without a free seat, a response that the client reads again stays where it is.
      else if (!stalled && admitted.stalled && !exchange.ended) resume(exchange, admitted);
    }
    if (exchanges.length > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  const admit = (exchange: Exchange, seat: Seat): void => {
    // The client may have disconnected while the request waited.
    if (exchange.ended) return seat[Symbol.dispose]();
    const now = monotonic();
    exchange.admitted = {
      seat,
      sent: 0,
      workedAt: now,
      destroyAt: Number.POSITIVE_INFINITY,
      stalled: false,
    };
    exchange.onEnd(leave);
    timer ??= setInterval(check, CHECK_MS).unref();
    if (exchange.longRunning) return;
    const kind = READ_VERBS.has(exchange.info.verb) ? 'readOnly' : 'mutating';
    metrics.inflight(kind, 1);
    exchange.onEnd(leaveKind[kind]);
  };

  const preempt = (exchange: Exchange, error: Error): void => {
    exchange.abort(error);
    if (exchange.admitted) exchange.admitted.destroyAt = monotonic() + STALL_MS;
  };

  return (exchange) => {
    const pool = poolOf(exchange, pools);
    const seat = exchange.longRunning
      ? pool.take(exchange.caller, exchange, (error) => preempt(exchange, error))
      : pool.take(exchange.caller, exchange);
    if (seat instanceof Promise) return seat.then((given) => admit(exchange, given));
    return admit(exchange, seat);
  };
}

function poolOf({ longRunning, proxied, user, info }: Exchange, pools: RequestPools): Seats {
  if (longRunning) return proxied ? pools.gatewayStreams : pools.streams;
  const isExempt =
    user.groups.includes(SYSTEM_MASTERS) || (!proxied && !info.isResourceRequest && isPublicPath(info.path));
  if (isExempt) return pools.exempt;
  return proxied ? pools.gateway : pools.requests;
}

function hasStalled(exchange: Exchange, admitted: Admitted, now: number): boolean {
  if (!waitsForClient(exchange, admitted)) admitted.workedAt = now;
  return now - admitted.workedAt >= STALL_MS;
}

/**
 * Returns true if the server waits for the rest of the body, or if the client has read nothing of the response since the last check. An
 * incomplete body is no reason if the server works without reading it, nor if it is forwarded: kube-apiserver can work without it.
 */
function waitsForClient({ request, response, proxied }: Exchange, admitted: Admitted): boolean {
  if (!proxied && !request.complete && request.readableFlowing === true) return true;
  const { socket } = response;
  if (response.writableLength === 0 || !socket) return false;
  const before = admitted.sent;
  admitted.sent = socket.bytesWritten - socket.writableLength;
  return admitted.sent === before;
}
