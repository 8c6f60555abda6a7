// Cache with a TTL for results from kube-apiserver, such as TokenReviews and SubjectAccessReviews.
import type { Seat, Seats } from '../admission/seats.ts';
import type { CallContext } from '../cluster/call-context.ts';
import { orAborted } from '../concurrency/or-aborted.ts';
import { BoundedMap } from './bounded-map.ts';

export interface LookupCacheOptions<Result> {
  /** Maximum number of results; the oldest one is evicted first. */
  readonly size: number;
  /** TTL of a result in ms; 0 disables caching. */
  readonly ttlMs: (result: Result) => number;
  /** The seats of pending lookups, shared fairly by callers. Without it, another limit bounds the lookups. */
  readonly seats?: Seats;
  /** Aborts pending lookups. */
  readonly signal: AbortSignal;
  /** Called for each get(). `hit` is true if the result was cached. */
  readonly onLookup?: (hit: boolean) => void;
  /** Monotonic clock in ms. */
  readonly monotonic?: () => number;
}

interface Entry<Result> {
  readonly result: Result;
  readonly until: number;
}

/**
 * Caches results for seconds. Calls with the same key share a pending lookup. If one of these callers disconnects, the
 * lookup continues for the others. Failures are not cached.
 */
export class LookupCache<Result> {
  readonly #options: LookupCacheOptions<Result>;
  readonly #monotonic: () => number;
  readonly #entries: BoundedMap<string, Entry<Result>>;
  readonly #pending = new Map<string, Promise<Result>>();

  constructor(options: LookupCacheOptions<Result>) {
    this.#options = options;
    this.#entries = new BoundedMap(options.size);
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Returns the cached result, or the promise of a lookup. Without a key, the lookup is not cached or shared. Throws the error of
   * the seats if the lookup gets none.
   */
  get(
    key: string | undefined,
    load: (signal: AbortSignal) => Promise<Result>,
    context: CallContext,
  ): Promise<Result> | Result {
    const entry = key === undefined ? undefined : this.#entries.get(key);
    const hit = entry !== undefined && this.#monotonic() < entry.until;
    this.#options.onLookup?.(hit);
    if (hit) return entry.result;
    return orAborted(this.#lookUp(key, load, context.caller ?? ''), context.signal);
  }

  #lookUp(
    key: string | undefined,
    load: (signal: AbortSignal) => Promise<Result>,
    caller: string,
  ): Promise<Result> {
    const pending = key === undefined ? undefined : this.#pending.get(key);
    if (pending) return pending;
    const { seats, signal } = this.#options;
    // The wait belongs to all callers that share the lookup, so that none of them can abort it.
    const seat = seats?.take(caller, { signal });
    const result =
      seat instanceof Promise ? seat.then((given) => this.#load(load, given)) : this.#load(load, seat);
    if (key === undefined) return result;
    const lookup = result.then((given) => this.#store(key, given)).finally(() => this.#pending.delete(key));
    this.#pending.set(key, lookup);
    return lookup;
  }

  async #load(load: (signal: AbortSignal) => Promise<Result>, seat: Seat | undefined): Promise<Result> {
    using _seat = seat;
    return await load(this.#options.signal);
  }

  #store(key: string, result: Result): Result {
    const ttl = this.#options.ttlMs(result);
    if (ttl > 0) this.#entries.set(key, { result, until: this.#monotonic() + ttl });
    else this.#entries.delete(key);
    return result;
  }
}
