import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';

export interface ReviewCacheOptions<Answer> {
  /** Answers kept at most; the oldest goes first, which is the one that would expire first anyway. */
  readonly size: number;
  /** How long an answer holds, in ms; 0 keeps it not at all. */
  readonly ttlMs: (answer: Answer) => number;
  /** Questions that may wait for the cluster at a time: whoever invents tokens must not flood it. */
  readonly maxPending: number;
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
export class ReviewCache<Answer> {
  readonly #options: ReviewCacheOptions<Answer>;
  readonly #monotonic: () => number;
  /** From the oldest to the newest. */
  readonly #entries = new Map<string, Entry<Answer>>();
  readonly #pending = new Map<string, Promise<Answer>>();

  constructor(options: ReviewCacheOptions<Answer>) {
    this.#options = options;
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The kept answer at once, else a promise of a new one. Throws TooManyRequests beyond `maxPending`. */
  get(
    key: string,
    ask: (signal: AbortSignal) => Promise<Answer>,
    scope: { readonly signal: AbortSignal },
  ): Promise<Answer> | Answer {
    const entry = this.#entries.get(key);
    const hit = entry !== undefined && this.#monotonic() < entry.until;
    this.#options.onLookup?.(hit);
    if (hit) return entry.answer;
    return abandonable(this.#ask(key, ask), scope.signal);
  }

  #ask(key: string, ask: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const underWay = this.#pending.get(key);
    if (underWay) return underWay;
    if (this.#pending.size >= this.#options.maxPending) {
      throw newTooManyRequests('Too many requests, please try again later.', 1);
    }
    const asked = ask(this.#options.signal)
      .then((answer) => this.#keep(key, answer))
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, asked);
    return asked;
  }

  #keep(key: string, answer: Answer): Answer {
    const ttl = this.#options.ttlMs(answer);
    this.#entries.delete(key);
    if (ttl <= 0) return answer;
    if (this.#entries.size >= this.#options.size) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
    this.#entries.set(key, { answer, until: this.#monotonic() + ttl });
    return answer;
  }
}

/** Settles as `promise` does, or rejects when `signal` says that nobody waits any more. */
function abandonable<Answer>(promise: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  if (signal.aborted) {
    // Whoever else waits for it is told; when nobody does, its failure is nobody's.
    promise.catch(() => undefined);
    return Promise.reject(signal.reason as Error);
  }
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
