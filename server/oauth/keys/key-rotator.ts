import type { Logger } from 'pino';
import { isConflict, isNotFound } from '../../../apis/meta/v1/errors.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { KeySecret, type SecretPlace } from './key-secret.ts';
import { newKey } from './new-key.ts';
import { nextChange, type RotationPolicy, rotated } from './rotation.ts';

export interface KeyRotatorOptions extends SecretPlace {
  readonly client: Pick<ClusterClient, 'json'>;
  readonly policy: RotationPolicy;
  /** Tells of every change of the Secret, in which an operator may have asked for something. */
  readonly subscribe: (changed: () => void) => () => void;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** Clocks jump and long timers drift: the plan is checked at least this often. */
const LONGEST_WAIT_MS = 60_000;
const RETRY_MS = 5_000;

/** Changes the keys when it is time, or when an operator asks. Run by the elected replica only. */
export class KeyRotator {
  readonly #options: KeyRotatorOptions;
  readonly #secret: KeySecret;

  constructor(options: KeyRotatorOptions) {
    this.#options = options;
    this.#secret = new KeySecret(options.client, options);
  }

  /** Until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const wakeup = new Wakeup();
    const unsubscribe = this.#options.subscribe(() => wakeup.wake());
    try {
      do {
        const wait = await this.#attempt(signal);
        const timer = setTimeout(() => wakeup.wake(), wait);
        const goesOn = await wakeup.next(signal);
        clearTimeout(timer);
        if (!goesOn) return;
      } while (!signal.aborted);
    } finally {
      unsubscribe();
    }
  }

  /** One look at the keys. Resolves with the ms until the next change that is foreseen. */
  async rotate(signal: AbortSignal): Promise<number> {
    const { policy, log } = this.#options;
    const now = (this.#options.now ?? Date.now)();
    const stored = await this.#secret.read(signal);
    const next = await rotated(stored.set, now, policy, newKey, stored.request);
    if (next !== stored.set || stored.request !== undefined) {
      await this.#secret.replace(stored, next, signal);
      log.info(
        { request: stored.request, keys: next.keys.map(({ kid, state }) => ({ kid, state })) },
        'signing keys changed',
      );
    }
    return Math.max(0, nextChange(next, policy) - now);
  }

  async #attempt(signal: AbortSignal): Promise<number> {
    try {
      return Math.min(await this.rotate(signal), LONGEST_WAIT_MS);
    } catch (err) {
      // Somebody else wrote, or there is no Secret yet: the next change wakes us.
      if (!signal.aborted && !isConflict(err) && !isNotFound(err)) {
        this.#options.log.warn(
          { err, secretName: this.#options.name },
          'the signing keys cannot be changed now',
        );
      }
      return RETRY_MS;
    }
  }
}
