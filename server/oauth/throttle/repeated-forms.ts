// Recognizes failed requests that a client sends twice, so that one mistake of a user counts once in the throttles.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { OAuthError } from '../../../apis/oauth/oauth-error.ts';

/** Time after a failure during which its repetition does not count, in ms. */
const REPETITION_MS = 1000;
const MAX_REPEATED = 1000;

interface Attempt {
  readonly variant: string;
  /** The error of the attempt; undefined if a repetition must be evaluated. */
  readonly failure: Promise<OAuthError | undefined>;
}

/**
 * A repetition of a failed form gets the error of the first form, without another evaluation. Only forms with equal credentials are repetitions, so a guess of another
 * password always counts. Forms are stored as digests under a per-process key. Each replica recognizes only its own forms:
 * a client repeats a form on the same connection.
 */
export class RepeatedForms {
  readonly #key = createSecretKey(randomBytes(32));
  /** Pending and failed attempts. */
  readonly #attempts: LRUCache<string, Attempt>;

  constructor(monotonic: () => number) {
    this.#attempts = new LRUCache({ max: MAX_REPEATED, ttlResolution: 0, perf: { now: monotonic } });
  }

  /**
   * `form`: everything that affects the outcome. A repetition has another `variant`: a form that is repeated in the same
   * variant is evaluated again.
   */
  async evaluateOnce<T>(form: unknown, variant: string, evaluate: () => Promise<T>): Promise<T> {
    const digest = createHmac('sha256', this.#key).update(JSON.stringify(form)).digest('base64');
    const earlier = this.#attempts.get(digest);
    const isRepetition = earlier !== undefined && earlier.variant !== variant;
    const failure = isRepetition ? await earlier.failure : undefined;
    if (failure) throw failure;
    const outcome = evaluate();
    const attempt: Attempt = { variant, failure: repeatable(outcome) };
    this.#attempts.set(digest, attempt);
    const failed = await attempt.failure;
    if (this.#attempts.get(digest) === attempt) {
      // lru-cache still returns an entry whose age equals its TTL.
      if (failed) this.#attempts.set(digest, attempt, { ttl: REPETITION_MS - 1 });
      else this.#attempts.delete(digest);
    }
    return outcome;
  }
}

/** After a delay or an outage, and after a disconnection, a repetition can have another outcome. */
async function repeatable(outcome: Promise<unknown>): Promise<OAuthError | undefined> {
  try {
    await outcome;
  } catch (error) {
    if (error instanceof OAuthError && (error.status === 400 || error.status === 401)) return error;
  }
  return undefined;
}
