// The open requests of the server. It creates the Exchange of each request, and ends it with the response.
import type { Logger } from 'pino';
import type { SourceAddress } from '../request/source-address.ts';
import { type Arrival, Exchange } from './exchange.ts';

interface OpenRequestsOptions {
  readonly logger: Logger;
  readonly sourceOf: SourceAddress;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Monotonic clock in ms. */
  readonly monotonic: () => number;
}

const ignore = (): void => undefined;

/** A shared instance, because every request ends with this error, and a new instance would capture a stack trace. */
const CLIENT_GONE = new DOMException('the client disconnected', 'AbortError');

export class OpenRequests {
  readonly #options: OpenRequestsOptions;
  /**
   * Unordered. An array, because a small Set allocates at each deletion. This would take 1 to 2 µs of the 35 µs of a get request.
   * `place` is the index of an exchange.
   */
  readonly #open: Exchange[] = [];

  constructor(options: OpenRequestsOptions) {
    this.#options = options;
  }

  /** The number of requests without a complete response, including streams. */
  get size(): number {
    return this.#open.length;
  }

  /** Returns a copy, because the caller may end requests while it iterates. */
  all(): readonly Exchange[] {
    return [...this.#open];
  }

  enter(arrival: Arrival): Exchange {
    const { now, monotonic } = this.#options;
    const exchange = new Exchange(arrival, this.#options, now(), monotonic());
    exchange.place = this.#open.push(exchange) - 1;
    arrival.response.on('close', () => this.#end(exchange));
    // A handler may write after the 504 of the deadline. This error must not end the process.
    arrival.response.on('error', ignore);
    return exchange;
  }

  /** Returns the number of aborted requests. */
  abort(selects: (exchange: Exchange) => boolean, reason: unknown): number {
    const selected = this.#open.filter(selects);
    for (const exchange of selected) exchange.abort(reason);
    return selected.length;
  }

  #end(exchange: Exchange): void {
    this.#remove(exchange);
    // 499: the client disconnected before the response.
    if (!exchange.response.headersSent && exchange.statusOverride === 0) exchange.statusOverride = 499;
    exchange.abort(exchange.error ?? CLIENT_GONE);
    exchange.end();
  }

  #remove(exchange: Exchange): void {
    if (this.#open[exchange.place] !== exchange) return;
    const last = this.#open.pop();
    if (last === undefined || last === exchange) return;
    this.#open[exchange.place] = last;
    last.place = exchange.place;
  }
}
