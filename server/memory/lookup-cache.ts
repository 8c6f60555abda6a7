// Cache with a TTL for results from kube-apiserver, such as TokenReviews and SubjectAccessReviews.
import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';
import type { CallContext } from '../cluster/call-context.ts';
import { InFlight } from '../concurrency/in-flight.ts';
import { orAborted } from '../concurrency/or-aborted.ts';
import { BoundedMap } from './bounded-map.ts';

export interface LookupCacheOptions<Result> {
  /** Maximum number of results; the oldest one is evicted first. */
  readonly size: number;
  /** TTL of a result in ms; 0 disables caching. */
  readonly ttlMs: (result: Result) => number;
  /** Maximum number of pending lookups, so that requests with random tokens cannot flood the cluster. */
  readonly maxPending: number;
  /** Maximum number of pending lookups per caller; unlimited by default. */
  readonly maxPendingOfOne?: number;
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
  /** Pending lookups per caller. */
  readonly #inFlight = new InFlight();

  constructor(options: LookupCacheOptions<Result>) {
    this.#options = options;
    this.#entries = new BoundedMap(options.size);
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Returns the cached result, or the promise of a lookup. Without a key, the lookup is not cached or shared. `caller`
   * identifies the caller for `maxPendingOfOne`. Throws TooManyRequests if there are too many pending lookups.
   */
  get(
    key: string | undefined,
    load: (signal: AbortSignal) => Promise<Result>,
    context: CallContext,
    caller = '',
  ): Promise<Result> | Result {
    const entry = key === undefined ? undefined : this.#entries.get(key);
    const hit = entry !== undefined && this.#monotonic() < entry.until;
    this.#options.onLookup?.(hit);
    if (hit) return entry.result;
    return orAborted(this.#lookUp(key, load, caller), context.signal);
  }

  #lookUp(
    key: string | undefined,
    load: (signal: AbortSignal) => Promise<Result>,
    caller: string,
  ): Promise<Result> {
    const pending = key === undefined ? undefined : this.#pending.get(key);
    if (pending) return pending;
    this.#checkLimits(caller);
    const result = load(this.#options.signal);
    this.#inFlight.begin(caller);
    if (key === undefined) return result.finally(() => this.#inFlight.end(caller));
    const lookup = result
      .then((given) => this.#store(key, given))
      .finally(() => {
        this.#pending.delete(key);
        this.#inFlight.end(caller);
      });
    this.#pending.set(key, lookup);
    return lookup;
  }

  #checkLimits(caller: string): void {
    const { maxPending, maxPendingOfOne = maxPending } = this.#options;
    if (this.#inFlight.all < maxPending && this.#inFlight.of(caller) < maxPendingOfOne) return;
    throw newTooManyRequests('Too many requests, please try again later.', 1);
  }

  #store(key: string, result: Result): Result {
    const ttl = this.#options.ttlMs(result);
    if (ttl > 0) this.#entries.set(key, { result, until: this.#monotonic() + ttl });
    else this.#entries.delete(key);
    return result;
  }
}
