// Runs filters in their order: as Express middleware, or directly for requests that Express would make much slower.
import type { Middleware } from '../http/endpoint.ts';
import type { Exchange, Filter } from './exchange.ts';

/** Returns the filter as Express middleware. */
export function asMiddleware(filter: Filter): Middleware<Exchange> {
  return (_request, response, next) => {
    const { context } = response.locals;
    const pending = filter(context);
    if (pending === undefined) return next();
    return continued(pending, context, next);
  };
}

async function continued(pending: Promise<void>, exchange: Exchange, next: () => void): Promise<void> {
  await pending;
  if (isOpen(exchange)) next();
}

interface DirectRun {
  readonly filters: readonly Filter[];
  /** Called after the last filter. */
  readonly handle: (exchange: Exchange) => Promise<void> | void;
  readonly fail: (exchange: Exchange, error: unknown) => void;
}

/** Runs the filters, then the handler. Synchronous filters need no promise. Never throws. */
export function runDirectly(exchange: Exchange, run: DirectRun, start = 0): void {
  const { filters, handle, fail } = run;
  const failed = (error: unknown): void => fail(exchange, error);
  try {
    for (let i = start; i < filters.length; i++) {
      const pending = filters[i]?.(exchange);
      if (pending === undefined) continue;
      pending.then(() => {
        if (isOpen(exchange)) runDirectly(exchange, run, i + 1);
      }, failed);
      return;
    }
    handle(exchange)?.catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** While a filter ran, it may have responded, the client may have disconnected, or the deadline may have passed. */
function isOpen({ ended, response }: Exchange): boolean {
  return !ended && !response.writableEnded;
}
