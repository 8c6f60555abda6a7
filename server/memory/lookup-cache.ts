import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';
import type { CallContext } from '../cluster/call-context.ts';
import { InFlight } from '../concurrency/in-flight.ts';
import { orAborted } from '../concurrency/or-aborted.ts';
import { BoundedMap } from './bounded-map.ts';

export interface LookupCacheOptions<Answer> {
  /** Answers kept at most; the oldest goes first, which is the one that would expire first anyway. */
  readonly size: number;
  /** How long an answer holds, in ms; 0 keeps it not at all. */
  readonly ttlMs: (answer: Answer) => number;
  /** Questions that may wait for the cluster at a time: whoever invents tokens must not flood it. */
  readonly maxPending: number;
  /** How many of them one caller may have, so that something is left for the others; all when none is given. */
  readonly maxPendingOfOne?: number;
  /** Ends questions that are under way. */
  readonly signal: AbortSignal;
  /** Hears of each lookup, whether the answer was kept. */
  readonly onLookup?: (hit: boolean) => void;
  /** Milliseconds that never go back. */
  readonly monotonic?: () => number;
}

interface Entry<Answer> {
  readonly answer: Answer;
  readonly until: number;
}

/**
 * Answers of the cluster, kept for seconds. A question that is under way is not asked twice, and belongs to nobody:
 * a caller who leaves does not end it for the others. Failures are not kept.
 */
export class LookupCache<Answer> {
  readonly #options: LookupCacheOptions<Answer>;
  readonly #monotonic: () => number;
  readonly #entries: BoundedMap<string, Entry<Answer>>;
  readonly #pending = new Map<string, Promise<Answer>>();
  /** Questions that are under way. */
  readonly #asked = new InFlight();

  constructor(options: LookupCacheOptions<Answer>) {
    this.#options = options;
    this.#entries = new BoundedMap(options.size);
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * The kept answer at once, else a promise of a new one. Without a key nothing is kept or shared. `caller` is who
   * `maxPendingOfOne` counts for. Throws TooManyRequests beyond either bound.
   */
  get(
    key: string | undefined,
    ask: (signal: AbortSignal) => Promise<Answer>,
    context: CallContext,
    caller = '',
  ): Promise<Answer> | Answer {
    const entry = key === undefined ? undefined : this.#entries.get(key);
    const hit = entry !== undefined && this.#monotonic() < entry.until;
    this.#options.onLookup?.(hit);
    if (hit) return entry.answer;
    return orAborted(this.#ask(key, ask, caller), context.signal);
  }

  #ask(
    key: string | undefined,
    ask: (signal: AbortSignal) => Promise<Answer>,
    caller: string,
  ): Promise<Answer> {
    const underWay = key === undefined ? undefined : this.#pending.get(key);
    if (underWay) return underWay;
    this.#checkRoom(caller);
    const answer = ask(this.#options.signal);
    this.#asked.begin(caller);
    if (key === undefined) return answer.finally(() => this.#asked.end(caller));
    const asked = answer
      .then((given) => this.#keep(key, given))
      .finally(() => {
        this.#pending.delete(key);
        this.#asked.end(caller);
      });
    this.#pending.set(key, asked);
    return asked;
  }

  #checkRoom(caller: string): void {
    const { maxPending, maxPendingOfOne = maxPending } = this.#options;
    if (this.#asked.all < maxPending && this.#asked.of(caller) < maxPendingOfOne) return;
    throw newTooManyRequests('Too many requests, please try again later.', 1);
  }

  #keep(key: string, answer: Answer): Answer {
    const ttl = this.#options.ttlMs(answer);
    if (ttl > 0) this.#entries.set(key, { answer, until: this.#monotonic() + ttl });
    else this.#entries.delete(key);
    return answer;
  }
}
