// Cache with a TTL for results from kube-apiserver, such as TokenReviews and SubjectAccessReviews.
import type { Seat, Seats } from '../admission/seats.ts';
import type { CallContext } from '../cluster/call-context.ts';
import { orAborted } from '../concurrency/or-aborted.ts';
import { SharedMap } from './shared-map.ts';

interface LookupCacheOptions<Result> {
  /** Maximum number of results. The oldest one of the caller with the most is evicted first. */
  readonly size: number;
  /** TTL of a result in ms; 0 disables caching. */
  readonly ttlMs: (result: Result) => number;
  /** The seats of pending lookups, shared fairly by callers. Without it, another limit bounds the lookups. */
  readonly seats?: Seats;
  /** Returns the caller whose share a result takes; by default the caller of the lookup. */
  readonly ownerOf?: (result: Result) => string;
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
 * Caches results for seconds. Calls of one caller with the same key share a pending lookup. If one of these calls is aborted, the
 * lookup continues for the others. Callers share no pending lookup, because it may wait for a seat that its caller does not get.
 * Failures are not cached.
 */
export class LookupCache<Result> {
  readonly #options: LookupCacheOptions<Result>;
  readonly #monotonic: () => number;
  readonly #entries: SharedMap<Entry<Result>>;
  readonly #pending = new Map<string, Promise<Result>>();

  constructor(options: LookupCacheOptions<Result>) {
    this.#options = options;
    this.#entries = new SharedMap(options.size);
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Returns the cached result, or the promise of a lookup. Without a key, the lookup is not cached or shared. Throws the error of
   * the seats if the lookup gets none. `caller`: whose seat and share of the cache the lookup takes.
   */
  get(
    key: string | undefined,
    load: (signal: AbortSignal) => Promise<Result>,
    context: CallContext,
    caller = context.caller ?? '',
  ): Promise<Result> | Result {
    const cached = this.#cached(key);
    this.#options.onLookup?.(cached !== undefined);
    if (cached) return cached.result;
    return orAborted(this.#lookUp(key, load, caller), context.signal);
  }

  /** Returns the last result of a key, also after its TTL. */
  last(key: string): Result | undefined {
    return this.#entries.get(key)?.result;
  }

  #cached(key: string | undefined): Entry<Result> | undefined {
    const entry = key === undefined ? undefined : this.#entries.get(key);
    return entry && this.#monotonic() < entry.until ? entry : undefined;
  }

  #lookUp(
    key: string | undefined,
    load: (signal: AbortSignal) => Promise<Result>,
    caller: string,
  ): Promise<Result> {
    // The length makes the text unambiguous.
    const shared = key === undefined ? undefined : `${caller.length} ${caller} ${key}`;
    const pending = shared === undefined ? undefined : this.#pending.get(shared);
    if (pending) return pending;
    const { seats, signal } = this.#options;
    // The wait belongs to all calls that share the lookup, so that none of them can abort it.
    const seat = seats?.take(caller, { signal });
    const run = (given?: Seat): Promise<Result> => this.#load(key, load, caller, given);
    const lookup = seat instanceof Promise ? seat.then(run) : run(seat);
    if (shared === undefined) return lookup;
    const shareable = lookup.finally(() => this.#pending.delete(shared));
    this.#pending.set(shared, shareable);
    return shareable;
  }

  async #load(
    key: string | undefined,
    load: (signal: AbortSignal) => Promise<Result>,
    caller: string,
    seat: Seat | undefined,
  ): Promise<Result> {
    using _seat = seat;
    // Another caller may have looked it up meanwhile.
    const cached = this.#cached(key);
    if (cached) return cached.result;
    const result = await load(this.#options.signal);
    if (key !== undefined) this.#store(key, result, caller);
    return result;
  }

  #store(key: string, result: Result, caller: string): void {
    const { ttlMs, ownerOf } = this.#options;
    const ttl = ttlMs(result);
    if (ttl <= 0) this.#entries.delete(key);
    else this.#entries.set(key, { result, until: this.#monotonic() + ttl }, ownerOf?.(result) ?? caller);
  }
}
